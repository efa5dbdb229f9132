"""Families of comparisons, declared beforehand (SX-01)."""

from __future__ import annotations

import math

import pytest

from linkrag_dagster.evaluation.statistics import Family, benjamini_hochberg, holm

FAMILY = Family("boundaries", ("b against a", "c against a", "d against a"))


def test_correction_over_exactly_the_family() -> None:
    """Holm, and Benjamini and Hochberg, in the declared order, whatever the order of the results."""
    results = FAMILY.correct({"d against a": 0.04, "b against a": 0.01, "c against a": 0.03})
    assert [r.comparison for r in results] == list(FAMILY.comparisons)
    assert [r.p for r in results] == [0.01, 0.03, 0.04]
    assert [r.holm for r in results] == holm([0.01, 0.03, 0.04])
    assert [r.benjamini_hochberg for r in results] == benjamini_hochberg([0.01, 0.03, 0.04])
    assert [r.significant for r in results] == [True, False, False]


def test_missing_and_undeclared() -> None:
    """What was declared must be there, and nothing else."""
    with pytest.raises(ValueError, match="'boundaries' lacks c against a, d against a"):
        FAMILY.correct({"b against a": 0.01})
    with pytest.raises(ValueError, match="does not declare e against a"):
        FAMILY.correct(dict.fromkeys((*FAMILY.comparisons, "e against a"), 0.5))


def test_an_undefined_test_still_counts() -> None:
    """A comparison without data stays undefined and makes the family no smaller."""
    first, second, third = FAMILY.correct({"b against a": 0.02, "c against a": None, "d against a": 0.5})
    assert first.holm == pytest.approx(0.06) and not first.significant
    assert (second.p, second.holm, second.benjamini_hochberg, second.significant) == (None, None, None, False)
    assert third.holm == 1.0


def test_edges() -> None:
    """An empty family, a family of one, and declarations that cannot be."""
    assert Family("none", ()).correct({}) == ()
    (only,) = Family("one", ("x",), alpha=0.01).correct({"x": 0.02})
    assert (only.holm, only.benjamini_hochberg, only.significant) == (0.02, 0.02, False)
    with pytest.raises(ValueError, match="declares x more than once"):
        Family("twice", ("x", "y", "x"))
    with pytest.raises(ValueError, match="without a name"):
        Family("nameless", ("",))
    with pytest.raises(ValueError, match="alpha is 1"):
        Family("level", ("x",), alpha=1)
    with pytest.raises(ValueError, match="the p-value of 'x' is nan"):
        Family("nan", ("x",)).correct({"x": math.nan})
