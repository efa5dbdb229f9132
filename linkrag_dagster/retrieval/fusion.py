"""Fusion of rankings: by rank (HY-01), or by standardised score (HY-02)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Id = TypeVar("Id", bound=Hashable)


def reciprocal_rank_fusion(lists: Iterable[Sequence[Id]], k: int = 60) -> list[tuple[Id, float]]:
    """Fuse rankings by ranks alone: an id's score is the sum of 1 / (k + rank), ranks from 1.

    An id that stands in a list twice counts twice, as in the seed. Sums are rounded once, so that a tie is a
    tie in whatever order its ranks are added. Source: Cormack, Clarke & Büttcher (2009); `seeds/000`, `rrf`.

    Args:
        lists: rankings, best first; each by score, then id.
        k: how little the first ranks stand out, 0 or more.

    Returns:
        Ids and scores by falling score; ties in the order of first appearance, lists in the order given.

    Raises:
        ValueError: k is negative.
    """
    if k < 0:
        raise ValueError(f"k is {k}: give 0 or more (60 is usual)")
    shares: dict[Id, list[float]] = {}
    for ranking in lists:
        for rank, item in enumerate(ranking, start=1):
            shares.setdefault(item, []).append(1.0 / (k + rank))
    fused = [(item, math.fsum(parts)) for item, parts in shares.items()]
    return sorted(fused, key=lambda pair: -pair[1])


def standardised_sum(scores: Sequence[npt.ArrayLike]) -> npt.NDArray[np.float64]:
    """Fuse scores over the whole corpus: the equal-weight sum of their z-scores (population deviation).

    A list that tells no chunk from another, all of its scores being equal, adds nothing.

    Args:
        scores: at least one list, each with the score of every chunk in one order: shape (chunks,).

    Returns:
        Shape (chunks,).

    Raises:
        ValueError: no list, lists of different lengths, or a score that is not finite.
    """
    lists = [np.asarray(values, dtype=np.float64) for values in scores]
    if not lists or any(values.shape != lists[0].shape or values.ndim != 1 for values in lists):
        raise ValueError(
            f"score lists of shapes {[v.shape for v in lists]}: give each the scores of all chunks"
        )
    total = np.zeros_like(lists[0])
    for values in lists:
        if not np.isfinite(values).all():
            raise ValueError(
                "a score is not finite: give a chunk that a retriever did not find its true score"
            )
        # Equality, not a zero deviation: rounding leaves a constant list a deviation of 1e-17.
        if values.size and values.min() != values.max():
            total += (values - values.mean()) / values.std()
    return total
