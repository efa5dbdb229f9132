"""The scales of the curves, and where between two scored gaps an unscored one is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from linkrag_dagster.explain.account import Gap

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Scale:
    """From scores to fractions of an axis.

    Attributes:
        low, high: cohesion at its ends.
        deepest: the depth that fills the other axis.
    """

    low: float
    high: float
    deepest: float

    def cohesion(self, score: float) -> float:
        """From 0 at `low` to 1 at `high`."""
        return (score - self.low) / (self.high - self.low)

    def depth(self, depth: float) -> float:
        """From 0 to 1 at `deepest`."""
        return min(1.0, max(0.0, depth) / self.deepest)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round cohesions to rule a line at."""
        step = 0.1 if self.high - self.low <= 0.5 else 0.2 if self.high - self.low <= 1 else 0.5
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return tuple(round(number * step, 1) for number in range(first, last + 1))


def scale_of(gaps: Sequence[Gap]) -> Scale | None:
    """A scale that shows all scores, with round ends; None where nothing is scored."""
    scores = [g.trace.cohesion for g in gaps if g.trace.cohesion is not None]
    if not scores:
        return None
    low = math.floor(min(scores) * 10 - 0.5) / 10
    high = max(math.ceil(max(scores) * 10) / 10, low + 0.2)
    deepest = max((g.trace.depth or 0.0 for g in gaps), default=0.0)
    return Scale(low, high, deepest or 1.0)


def key(gap: Gap) -> Key:
    """What a gap is known by."""
    return gap.trace.coarse_id, gap.trace.gap_index


@dataclass(frozen=True, slots=True)
class Height:
    """Where the curve passes a gap.

    Attributes:
        cohesion: as drawn.
        measured: False where it only lies between two scored gaps.
    """

    cohesion: float
    measured: bool


def heights(gaps: Sequence[Gap]) -> Mapping[Key, Height]:
    """The curve at each gap between the first and the last scored one of its coarse chunk; between scores a line."""
    found: dict[Key, Height] = {}
    for run in _by_coarse(gaps):
        scored = [(place, c) for place, g in enumerate(run) if (c := g.trace.cohesion) is not None]
        for place, score in scored:
            found[key(run[place])] = Height(score, True)
        for (left, before), (right, after) in pairwise(scored):
            for place in range(left + 1, right):
                share = (place - left) / (right - left)
                found[key(run[place])] = Height(before + share * (after - before), False)
    return found


def _by_coarse(gaps: Sequence[Gap]) -> list[list[Gap]]:
    runs: dict[str, list[Gap]] = {}
    for gap in gaps:
        runs.setdefault(gap.trace.coarse_id, []).append(gap)
    return list(runs.values())
