"""The valleys of a recorded cohesion curve: the peaks that a depth was measured from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.chunking import GapTrace

NEAR = 1e-6


@dataclass(frozen=True, slots=True)
class Valley:
    """A gap's place in the curve.

    Attributes:
        left: cohesion at the peak before it.
        bottom: its own.
        right: at the peak after it.
    """

    left: float
    bottom: float
    right: float


def valleys(trace: Sequence[GapTrace]) -> dict[tuple[str, int], Valley]:
    """The valley of each scored gap, by coarse chunk and gap index.

    A gap whose recorded depth is not that of the recorded curve (it was smoothed, or the climb was barred) has none.
    """
    runs: dict[str, list[GapTrace]] = {}
    for row in trace:
        if row.cohesion is not None:
            runs.setdefault(row.coarse_id, []).append(row)
    found: dict[tuple[str, int], Valley] = {}
    for coarse_id, rows in runs.items():
        curve = [row.cohesion or 0.0 for row in rows]
        left, right = _peaks(curve), _peaks(curve[::-1])[::-1]
        for row, bottom, before, after in zip(rows, curve, left, right, strict=True):
            if row.depth is not None and abs(before + after - 2 * bottom - row.depth) < NEAR:
                found[coarse_id, row.gap_index] = Valley(before, bottom, after)
    return found


def _peaks(curve: Sequence[float]) -> list[float]:
    peaks: list[float] = []
    for position, score in enumerate(curve):
        peaks.append(peaks[-1] if position and curve[position - 1] > score else score)
    return peaks
