"""Gold from votes, and agreement of annotators (ME-04)."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.annotation import (
    Vote,
    agreement,
    gold_from_votes,
    segmentation_from_votes,
)
from linkrag_dagster.evaluation.boundary_baselines import at_random
from linkrag_dagster.evaluation.segmentation import boundary_gaps

VOTES: st.SearchStrategy[Vote] = st.sampled_from(("split", "keep", "either"))


def test_strict_and_lenient_gold() -> None:
    """ME-04: two `split` make a strict boundary, two `split` or `either` a lenient one."""
    gold = gold_from_votes(
        {
            "a": ["split", "split", "either", "keep", "split"],
            "b": ["split", "either", "either", "keep", "keep"],
            "c": ["keep", "keep", "keep", "split", "keep"],
        }
    )
    assert boundary_gaps(gold.strict) == [0]
    assert boundary_gaps(gold.lenient) == [0, 1, 2]
    assert sum(gold.strict) == sum(gold.lenient) == 6


@given(st.integers(0, 12).flatmap(lambda n: st.lists(st.lists(VOTES, min_size=n, max_size=n), min_size=3)))
def test_lenient_holds_strict(rows: list[list[Vote]]) -> None:
    """ME-04: who accepts `either` too finds every strict boundary again."""
    gold = gold_from_votes({f"annotator{i}": row for i, row in enumerate(rows)})
    assert set(boundary_gaps(gold.strict)) <= set(boundary_gaps(gold.lenient))


def test_bad_votes_are_refused() -> None:
    """ME-04: at least three annotators, a known vote for every gap."""
    row: list[Vote] = ["split", "keep"]
    with pytest.raises(ValueError, match=r"2 annotators \(a, b\)"):
        gold_from_votes({"a": row, "b": row})
    with pytest.raises(ValueError, match="different length"):
        gold_from_votes({"a": row, "b": row, "c": ["split"]})
    maybe: Any = ["maybe", "keep"]
    with pytest.raises(ValueError, match="annotator 'c', gap 0: vote 'maybe'"):
        gold_from_votes({"a": row, "b": row, "c": maybe})


def test_agreement_by_hand() -> None:
    """ME-04: two annotators, a match and an addition in the first document, a near miss in the second."""
    documents = {
        "one": {"a": [2, 2, 2], "b": [2, 4]},
        "two": {"a": [2, 2, 1], "b": [2, 1, 2]},
    }
    got = agreement(documents)
    assert got.pairs == 2
    assert got.mean_similarity == pytest.approx((0.5 + 0.75) / 2)
    assert got.observed == pytest.approx((1 + 1.5) / (2 + 2))
    assert got.expected == pytest.approx(((2 / 5 + 1 / 5 + 2 / 4 + 2 / 4) / 4) ** 2)
    assert got.observed is not None
    assert got.corrected == pytest.approx((got.observed - got.expected) / (1 - got.expected))


def test_agreement_at_the_edges() -> None:
    """ME-04: equal annotators agree wholly; without boundaries, or with every one, chance leaves no denominator."""
    assert agreement({"d": {"a": [3, 3], "b": [3, 3]}}).corrected == 1.0
    bare = agreement({"d": {"a": [6], "b": [6]}})
    assert (bare.mean_similarity, bare.observed, bare.expected, bare.corrected) == (1.0, None, 0.0, None)
    assert agreement({"d": {"a": [1, 1], "b": [1, 1]}}).corrected is None
    assert agreement({"d": {"a": [1], "b": [1]}}).observed is None


def test_bad_agreement_input_is_refused() -> None:
    """ME-04: the same two or more annotators in every document."""
    with pytest.raises(ValueError, match="no documents"):
        agreement({})
    with pytest.raises(ValueError, match="two or more"):
        agreement({"d": {"a": [1, 1]}})
    with pytest.raises(ValueError, match="document 'e' has annotators"):
        agreement({"d": {"a": [1, 1], "b": [2]}, "e": {"a": [1, 1], "c": [2]}})


def test_segmentation_of_one_annotator() -> None:
    """ME-04: `either` is no boundary of one's own."""
    assert segmentation_from_votes(["split", "either", "keep", "split"]) == (1, 3, 1)
    assert segmentation_from_votes([]) == (1,)


@pytest.mark.parametrize("seed", range(5))
def test_segeval_agrees(seed: int) -> None:
    """ME-04: Fleiss' multi-pi over boundary edits, on random annotators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        segeval: Any = pytest.importorskip("segeval")
    documents = {
        f"d{i}": {
            name: at_random(20 + i, 3 + (seed + i) % 4, seed + 10 * i + j) for j, name in enumerate("abcd")
        }
        for i in range(3)
    }
    got = agreement(documents)
    assert got.observed == pytest.approx(float(segeval.actual_agreement_linear(documents)))
    assert got.corrected == pytest.approx(float(segeval.fleiss_pi_linear(documents)))
