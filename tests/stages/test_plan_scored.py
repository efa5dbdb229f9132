"""The plan counts what a strategy that compares texts gives to its model, and windows of long chunks (VE-05, SD-17)."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkrag_dagster.stages.plan import RoadPlan, plan_road
from linkrag_dagster.stages.road import STAGES

from .conftest import Project

SPEECH = "\n\n".join(
    f"{'Ann' if k % 2 else 'Bob'}: the {k} cat ran . a red dog sat on one . Yes!" for k in range(9)
)
BLOCKS = "# Cats\n\nthe cat sat. the dog ran, and a cat. Seven?\n\n- a\n- b\n\n" + "blue " * 60 + "\n"


@pytest.fixture
def corpus(project: Project, small_models: dict[str, Path]) -> Project:
    project.use(small_models["old"])
    project.write("speech.md", SPEECH + "\n")
    project.write("blocks.md", BLOCKS)
    return project


def planned(project: Project) -> RoadPlan:
    return plan_road(project.road(), STAGES)


@pytest.mark.parametrize("strategy", ["semantic_depth_window", "percentile", "auto"])
@pytest.mark.parametrize("tokenise", [True, False])
def test_compared_texts_are_counted(corpus: Project, strategy: str, tokenise: bool) -> None:
    """VE-05, SD-17: before a build at most as much is planned as it then gives to the model, all stages together."""
    without = planned(corpus)
    corpus.set("chunking.strategy", strategy)
    plan = plan_road(corpus.road(), STAGES, tokenise=tokenise)
    assert plan.texts_to_embed > without.texts_to_embed
    built = corpus.build()
    compared = built.stages["final_chunks"]
    assert compared.texts > 0
    assert built.embedded_texts <= plan.texts_to_embed
    assert built.embedded_tokens <= plan.tokens_to_embed
    # With nothing to compare again, nothing is planned.
    assert planned(corpus).texts_to_embed == 0


def test_what_is_not_cut_is_not_compared(corpus: Project) -> None:
    """SD-01: documents within the maximum cost nothing."""
    for key in ("max_tokens", "hard_max_tokens"):
        corpus.set(f"chunking.{key}", 4000)
    corpus.set("chunking.overflow", "split")
    without = planned(corpus)
    corpus.set("chunking.strategy", "semantic_depth_window")
    assert planned(corpus).texts_to_embed == without.texts_to_embed


@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_windows_are_counted(corpus: Project, overflow: str) -> None:
    """EX-05, VE-05: each window of a chunk that the model can't read at once is a text."""
    for key in ("max_tokens", "hard_max_tokens"):
        corpus.set(f"chunking.{key}", 200)
    corpus.set("chunking.overflow", overflow)
    plan = planned(corpus)
    built = corpus.build()
    assert 0 < built.embedded_texts <= plan.texts_to_embed
    assert built.embedded_tokens <= plan.tokens_to_embed
