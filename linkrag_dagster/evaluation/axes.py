"""Axes on which segmentations are compared: cuts in the text become masses of units (ME-04).

An axis is a sequence of units `(start_char, end_char)` of one document: its source tokens, or its atoms, between which
the legal gaps lie. All segmentations of a document must be mapped to the same axis before they are compared.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from linkrag_dagster.evaluation.segmentation import masses_from_gaps

Units = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class MappedCuts:
    """Cuts of one segmentation on an axis.

    Attributes:
        masses: lengths of its segments, in units.
        moved: cuts that lay inside a unit and went to its nearer edge.
        merged: cuts that fell into a gap that had one already.
        outside: cuts before the first unit or after the last: no boundaries.
    """

    masses: tuple[int, ...]
    moved: int
    merged: int
    outside: int


def map_cuts(cuts: Iterable[int], units: Units) -> MappedCuts:
    """Put cuts on an axis.

    A cut anywhere between two units is a boundary in their gap, so that white space beside it changes nothing. A cut
    inside a unit, as fixed lengths make them, goes to the unit's nearer edge, and to its start when both are equally
    near (the blank that begins a token belongs to its word).

    Args:
        cuts: code points where a segment starts, in any order.
        units: rising spans; several may share a start, as the byte tokens of one character do.

    Raises:
        ValueError: units whose starts fall.
    """
    starts = _starts(units)
    gaps: set[int] = set()
    moved = merged = outside = 0
    for cut in sorted(cuts):
        following = bisect_left(starts, cut)
        inside = following > 0 and cut < units[following - 1][1]
        if inside:
            start, end = units[following - 1]
            following = bisect_left(starts, start if cut - start <= end - cut else end)
            moved += 1
        if not 0 < following < len(units):
            outside += 1
        elif following - 1 in gaps:
            merged += 1
        else:
            gaps.add(following - 1)
    return MappedCuts(masses_from_gaps(sorted(gaps), len(units)), moved, merged, outside)


def cuts_of_spans(spans: Iterable[tuple[int, int]]) -> list[int]:
    """Where a sequence of chunks cuts: the starts of all but the first, each once.

    Overlapping chunks cut where each of them starts.
    """
    return sorted({start for start, _ in spans})[1:]


@dataclass(frozen=True, slots=True)
class SourceTokens:
    """Counts source tokens in ranges of one document: a token belongs to the range in which it starts.

    Counts of adjacent ranges therefore add up, whatever the cuts.

    Attributes:
        starts: code point at which each token starts, never falling.
    """

    starts: tuple[int, ...]

    @classmethod
    def from_units(cls, units: Units) -> SourceTokens:
        """From the tokens' spans.

        Raises:
            ValueError: units whose starts fall.
        """
        return cls(tuple(_starts(units)))

    def count(self, start_char: int, end_char: int) -> int:
        """Tokens that start in `[start_char, end_char)`."""
        return max(0, bisect_left(self.starts, end_char) - bisect_left(self.starts, start_char))


def _starts(units: Units) -> list[int]:
    starts = [start for start, _ in units]
    for index, (left, right) in enumerate(pairwise(starts)):
        if left > right:
            raise ValueError(f"unit {index + 1} starts at {right}, before unit {index} at {left}: sort them")
    return starts
