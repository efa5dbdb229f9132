"""Pairing by question, clustering, wins and losses (SX-01, GO-04)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from linkrag_dagster.evaluation.statistics import WinsAndLosses, pair_up, wins_and_losses


def test_undefined_values() -> None:
    """GO-04: undefined under both stays out; under one only is refused."""
    pairs = pair_up([1.0, None, 0.5], [0.5, None, 0.5])
    assert (pairs.clusters, pairs.pairs, pairs.undefined) == (((0.0,), (0.5,)), 2, 1)
    with pytest.raises(ValueError, match="question 1 has a value under one system only"):
        pair_up([1.0, None], [1.0, 0.0])


def test_clusters_that_lose_all_their_pairs() -> None:
    """A needle without any defined pair is no unit."""
    pairs = pair_up([1.0, None, 0.0], [0.0, None, 0.0], ["n1", "n2", "n1"])
    assert pairs.clusters == ((0.0, 1.0),)


def test_rounding_is_no_win() -> None:
    """Sums in another order are equal: 0.1 + 0.2 against 0.3."""
    assert wins_and_losses([0.1 + 0.2], [0.3]) == WinsAndLosses(0, 0, 1)
    assert wins_and_losses([0.7, 0.1], [0.4, 0.4], ["n", "n"]) == WinsAndLosses(0, 0, 1)


def test_wins_by_question_and_by_needle() -> None:
    """SX-01: two phrasings of one needle count once."""
    new, old = [1, 1, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]
    needles = ["n1", "n1", "n2", "n2", "n3", "n3"]
    assert wins_and_losses(new, old) == WinsAndLosses(3, 1, 2)
    assert wins_and_losses(new, old, needles) == WinsAndLosses(1, 0, 2)
    assert wins_and_losses([], []) == WinsAndLosses(0, 0, 0)


@pytest.mark.parametrize(
    ("a", "b", "cluster", "words"),
    [
        ([1.0], [], None, "1 values against 0"),
        ([1.0], [1.0], [], "0 cluster labels for 1 questions"),
        ([1.0], [1.0], [None], "question 0 has no cluster label"),
        ([1.0], [1.0], [""], "question 0 has no cluster label"),
        ([math.nan], [1.0], None, "question 0 has nan"),
        ([1.0], [math.inf], None, "question 0 has 1.0 against inf"),
        (["x"], [1.0], None, "question 0 has 'x'"),
    ],
)
def test_refusals(a: Any, b: Any, cluster: Any, words: str) -> None:
    """What cannot be paired is refused with its question."""
    with pytest.raises(ValueError, match=words):
        pair_up(a, b, cluster)
