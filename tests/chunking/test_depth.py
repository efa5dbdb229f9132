"""Depth of valleys (SD-05, SD-06)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.chunking import Smoothing, depth_scores

SCORES = st.lists(st.one_of(st.none(), st.floats(-1, 1)), max_size=60)


def _climbed(scores: list[float], position: int) -> float:
    """The definition, step by step."""
    total = 0.0
    for step in (-1, 1):
        at = position
        while 0 <= at + step < len(scores) and scores[at + step] > scores[at]:
            at += step
        total += scores[at] - scores[position]
    return total


def test_equal_to_the_oracle(shared: Path) -> None:
    """SD-05: every curve of the oracle, climbing while strictly rising."""
    lines = (shared / "oracles" / "texttiling_depth.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 15
    for case in map(json.loads, lines):
        made = depth_scores(case["scores"])
        assert made == pytest.approx(case["depth_climb_while_gt"], abs=1e-9), case["id"]


def test_the_seeds_example() -> None:
    """SD-06."""
    made = depth_scores([0.82, 0.76, 0.31, 0.71, 0.79])
    assert made == pytest.approx([0, 0.06, 0.99, 0.08, 0])


@given(SCORES)
def test_gaps_without_a_score_are_passed_over(cohesion: list[float | None]) -> None:
    """SD-04, SD-05: they have no depth, and the others have that of the curve without them."""
    made = depth_scores(cohesion)
    scored = [score for score in cohesion if score is not None]
    assert [d is None for d in made] == [c is None for c in cohesion]
    found = [d for d in made if d is not None]
    assert found == pytest.approx([_climbed(scored, i) for i in range(len(scored))])
    assert all(depth >= 0 for depth in found)


@given(SCORES, st.sets(st.integers(0, 60)))
def test_no_climb_passes_a_break(cohesion: list[float | None], breaks: set[int]) -> None:
    """SD-05: `max_gap_distance` makes each stretch a curve of its own."""
    parts: list[list[float | None]] = [[]]
    for gap, score in enumerate(cohesion):
        parts[-1].append(score)
        if gap in breaks:
            parts.append([])
    assert depth_scores(cohesion, breaks=breaks) == [d for part in parts for d in depth_scores(part)]


def test_smoothing_is_hearsts_mean() -> None:
    """SD-05: a score becomes the mean of itself and s/2 neighbours a side, n times; there are fewer at the ends."""
    mean = Smoothing(2, 1)
    assert Smoothing.of("mean(2, 1)") == mean
    assert mean.of_run([0.0, 3.0, 0.0, 3.0]) == pytest.approx([1.5, 1.0, 2.0, 1.5])
    twice = Smoothing(2, 2).of_run([0.0, 3.0, 0.0, 3.0])
    assert twice == pytest.approx(mean.of_run(mean.of_run([0.0, 3.0, 0.0, 3.0])))
    curve: list[float | None] = [0.9, 0.5, 0.55, 0.1, 0.9]
    assert depth_scores(curve)[1] == pytest.approx(0.45)
    smoothed = depth_scores(curve, smoothing=mean)
    assert smoothed[1] == pytest.approx(0.05)
    assert Smoothing.of("none") is None


@pytest.mark.parametrize(
    "words", ["mean", "mean(3, 1)", "mean(0, 1)", "mean(2, 0)", "median(2, 1)", "mean(2,1) "]
)
def test_wrong_smoothing_is_refused(words: str) -> None:
    """SD-05: the message says what would do."""
    with pytest.raises(ValueError, match=r"such as mean\(2, 1\)"):
        Smoothing.of(words)
