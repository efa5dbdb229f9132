"""The paired randomisation test (SX-01)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.statistics import paired_randomisation, sign_test

values = st.lists(st.integers(-20, 20).map(lambda i: i / 20), min_size=1, max_size=9)


def _by_enumeration(sums: list[float]) -> float:
    observed = abs(math.fsum(sums))
    rows = list(itertools.product((1, -1), repeat=len(sums)))
    extreme = sum(
        abs(math.fsum(s * v for s, v in zip(row, sums, strict=True))) >= observed - 1e-9 for row in rows
    )
    return extreme / len(rows)


@given(values, st.data())
def test_against_every_assignment_of_signs(differences: list[float], data: st.DataObject) -> None:
    """The share of all assignments; a cluster's signs flip together."""
    zeros = [0.0] * len(differences)
    assert paired_randomisation(differences, zeros) == pytest.approx(_by_enumeration(differences), abs=1e-12)
    labels = data.draw(
        st.lists(st.integers(0, 3), min_size=len(differences), max_size=len(differences)), label="clusters"
    )
    sums = [
        math.fsum(v for v, own in zip(differences, labels, strict=True) if own == label)
        for label in set(labels)
    ]
    assert paired_randomisation(differences, zeros, labels) == pytest.approx(_by_enumeration(sums), abs=1e-12)


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 200))
def test_hits_and_misses_are_the_sign_test(wins: int, losses: int, ties: int) -> None:
    """Where every difference is 1, 0 or −1 the test is the sign test, exact at any size."""
    new, old = [1] * wins + [0] * losses + [1] * ties, [0] * wins + [1] * losses + [1] * ties
    want = sign_test(wins, losses) if new else None
    assert paired_randomisation(new, old) == (None if want is None else pytest.approx(want, abs=1e-12))


def test_drawn_assignments() -> None:
    """Too many for all: seeded, the same in any order, near to the normal limit, never 0."""
    rng = np.random.default_rng(7)
    new, old = rng.normal(0.2, 1, 60).tolist(), [0.0] * 60
    p = paired_randomisation(new, old)
    assert p is not None
    assert p == paired_randomisation(new[::-1], old)
    z = abs(sum(new)) / math.sqrt(sum(v * v for v in new))
    assert p == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.01)
    other = paired_randomisation(new, old, seed=1)
    assert p == pytest.approx(other, abs=0.005) and p != other
    assert paired_randomisation([v + 50 for v in new], old, resamples=999) == 1 / 1000


@given(values)
def test_scale_and_sides(differences: list[float]) -> None:
    """Units do not matter, nor who is called first."""
    zeros = [0.0] * len(differences)
    p = paired_randomisation(differences, zeros)
    assert p == pytest.approx(paired_randomisation(zeros, differences), abs=1e-12)
    assert p == pytest.approx(paired_randomisation([v * 1e-200 for v in differences], zeros), abs=1e-12)
    assert p == pytest.approx(paired_randomisation([v * 1e300 for v in differences], zeros), abs=1e-12)


def test_edges() -> None:
    """Nothing compared has no p-value; all ties, or one question, are no evidence."""
    assert paired_randomisation([], []) is None
    assert paired_randomisation([None], [None]) is None
    assert paired_randomisation([0.3, 0.4], [0.3, 0.4]) == 1.0
    assert paired_randomisation([1.0], [0.0]) == 1.0
    with pytest.raises(ValueError, match="resamples is 0"):
        paired_randomisation([1.0], [0.0], resamples=0)
    with pytest.raises(ValueError, match="seed is -1"):
        paired_randomisation([1.0], [0.0], seed=-1)
    with pytest.raises(ValueError, match="question 0 has nan"):
        paired_randomisation([math.nan], [0.0])
