"""Chunk boundaries against references, with the baselines beside them (ME-04)."""

from __future__ import annotations

from linkrag_dagster.evaluation.boundaries import mean_scores, score_boundaries
from linkrag_dagster.evaluation.gold import ReferenceSegmentation

UNITS = tuple((at, at + 9) for at in range(0, 120, 10))
REFERENCE = ReferenceSegmentation("d", UNITS, (4, 8))
TOKENS = {"d": [(at, at + 4) for at in range(0, 120, 5)]}


def means(cuts: list[int]) -> dict[str, dict[str, float | None]]:
    return mean_scores(score_boundaries([REFERENCE], {"d": cuts}, TOKENS))


def test_the_reference_itself_is_perfect() -> None:
    """ME-04: same cuts, no error; white space beside a cut changes nothing."""
    for cuts in ([40, 80], [39, 79]):
        found = means(cuts)["chunks"]
        assert (found["pk"], found["window_diff"]) == (0.0, 0.0)
        assert (found["boundary_similarity"], found["b_precision"], found["b_recall"]) == (1.0, 1.0, 1.0)
        assert (found["reference_boundaries"], found["hypothesis_boundaries"]) == (2.0, 2.0)


def test_no_cut_is_the_baseline_without_boundaries() -> None:
    """ME-04: degenerate baselines stand beside every score, and are what they say."""
    found = means([])
    assert found["chunks"] == found["none"]
    assert found["none"]["b_recall"] == 0.0 and found["none"]["b_precision"] is None
    assert found["every_gap"]["b_recall"] == 1.0
    assert found["every_gap"]["hypothesis_boundaries"] == 11.0
    assert found["uniform"] == means([40, 80])["chunks"]
    assert set(found) == {"chunks", "none", "every_gap", "uniform", "random"}


def test_a_cut_inside_a_unit_goes_to_its_nearer_edge() -> None:
    """ME-04: fixed-length cuts are mapped to the same axes."""
    assert means([42, 78])["chunks"]["b_recall"] == 1.0
