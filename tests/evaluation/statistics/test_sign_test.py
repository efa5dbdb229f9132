"""The two-sided exact sign test (SX-01)."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.statistics import sign_test


@given(st.integers(0, 6), st.integers(0, 6))
def test_against_every_row_of_coins(wins: int, losses: int) -> None:
    """The share of all rows of coins that split at least as unevenly."""
    rows = list(itertools.product((1, -1), repeat=wins + losses))
    extreme = sum(abs(sum(row)) >= abs(wins - losses) for row in rows)
    assert sign_test(wins, losses) == pytest.approx(extreme / len(rows), abs=1e-15)


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_symmetry_and_range(wins: int, losses: int) -> None:
    """Who is called first does not matter; one more win for the winner never raises p."""
    p = sign_test(wins, losses)
    assert p == sign_test(losses, wins)
    assert 0 <= p <= 1
    if wins >= losses:
        assert sign_test(wins + 1, losses) <= p


def test_edges() -> None:
    """No difference at all is no evidence; far tails leave a float's range without a failure."""
    assert sign_test(0, 0) == 1.0
    assert sign_test(5, 5) == 1.0
    assert sign_test(64, 0) == 2.0**-63
    assert sign_test(5000, 0) == 0.0


@pytest.mark.parametrize("value", [-1, 1.5, math.nan, None])
def test_refusals(value: int) -> None:
    """What is no count is refused by name."""
    with pytest.raises(ValueError, match="wins is"):
        sign_test(value, 1)
    with pytest.raises(ValueError, match="losses is"):
        sign_test(1, value)
