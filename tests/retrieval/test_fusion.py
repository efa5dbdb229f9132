"""Fusion by rank and by standardised score (HY-01, HY-02)."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from linkrag_dagster.retrieval.fusion import reciprocal_rank_fusion, standardised_sum


def test_oracle(shared: Path) -> None:
    """HY-01: scores and rankings of the reference library."""
    lines = (shared / "oracles" / "rrf.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 16
    for case in map(json.loads, lines):
        got = reciprocal_rank_fusion(case["lists"], case["k"])
        assert [item for item, _ in got] == case["ranking"], case["id"]
        assert {str(item): score for item, score in got} == pytest.approx(case["scores"], rel=1e-12), case[
            "id"
        ]


def test_seed_oracle(shared: Path) -> None:
    """HY-01: the seed's rankings, repeated ids included."""
    lines = (shared / "oracles" / "seed_rrf.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 4
    for case in map(json.loads, lines):
        assert [item for item, _ in reciprocal_rank_fusion(case["lists"], case["k"])] == case["ranking"], case


@pytest.mark.parametrize("ranks", list(itertools.permutations((1, 2, 3))))
def test_a_tie_is_a_tie_in_any_order_of_ranks(ranks: tuple[int, ...]) -> None:
    """HY-01: 1/61 + 1/62 + 1/63 is one sum in whatever order it is added; first appearance decides."""
    lists = [[f"fill{i}-{j}" for j in range(rank - 1)] + ["x"] for i, rank in enumerate(ranks)]
    base = [[f"base{i}-{j}" for j in range(rank - 1)] + ["x"] for i, rank in enumerate((1, 2, 3))]
    assert dict(reciprocal_rank_fusion(lists))["x"] == dict(reciprocal_rank_fusion(base))["x"]


def test_edges() -> None:
    """No lists, empty lists, a negative k."""
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []
    assert reciprocal_rank_fusion([["a"]], k=0) == [("a", 1.0)]
    with pytest.raises(ValueError, match="k is -1"):
        reciprocal_rank_fusion([["a"]], k=-1)


def test_standardised_sum() -> None:
    """HY-02: the sum of z-scores over the whole corpus, by numpy's definition."""
    first, second = np.array([1.0, 2.0, 3.0, 6.0]), np.array([0.0, 0.0, 10.0, 0.0])
    want = (first - 3.0) / np.sqrt(3.5) + (second - 2.5) / np.sqrt(18.75)
    np.testing.assert_allclose(standardised_sum([first, second]), want)
    # Scale and shift of a list are nothing to it.
    np.testing.assert_allclose(standardised_sum([100 * first - 7, second]), want)


def test_standardised_sum_at_the_edges() -> None:
    """HY-02: a list without differences adds nothing; wrong lists are refused."""
    first = [1.0, 2.0, 3.0]
    np.testing.assert_allclose(standardised_sum([first, [0.1, 0.1, 0.1]]), standardised_sum([first]))
    assert standardised_sum([[], []]).shape == (0,)
    with pytest.raises(ValueError, match="shapes"):
        standardised_sum([first, [1.0]])
    with pytest.raises(ValueError, match="shapes"):
        standardised_sum([])
    with pytest.raises(ValueError, match="not finite"):
        standardised_sum([first, [1.0, float("nan"), 0.0]])
