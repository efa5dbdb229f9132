"""The strategies by name, and what holds for all of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.choices.strategies import COMPARISON_STRATEGIES, REFUSED_STRATEGIES
from linkrag_dagster.chunking.strategies import comparison_strategy
from tests.chunking.strategies.support import by_topic, chunks

SCORER = by_topic("a", "b", "字")


def test_names_of_the_rules(shared: Path) -> None:
    """ST-01 to ST-10: every name of the rules' table is there, or refused by name."""
    rules = (shared / "spec" / "chunking.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| ST-\d\d \| `(\w+)`", rules, re.MULTILINE))
    assert len(named) == 9
    assert named <= {*COMPARISON_STRATEGIES, *REFUSED_STRATEGIES}
    assert {f"ablation_{letter}" for letter in "abcdef"} <= set(COMPARISON_STRATEGIES)


@pytest.mark.parametrize("name", COMPARISON_STRATEGIES)
def test_every_name_has_its_function(name: str) -> None:
    """ST-01 to ST-10: what the settings name is there."""
    assert callable(comparison_strategy(name))


def test_refusals() -> None:
    """ST-05: what cannot be had says why and what would do; an unknown name says what there is."""
    with pytest.raises(ValueError, match="language model"):
        comparison_strategy("propositions")
    with pytest.raises(ValueError, match="strategy 'magic' is not available; there are fixed, recursive"):
        comparison_strategy("magic")


@pytest.mark.parametrize("name", COMPARISON_STRATEGIES)
def test_cases(shared: Path, name: str) -> None:
    """EX-01, EX-06, EX-07: every reported kind of defect keeps the contract under every strategy."""
    lines = (shared / "cases" / "markdown.jsonl").read_text(encoding="utf-8").splitlines()
    for case in map(json.loads, lines):
        _, made, _ = chunks(name, case["input"], scorer=SCORER)
        if not case["input"].strip():
            assert made == []


@pytest.mark.parametrize("name", COMPARISON_STRATEGIES)
@settings(max_examples=25, deadline=None)
@given(st.text(alphabet="ab# \n.。字,|-`>\r👩‍👧", max_size=120))
def test_any_text(name: str, text: str) -> None:
    """EX-06, EX-07: chunks of any text keep the contract, are the same again, and say why each ends."""
    final, made, trace = chunks(name, text, scorer=SCORER)
    assert (final, made, trace) == chunks(name, text, scorer=SCORER)
    assert all(c.cut_reason for c in made)
    assert all(chunk.content == text[chunk.start_char : chunk.end_char] for chunk in made if chunk.verbatim)
    if made:
        assert made[-1].cut_reason == "end" or name in {"fixed", "ablation_a", "ablation_b"}
