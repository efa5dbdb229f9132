"""Degenerate segmentations (ME-04)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.boundary_baselines import at_random, degenerate_baselines, uniform


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.integers(0, 9))
def test_baselines_share_the_axis(masses: list[int], seed: int) -> None:
    """ME-04: all four on the reference's units; two of them with its number of segments."""
    found = degenerate_baselines(masses, seed)
    assert list(found) == ["none", "every_gap", "uniform", "random"]
    assert {sum(segmentation) for segmentation in found.values()} == {sum(masses)}
    assert [len(segmentation) for segmentation in found.values()] == [
        1,
        sum(masses),
        len(masses),
        len(masses),
    ]
    assert max(found["uniform"]) - min(found["uniform"]) <= 1
    assert found == degenerate_baselines(masses, seed)


def test_random_draws_differ_by_seed() -> None:
    """ME-04: seeded, and not the same for each seed."""
    assert len({at_random(50, 10, seed) for seed in range(10)}) > 1


@pytest.mark.parametrize(("units", "segments"), [(3, 4), (3, 0), (0, 0)])
def test_impossible_segments_are_refused(units: int, segments: int) -> None:
    """ME-04: no more segments than units."""
    with pytest.raises(ValueError, match="segments of"):
        uniform(units, segments)
    with pytest.raises(ValueError, match="segments of"):
        at_random(units, segments, 0)
