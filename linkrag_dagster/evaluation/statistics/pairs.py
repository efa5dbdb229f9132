"""Two systems' values, paired by question and grouped by needle or document."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

# Of the larger value: nearer than this, two values differ by their rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairedDifferences:
    """Differences `a − b` by cluster; a cluster without any pair is left out.

    Attributes:
        clusters: the differences of each cluster, clusters and differences in canonical (sorted) order, so that no
            result depends on the order of the questions.
        undefined: pairs left out since neither system has a value.
    """

    clusters: tuple[tuple[float, ...], ...]
    undefined: int

    @property
    def pairs(self) -> int:
        """Pairs with a difference."""
        return sum(len(cluster) for cluster in self.clusters)


@dataclass(frozen=True, slots=True)
class WinsAndLosses:
    """Clusters (questions, where nothing is clustered) in which the first system is better, worse, or equal."""

    wins: int
    losses: int
    ties: int


def pair_up(
    a: Sequence[float | None], b: Sequence[float | None], cluster: Sequence[Hashable] | None = None
) -> PairedDifferences:
    """Differences `a − b` over the same questions.

    Args:
        a, b: one value a question, in one order; None where a metric is undefined (GO-04).
        cluster: one label a question: its needle or its document. Questions with one label share their fate and count
            as one unit; None: each question is its own.

    Raises:
        ValueError: lists of different lengths, a value that is not finite, a value under one system only, or a
            question without a label.
    """
    if len(a) != len(b):
        raise ValueError(
            f"{len(a)} values against {len(b)}: a comparison is paired, give both systems the same questions"
        )
    if cluster is not None and len(cluster) != len(a):
        raise ValueError(f"{len(cluster)} cluster labels for {len(a)} questions: give one a question")
    groups: dict[Hashable, list[float]] = {}
    undefined = 0
    for place, (left, right) in enumerate(zip(a, b, strict=True)):
        label = place if cluster is None else cluster[place]
        if label is None or label == "":
            raise ValueError(f"question {place} has no cluster label: name its needle or its document")
        if left is None and right is None:
            undefined += 1
        elif left is None or right is None:
            raise ValueError(
                f"question {place} has a value under one system only ({left!r} against {right!r}): "
                "leave it out of both, or give the value that counts for it"
            )
        else:
            groups.setdefault(label, []).append(_difference(place, left, right))
    return PairedDifferences(tuple(sorted(tuple(sorted(group)) for group in groups.values())), undefined)


def wins_and_losses(
    a: Sequence[float | None], b: Sequence[float | None], cluster: Sequence[Hashable] | None = None
) -> WinsAndLosses:
    """Count where a is better (larger), where b is, and where neither; a cluster counts once, by its mean difference.

    Args and Raises: as `pair_up`.
    """
    wins = losses = ties = 0
    for group in pair_up(a, b, cluster).clusters:
        total = math.fsum(group)
        if abs(total) <= _ROUNDING * math.fsum(map(abs, group)):
            ties += 1
        elif total > 0:
            wins += 1
        else:
            losses += 1
    return WinsAndLosses(wins, losses, ties)


def _difference(place: int, left: float, right: float) -> float:
    try:
        first, second = float(left), float(right)
    except (TypeError, ValueError):
        raise ValueError(
            f"question {place} has {left!r} against {right!r}: give numbers, or None where undefined"
        ) from None
    difference = first - second
    if not math.isfinite(difference):
        raise ValueError(
            f"question {place} has {left!r} against {right!r}: give None where a metric is undefined"
        )
    return 0.0 if abs(difference) <= _ROUNDING * max(abs(first), abs(second)) else difference
