"""Cohesion: how alike the words on both sides of a gap are (SD-04, SD-05). Linear in atoms times dimensions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

DECIMALS = 9
"""Scores are rounded so: below that lies rounding noise, which would make valleys of plateaus."""

_AT_ONCE = 2048
"""Gaps whose sums are in memory at once."""

Vector = NDArray[np.float64]


def cohesion_scores(
    vectors: Sequence[Vector | None], tokens: Sequence[int], *, window: int = 128, weighting: str = "equal"
) -> list[float | None]:
    """Cosine of the window means on both sides of each gap between two atoms.

    A window extends from the gap, atom by atom, until it holds at least `window` tokens and at least one vector. A
    side without any vector gives the gap no score.

    Args:
        vectors: of each atom, shape (dimensions,); None for an atom that is not scored.
        tokens: display tokens of each atom, scored or not.
        window: tokens of a window.
        weighting: `equal`: each vector counts the same (the seed); `tokens`: by its atom's tokens.

    Returns:
        One score a gap, one gap fewer than atoms.
    """
    scored = [position for position, vector in enumerate(vectors) if vector is not None]
    before = [0, *accumulate(tokens)]
    scores: list[float | None] = [None] * max(0, len(vectors) - 1)
    windows: list[_Windows] = []
    for gap in range(1, len(vectors)):
        rank = bisect_left(scored, gap)
        if rank in (0, len(scored)):
            continue
        first = min(max(0, bisect_right(before, before[gap] - window) - 1), scored[rank - 1])
        last = max(bisect_left(before, before[gap] + window), scored[rank] + 1)
        windows.append(_Windows(gap, bisect_left(scored, first), rank, bisect_left(scored, last)))
    for start in range(0, len(windows), _AT_ONCE):
        block = windows[start : start + _AT_ONCE]
        begin, end = block[0].first, max(w.last for w in block)
        weights = [tokens[p] if weighting == "tokens" else 1 for p in scored[begin:end]]
        held = [v for p in scored[begin:end] if (v := vectors[p]) is not None]
        for windows_of_gap, score in zip(block, _cosines(held, weights, block, begin), strict=True):
            scores[windows_of_gap.gap - 1] = score
    return scores


@dataclass(frozen=True, slots=True)
class _Windows:
    """Both windows of a gap, as ranks among the scored atoms: `[first, middle)` and `[middle, last)`."""

    gap: int
    first: int
    middle: int
    last: int


def _cosines(
    vectors: Sequence[Vector], weights: Sequence[int], block: Sequence[_Windows], begin: int
) -> list[float | None]:
    """Cosines of the windows' sums (a mean's direction is its sum's); None where one has no direction.

    Args:
        vectors: of the scored atoms from rank `begin` on.
        weights: theirs.
        block: the windows of some gaps.
        begin: rank of the first vector.
    """
    weighted = np.array(vectors) * np.array(weights)[:, None]
    sums = np.concatenate([np.zeros((1, weighted.shape[1])), np.cumsum(weighted, axis=0)])
    first, middle, last = (np.array(ranks) - begin for ranks in zip(*map(_ranks, block), strict=True))
    left, right = sums[middle] - sums[first], sums[last] - sums[middle]
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = np.einsum("ij,ij->i", left, right)
    return [
        round(float(product / length), DECIMALS) if length > 0.0 else None
        for product, length in zip(products, lengths, strict=True)
    ]


def _ranks(windows: _Windows) -> tuple[int, int, int]:
    return windows.first, windows.middle, windows.last


def unscorable_breaks(scored: Sequence[bool], tokens: Sequence[int], most: int | None) -> frozenset[int]:
    """Gaps after which no climb goes on: `most` tokens of unscorable atoms in a row lie there, or more than that.

    Args:
        scored: whether each atom is.
        tokens: display tokens of each atom.
        most: the longest stretch that a climb passes (`max_gap_distance`); None for no limit.

    Returns:
        Positions `i`: between gap `i` and gap `i + 1` lies an atom of a longer stretch.
    """
    if most is None:
        return frozenset()
    barred: set[int] = set()
    start = 0
    for end in range(len(scored) + 1):
        if end < len(scored) and not scored[end]:
            continue
        if sum(tokens[start:end]) > most:
            # Gap `i` stands before atom `i + 1`.
            barred.update(position - 1 for position in range(start, end))
        start = end + 1
    return frozenset(barred)
