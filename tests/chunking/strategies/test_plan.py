"""A comparison strategy in two steps, as a stage takes it: texts to score, then chunks."""

from __future__ import annotations

import numpy as np
import pytest

from linkrag_dagster.choices.strategies import COMPARISON_STRATEGIES
from linkrag_dagster.chunking import chunk_text, plan_final, resolve_settings
from linkrag_dagster.markdown import parse
from tests.chunking.strategies.support import CL100K, by_topic

TEXT = "# Pets\n\nCats purr. Cats sleep. Cats eat. Dogs bark. Dogs dig. Dogs bite.\n"


@pytest.mark.parametrize("name", COMPARISON_STRATEGIES)
def test_the_plan_gives_what_one_call_gives(name: str) -> None:
    """ST-01 to ST-10, SD-17: the same final chunks and trace; only `percentile` asks for vectors."""
    settings = resolve_settings({"strategy": name, "tokenizer": "cl100k_base"})
    plan = plan_final([], TEXT, settings, CL100K, parse(TEXT))
    assert bool(plan.texts) == (name == "percentile")
    scorer = by_topic("Cats", "Dogs")
    vectors = {text: np.asarray(vector) for text, vector in zip(plan.texts, scorer(plan.texts), strict=True)}
    made = chunk_text(TEXT, settings=settings, scorer=scorer if name == "percentile" else None)
    assert plan.chunks(vectors) == (list(made.final), list(made.trace))
