"""Rows: what stands side by side on a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from linkrag_dagster.extraction.pdf.right_to_left import is_right_to_left
from linkrag_dagster.extraction.pdf.words import Box, Segment, Word, union


@dataclass(frozen=True, slots=True)
class Row:
    """Segments on one line of writing, in reading order."""

    segments: tuple[Segment, ...]
    box: Box
    base: float
    size: float

    @property
    def words(self) -> list[Word]:
        return [word for segment in self.segments for word in segment.words]

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)


def rows_of(segments: Iterable[Segment]) -> list[Row]:
    """Segments by lines of writing, from top to bottom.

    Raised and lowered words, which stand a little off the line, belong to it.
    """
    rows: list[list[Segment]] = []
    bases: list[tuple[float, float]] = []  # where each row stands, and its font's size
    reaches: list[float] = []  # how far to the right
    for one in sorted(segments, key=lambda s: (round(s.base), s.box[0])):
        for at in range(len(rows) - 1, max(-1, len(rows) - 4), -1):
            base, size = bases[at]
            small = one.size < 0.85 * size or size < 0.85 * one.size
            near = abs(one.base - base) <= (0.5 if small else 0.22) * max(size, one.size)
            if near and not _overlaps(one, rows[at], reaches[at]):
                rows[at].append(one)
                reaches[at] = max(reaches[at], one.box[2])
                if one.size > size:
                    bases[at] = one.base, one.size
                break
        else:
            rows.append([one])
            bases.append((one.base, one.size))
            reaches.append(one.box[2])
    made = [row(members) for members in rows]
    return sorted(made, key=lambda r: (r.base, r.box[0]))


def row(members: Sequence[Segment]) -> Row:
    if len(members) == 1:
        (one,) = members
        return Row((one,), one.box, one.base, one.size)
    backward = is_right_to_left("".join(s.text for s in members))
    ordered = sorted(members, key=lambda s: -s.box[2] if backward else s.box[0])
    heaviest = max(members, key=lambda s: len(s.text))
    return Row(tuple(ordered), union(s.box for s in members), heaviest.base, heaviest.size)


def _overlaps(one: Segment, members: Sequence[Segment], reach: float) -> bool:
    slack = 0.2 * one.size
    # Most stand right of all the others.
    return one.box[0] < reach - slack and any(
        min(one.box[2], other.box[2]) - max(one.box[0], other.box[0]) > slack for other in members
    )
