"""The interval of a rate (SX-01)."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.statistics import wilson


@given(st.integers(1, 10**6), st.data(), st.floats(0.001, 0.999))
def test_the_ends_are_where_the_score_test_just_rejects(n: int, data: st.DataObject, alpha: float) -> None:
    """Wilson's definition: at either end p, |k/n − p| is z standard errors of a rate p."""
    k = data.draw(st.integers(0, n))
    interval = wilson(k, n, alpha)
    assert interval is not None
    low, high = interval
    assert 0 <= low <= k / n <= high <= 1
    z = NormalDist().inv_cdf(1 - alpha / 2)
    for end in (low, high):
        assert (k / n - end) ** 2 == pytest.approx(z * z * end * (1 - end) / n, rel=1e-6, abs=1e-12)


@given(st.integers(1, 500), st.data())
def test_failures_mirror_successes(n: int, data: st.DataObject) -> None:
    """The interval of the failures is 1 minus that of the successes."""
    k = data.draw(st.integers(0, n))
    here, there = wilson(k, n), wilson(n - k, n)
    assert here is not None and there is not None
    assert here == pytest.approx((1 - there[1], 1 - there[0]))


def test_ends_and_no_trials() -> None:
    """None and all touch 0 and 1 exactly; a rate of nothing has no interval."""
    none, all_of_them = wilson(0, 7), wilson(7, 7)
    assert none is not None and all_of_them is not None
    assert none[0] == 0.0 and all_of_them[1] == 1.0
    assert wilson(0, 0) is None
    assert wilson(np.int64(3), np.int64(8)) == wilson(3, 8)


@pytest.mark.parametrize(
    ("k", "n", "alpha", "words"),
    [
        (3, 2, 0.05, "k is 3 of n = 2"),
        (-1, 2, 0.05, "k is -1"),
        (0, -2, 0.05, "n is -2"),
        (1.5, 2, 0.05, r"k is 1\.5"),
        (math.nan, 2, 0.05, "k is nan"),
        (None, 2, 0.05, "k is None"),
        (1, 2, 0.0, r"alpha is 0\.0"),
        (1, 2, 1.0, r"alpha is 1\.0"),
        (1, 2, math.nan, "alpha is nan"),
    ],
)
def test_refusals(k: int, n: int, alpha: float, words: str) -> None:
    """What is no count or no level is refused by name."""
    with pytest.raises(ValueError, match=words):
        wilson(k, n, alpha)
