"""The strategies by their names, through `chunk_text`."""

from __future__ import annotations

from typing import Any

import pytest

from linkrag_dagster.choices.strategies import COMPARISON_STRATEGIES
from linkrag_dagster.chunking import SettingsError, chunk_text, resolve_settings
from tests.chunking.strategies.support import by_topic

TEXT = "# Title\n\n## Cats\n\nCats purr. Cats sleep.\n\n## Dogs\n\nDogs bark. Dogs dig.\n"
SETTINGS: dict[str, dict[str, Any]] = {
    "fixed": {"size": 12, "overlap": 4, "unit": "tokens"},
    "recursive": {"size": 20, "unit": "chars"},
    "header": {"target": 20, "compat": True},
    "ablation_f": {"target": 30, "overlap": 8},
    "percentile": {"percentile": 50},
}


@pytest.mark.parametrize("tokenizer", ["cl100k_base", "encoder"])
@pytest.mark.parametrize("name", COMPARISON_STRATEGIES)
def test_every_name(name: str, tokenizer: str) -> None:
    """ST-01 to ST-10, EX-06: chunks with their place, and no stage one."""
    made = chunk_text(
        TEXT, strategy=name, settings=SETTINGS.get(name), tokenizer=tokenizer, scorer=by_topic("Cats", "Dogs")
    )
    assert made.chunks
    assert not made.coarse
    assert len(made.final) == len(made.chunks)
    assert all(c.strategy.split(":")[0] == name for c in made.chunks)
    assert all(c.truncated_tokens == 0 for c in made.chunks)
    assert {c.role for c in made.chunks} == {"source"}


def test_sizes_reach_the_strategy() -> None:
    """ST-01: `size`, `overlap`, `unit` as interfaces name them."""
    made = chunk_text(
        "plume plume a plume",
        strategy="fixed",
        settings={"size": 5, "overlap": 0, "unit": "chars", "header": False},
        tokenizer="cl100k_base",
    )
    assert [c.content for c in made.chunks] == ["plume", " plum", "e a p", "lume"]
    assert [c.text for c in made.chunks] == [c.content for c in made.chunks]


def test_the_budget_is_the_size_where_none_is_given() -> None:
    """ST-02, TK-05: pieces of at most `max_tokens`, so that strategies are compared under one budget."""
    text = "Some words stand here. " * 60
    made = chunk_text(text, strategy="recursive", tokenizer="cl100k_base", settings={"max_tokens": 40})
    assert len(made.chunks) > 5
    assert all(c.tokens <= 40 for c in made.chunks)


@pytest.mark.parametrize(
    ("settings", "field"),
    [({"size": 50, "overlap": 50}, "overlap"), ({"unit": "words"}, "unit"), ({"size": 0}, "size"),
     ({"compat": "yes"}, "compat"), ({"percentile": 101}, "percentile"), ({"strategy": "propositions"}, "strategy")],
)  # fmt: skip
def test_wrong_settings_are_refused_by_name(settings: dict[str, Any], field: str) -> None:
    """ST-01, ST-05: before any work, with the setting's name."""
    with pytest.raises(SettingsError) as caught:
        resolve_settings(settings)
    assert caught.value.field == field


def test_complete_settings_are_taken_as_they_are() -> None:
    """ST-01: resolved settings give the same chunks again."""
    settings = resolve_settings({"strategy": "fixed", "size": 9, "tokenizer": "cl100k_base"})
    names = {"strategy": "fixed", "size": 9}
    assert (
        chunk_text(TEXT, settings=settings).chunks
        == chunk_text(TEXT, settings=names, tokenizer="cl100k_base").chunks
    )


def test_a_missing_scorer_is_an_error() -> None:
    """ST-04, SD-15: `percentile` never cuts by other means; `auto` takes what there is."""
    with pytest.raises(SettingsError, match="percentile compares texts"):
        chunk_text(TEXT, strategy="percentile", tokenizer="cl100k_base")
    assert chunk_text(TEXT, strategy="auto", tokenizer="cl100k_base").chunks
