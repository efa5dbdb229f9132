"""Depth of the valleys of a cohesion curve (SD-05, SD-06), after Hearst, TextTiling, 1997, and seed 004.

`depth = (left_peak - c) + (right_peak - c)`: a peak is reached by climbing from the valley as long as the curve rises
strictly. Gaps without a score are passed over; they have no depth. Linear time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

_MEAN = re.compile(r"mean\(\s*(\d{1,3})\s*,\s*(\d{1,2})\s*\)")


@dataclass(frozen=True, slots=True)
class Smoothing:
    """Mean filter over neighbouring scores (Hearst 1997: `s=2`, `n=1`).

    Attributes:
        width: even number `s`; a score becomes the mean of itself and `s/2` neighbours on each side, as far as there
            are so many.
        rounds: how often.
    """

    width: int
    rounds: int

    @classmethod
    def of(cls, words: str) -> Smoothing | None:
        """`none` or `mean(s, n)`.

        Raises:
            ValueError: anything else.
        """
        if words == "none":
            return None
        found = _MEAN.fullmatch(words)
        if found is None or int(found[1]) < 2 or int(found[1]) % 2 or not int(found[2]):
            raise ValueError(
                f"{words!r} is no smoothing; give none, or mean(s, n) with an even s from 2 and n rounds from 1, "
                "such as mean(2, 1)"
            )
        return cls(int(found[1]), int(found[2]))

    def of_run(self, scores: Sequence[float]) -> list[float]:
        """The smoothed scores, as many as were given."""
        side = self.width // 2
        smoothed = list(scores)
        for _ in range(self.rounds):
            windows = [smoothed[max(0, i - side) : i + side + 1] for i in range(len(smoothed))]
            smoothed = [math.fsum(window) / len(window) for window in windows]
        return smoothed


def depth_scores(
    cohesion: Sequence[float | None], *, smoothing: Smoothing | None = None, breaks: Collection[int] = ()
) -> list[float | None]:
    """The depth at each gap; None where there is no score.

    Args:
        cohesion: the score of each gap, in order; None for gaps without one.
        smoothing: applied to the scores before the climb; None (the seed) for none.
        breaks: positions `i` such that no climb passes between gap `i` and gap `i + 1`.
    """
    depths: list[float | None] = [None] * len(cohesion)
    for run in _runs(cohesion, breaks):
        scores = [score for _, score in run]
        if smoothing is not None:
            scores = smoothing.of_run(scores)
        left, right = _peaks(scores), _peaks(scores[::-1])[::-1]
        for (gap, _), score, before, after in zip(run, scores, left, right, strict=True):
            depths[gap] = (before - score) + (after - score)
    return depths


def _runs(cohesion: Sequence[float | None], breaks: Collection[int]) -> list[list[tuple[int, float]]]:
    """Scored gaps with their scores, in runs that no break divides."""
    barred = frozenset(breaks)
    runs: list[list[tuple[int, float]]] = [[]]
    for gap, score in enumerate(cohesion):
        if score is not None:
            runs[-1].append((gap, score))
        if gap in barred and runs[-1]:
            runs.append([])
    return runs


def _peaks(scores: Sequence[float]) -> list[float]:
    """For each score the peak on its left: where the one before is higher, that one's peak, else itself."""
    peaks: list[float] = []
    for position, score in enumerate(scores):
        peaks.append(peaks[-1] if position and scores[position - 1] > score else score)
    return peaks
