"""How chunks are ranked for a query: by vector, by BM25, and both fused (DE-02, BM-01, HY-01, HY-02).

Search and evaluation rank with these very functions: what is measured is what answers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from linkrag_dagster.lexical.bm25 import score_chunks
from linkrag_dagster.retrieval.fusion import reciprocal_rank_fusion, standardised_sum

Ranking = list[tuple[str, float]]
"""Chunk ids with their scores, best first."""

FUSION_DEPTH = 100
"""How many of each list are fused (HY-01: the lists' depth is explicit)."""
ROWS_AT_ONCE = 65_536


def cosine_distances(
    chunk_ids: Sequence[str],
    matrix: npt.NDArray[np.float32],
    query: npt.NDArray[np.float32],
    visible: Collection[str],
) -> dict[str, float]:
    """Cosine distance of every visible chunk to a query: exact, by blocks of a matrix product (DE-02).

    Of a chunk with several vectors, one a window of its text, the nearest counts (EX-05).

    Args:
        chunk_ids: of the rows.
        matrix: unit vectors, shape (chunks, dimensions).
        query: unit vector, shape (dimensions,).
        visible: chunks that may be found.
    """
    found: dict[str, float] = {}
    for start in range(0, len(chunk_ids), ROWS_AT_ONCE):
        dots = matrix[start : start + ROWS_AT_ONCE] @ query
        for chunk, dot in zip(chunk_ids[start : start + ROWS_AT_ONCE], dots.tolist(), strict=True):
            if chunk in visible:
                found[chunk] = min(found.get(chunk, math.inf), 1.0 - dot)
    return found


def dense_ranking(distances: Mapping[str, float]) -> Ranking:
    """By rising distance, scored 1 - distance; ties by chunk id."""
    return _order((chunk, 1.0 - distance) for chunk, distance in distances.items())


def lexical_ranking(
    tokens: Sequence[str],
    postings: pl.DataFrame,
    lengths: pl.DataFrame,
    *,
    k1: float,
    b: float,
    visible: Collection[str],
) -> Ranking:
    """By falling BM25 score, in the order of the scorer: its ties are those of the SQL that analysts score with.

    Args:
        tokens: the query's terms.
        postings: `(term, chunk_id, tf)`, at least of these terms.
        lengths: `(chunk_id, length)` of all chunks.
        k1, b: BM25's constants.
        visible: chunks that may be found; statistics are over all.
    """
    scores = score_chunks(tokens, postings, lengths, k1=k1, b=b)
    return [row for row in scores.select("chunk_id", "score").iter_rows() if row[0] in visible]


def hybrid_ranking(dense: Ranking, lexical: Ranking, depth: int = FUSION_DEPTH) -> Ranking:
    """Both rankings fused by rank alone, each to the same depth (HY-01)."""
    return reciprocal_rank_fusion([[chunk for chunk, _ in ranking[:depth]] for ranking in (dense, lexical)])


def standardised_ranking(distances: Mapping[str, float], lexical: Ranking) -> Ranking:
    """By the equal-weight sum of both scores, each as z-score over all chunks that may be found (HY-02).

    What BM25 did not find has its true score, 0; what may not be found shapes neither mean nor deviation.

    Args:
        distances: cosine distance of every visible chunk.
        lexical: visible chunks that hold a term of the query, with their scores.
    """
    chunks, found = sorted(distances), dict(lexical)
    scores = [[1.0 - distances[c] for c in chunks], [found.get(c, 0.0) for c in chunks]]
    return _order(zip(chunks, standardised_sum(scores).tolist(), strict=True))


def _order(scores: Iterable[tuple[str, float]]) -> Ranking:
    return sorted(scores, key=lambda item: (-item[1], item[0]))


@dataclass(frozen=True, slots=True)
class WholeIndex:
    """An index in memory, for many queries against the same chunks.

    Attributes:
        chunk_ids: of the matrix's rows.
        matrix: unit vectors, shape (chunks, dimensions), float32.
        postings: `(term, chunk_id, tf)`.
        lengths: `(chunk_id, length)` of all chunks.
        k1, b: BM25's constants.
        visible: chunks that may be found.
    """

    chunk_ids: Sequence[str]
    matrix: npt.NDArray[np.float32]
    postings: pl.DataFrame
    lengths: pl.DataFrame
    k1: float
    b: float
    visible: frozenset[str]

    def rankings(
        self, tokens: Sequence[str], vector: npt.NDArray[np.float32]
    ) -> tuple[dict[str, Ranking], dict[str, float]]:
        """Rankings by run (`dense`, `bm25`, `rrf`, `zscore`), and the cosine distance of every visible chunk.

        Args:
            tokens: the query's terms.
            vector: its unit vector.
        """
        distances = cosine_distances(self.chunk_ids, self.matrix, vector, self.visible)
        dense = dense_ranking(distances)
        terms = self.postings.filter(pl.col("term").is_in(sorted(set(tokens))))
        lexical = lexical_ranking(tokens, terms, self.lengths, k1=self.k1, b=self.b, visible=self.visible)
        found = {
            "dense": dense,
            "bm25": lexical,
            "rrf": hybrid_ranking(dense, lexical),
            "zscore": standardised_ranking(distances, lexical),
        }
        return found, distances
