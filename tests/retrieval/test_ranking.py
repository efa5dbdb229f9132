"""Rankings: exact, in a fixed order, whatever the order of the chunks (DE-02, HY-01)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.lexical.analyzers import load_analyzer
from linkrag_dagster.lexical.bm25 import postings
from linkrag_dagster.retrieval import ranking
from linkrag_dagster.retrieval.ranking import (
    WholeIndex,
    cosine_distances,
    dense_ranking,
    hybrid_ranking,
    standardised_ranking,
)


def unit(rows: int, seed: int) -> np.ndarray:
    """Unit vectors, shape (rows, 8), float32."""
    made = np.random.default_rng(seed).normal(size=(rows, 8)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_change_no_distance(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """DE-02: the blocked product gives every visible chunk its distance, and no other chunk one."""
    monkeypatch.setattr(ranking, "ROWS_AT_ONCE", block)
    matrix, query = unit(50, 1), unit(1, 2)[0]
    ids = [f"c{row:02}" for row in range(50)]
    visible = set(ids[::2])
    found = cosine_distances(ids, matrix, query, visible)
    assert found.keys() == visible
    for chunk, distance in found.items():
        row = matrix[ids.index(chunk)].astype(np.float64)
        assert distance == pytest.approx(1 - float(row @ query.astype(np.float64)), abs=1e-6)
        assert distance == pytest.approx(float(((row - query) ** 2).sum()) / 2, abs=1e-6)


def test_ties_stand_in_order_of_id() -> None:
    """HY-01: each list is ordered by score, then chunk id."""
    assert [chunk for chunk, _ in dense_ranking({"b": 0.5, "a": 0.5, "c": 0.1})] == ["c", "a", "b"]


def test_the_depth_of_the_lists_is_explicit() -> None:
    """HY-01: what stands below the depth in a list adds nothing."""
    dense = [(f"d{n}", 1.0 - n / 10) for n in range(5)]
    lexical = [("d4", 3.0), ("x", 2.0)]
    assert {chunk for chunk, _ in hybrid_ranking(dense, lexical, depth=2)} == {"d0", "d1", "d4", "x"}
    whole = dict(hybrid_ranking(dense, lexical))
    assert whole["d4"] == pytest.approx(1 / 65 + 1 / 61)


def test_the_nearest_of_several_vectors_counts() -> None:
    """EX-05: a chunk that comes several times is as near as the nearest of its vectors, across blocks too."""
    matrix, query = unit(6, 3), unit(1, 4)[0]
    each = cosine_distances([f"c{n}" for n in range(6)], matrix, query, {f"c{n}" for n in range(6)})
    found = cosine_distances(["a", "b", "a", "c", "b", "a"], matrix, query, {"a", "b"})
    assert found == {
        "a": min(each["c0"], each["c2"], each["c5"]),
        "b": min(each["c1"], each["c4"]),
    }


def test_standardised_scores_by_hand() -> None:
    """HY-02: z-scores over all visible chunks; what BM25 did not find scores 0 there; ties by id."""
    distances = {"c": 0.5, "a": 0.5, "b": 0.2, "d": 0.8}
    made = standardised_ranking(distances, [("d", 4.0)])
    dense, lexical = np.array([0.5, 0.8, 0.5, 0.2]), np.array([0.0, 0.0, 0.0, 4.0])
    z = (dense - dense.mean()) / dense.std() + (lexical - lexical.mean()) / lexical.std()
    by_hand = sorted(zip("abcd", z.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    assert [chunk for chunk, _ in made] == [chunk for chunk, _ in by_hand] == ["b", "d", "a", "c"]
    assert [score for _, score in made] == pytest.approx([score for _, score in by_hand])


def test_a_query_without_known_words_is_ranked_by_vectors() -> None:
    """HY-02: a list that tells no chunk from another adds nothing; nothing to rank is no error."""
    distances = {"a": 0.4, "b": 0.1}
    assert [chunk for chunk, _ in standardised_ranking(distances, [])] == ["b", "a"]
    assert standardised_ranking({}, []) == []


TEXTS = [
    "the blue crane",
    "a red pennant",
    "the north quay",
    "crane and quay",
    "herring",
    "the crane the crane",
]


@settings(deadline=None, max_examples=30)
@given(st.permutations(range(len(TEXTS))))
def test_the_order_of_chunks_changes_no_ranking(order: list[int]) -> None:
    """SX-02: an index is a set of chunks."""
    analyzer = load_analyzer("reference")
    vectors, query = unit(len(TEXTS), 3), unit(1, 4)[0]
    found: list[dict[str, list[tuple[str, float]]]] = []
    for rows in (list(range(len(TEXTS))), order):
        ids = [f"c{row}" for row in rows]
        terms, lengths = postings(ids, [TEXTS[row] for row in rows], analyzer)
        index = WholeIndex(ids, vectors[rows], terms, lengths, 1.2, 0.75, frozenset(ids))
        rankings, distances = index.rankings(analyzer.tokens("crane quay"), query)
        assert set(distances) == set(ids)
        found.append(rankings)
    for run in found[0]:
        assert [chunk for chunk, _ in found[0][run]] == [chunk for chunk, _ in found[1][run]]
