"""Holm, and Benjamini and Hochberg (SX-01)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.statistics import benjamini_hochberg, holm, sign_test

p_values = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), max_size=8)
BOTH = (holm, benjamini_hochberg)


@given(p_values)
def test_holm_by_its_definition(p: list[float]) -> None:
    """The largest of (number of p at least as large as it) · p, over all p up to one's own."""
    want = [
        min(1.0, max(other * sum(third >= other for third in p) for other in p if other <= own)) for own in p
    ]
    assert holm(p) == pytest.approx(want)


@given(p_values)
def test_benjamini_hochberg_by_its_definition(p: list[float]) -> None:
    """The smallest of m · p / (number of p at most as large as it), over all p from one's own."""
    want = [
        min(1.0, min(other * len(p) / sum(third <= other for third in p) for other in p if other >= own))
        for own in p
    ]
    assert benjamini_hochberg(p) == pytest.approx(want)


@given(p_values, st.randoms(use_true_random=False))
def test_order_and_bounds(p: list[float], random_order: random.Random) -> None:
    """Results stand in the given order; a correction never helps; Holm is the stricter."""
    order = list(range(len(p)))
    random_order.shuffle(order)
    for correct in BOTH:
        assert correct([p[i] for i in order]) == [correct(p)[i] for i in order]
    for own, low, high in zip(p, benjamini_hochberg(p), holm(p), strict=True):
        assert own <= low * (1 + 1e-12) and low <= high * (1 + 1e-12) and high <= 1


def test_a_claim_of_the_seed_fails_its_correction() -> None:
    """SX-01: of the six comparisons that seed 000 quotes, E against C (12 wins, 2 losses) fails Holm."""
    won_and_lost = {
        "E-A": (18, 3),
        "E-C": (12, 2),
        "B-A R@8": (8, 6),
        "B-A R@20": (9, 7),
        "bm25": (10, 3),
        "dense": (10, 6),
    }
    p = [sign_test(*counts) for counts in won_and_lost.values()]
    corrected = dict(zip(won_and_lost, holm(p), strict=True))
    assert p[1] == pytest.approx(0.0129, abs=5e-5)
    assert corrected["E-C"] == pytest.approx(0.0647, abs=5e-5)
    assert [name for name, value in corrected.items() if value <= 0.05] == ["E-A"]


@pytest.mark.parametrize("correct", BOTH)
def test_edges(correct: Callable[[list[Any]], list[float]]) -> None:
    """An empty family is empty; what is no p-value is refused by its place."""
    assert correct([]) == []
    assert correct([0.2]) == [0.2]
    for bad in (math.nan, -0.1, 1.1, math.inf, None):
        with pytest.raises(ValueError, match="p-value 2 is"):
            correct([0.5, bad])
