"""Figures and tables around which text flows: narrow lines beside them, wide ones above or below (XT-04)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from linkrag_dagster.extraction.pdf.columns import reading_order
from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.words import Box, Segment, segment, union

_LEAST_BESIDE, _LEAST_WIDE = 3, 2
"""Lines beside such an object, and wide ones above it or below, at least."""
_NEAR = 9.0
"""Distance in font sizes within which the wide lines stand."""
_OWN = 1.2
"""Space in font sizes between an object and its caption or title, or lines of these."""
_SAME_SIZE = 0.3
_BELOW = 2.6
"""Distance in font sizes from an object's foot down to which lines may stand aside for it."""
_OVER = 0.6
"""Share of an object's width by which its caption may be wider at each side."""


@dataclass(frozen=True, slots=True)
class _Float:
    """An object's mark, the words that belong to it, the lines beside it, and how much wider these would be alone."""

    mark: Segment
    own: tuple[Segment, ...]
    beside: tuple[Segment, ...]
    wider: float


def reading_order_around(segments: Sequence[Segment], marks: Sequence[Segment]) -> list[list[Row]]:
    """Columns in reading order, with the marks that stand for tables and images; what text flows around is a column.

    It follows the column in which the lines beside it are. These end as far from the end of the wide ones as from where
    it stands: none was ended early for its sake.

    Before: `metres over many`, the figure, `annual years. From the`, its caption: a paragraph beside a figure in parts.
    After: the paragraph, then the figure with its caption.
    """
    floats = [found for mark in marks if (found := _float(mark, segments)) is not None]
    if not floats:
        return reading_order([*segments, *marks])
    gone = {id(part) for one in floats for part in (one.mark, *one.own)}
    wider = {id(line): one.wider for one in floats for line in one.beside}
    made = {
        id(part): _widened(part, wider[id(part)]) if id(part) in wider else part
        for part in (*segments, *marks)
        if id(part) not in gone
    }
    columns = reading_order(list(made.values()))
    for one in floats:
        line = made.get(id(one.beside[0]))
        at = next(
            (
                at
                for at, column in enumerate(columns)
                if any(line is part for row in column for part in row.segments)
            ),
            len(columns) - 1,
        )
        columns.insert(at + 1, rows_of([one.mark, *one.own]))
    return columns


def _widened(line: Segment, by: float) -> Segment:
    last = line.words[-1]
    left, top, right, bottom = last.box
    return segment([*line.words[:-1], replace(last, box=(left, top, right + by, bottom))])


def _float(mark: Segment, segments: Sequence[Segment]) -> _Float | None:
    own = _own(mark.box, segments)
    left, top, right, bottom = union([mark.box, *(part.box for part in own)])
    held = set(map(id, own))
    beside = [
        part for part in segments if id(part) not in held and top <= (part.box[1] + part.box[3]) / 2 <= bottom
    ]
    before = [part for part in beside if part.box[2] <= left]
    behind = [part for part in beside if part.box[0] >= right]
    lines = before or behind
    if len(rows_of(lines)) < _LEAST_BESIDE or len(lines) < len(beside):
        return None
    size = lines[0].size
    middle = (left + right) / 2
    begin, end = min(part.box[0] for part in lines), max(part.box[2] for part in lines)
    wide = [
        part
        for part in segments
        if abs(part.size - size) < _SAME_SIZE
        and part.box[0] <= min(middle, begin + size)
        and part.box[2] >= max(middle, end - (end - begin) / 2)
    ]
    above = sum(0 <= top - part.base <= _NEAR * size for part in wide)
    below = sum(0 <= part.base - bottom <= _NEAR * size for part in wide)
    if max(above, below) < _LEAST_WIDE:
        return None
    # The last lines beside it may end below it, since space is left there.
    lines += [
        part
        for part in segments
        if (part.box[2] <= left if before else part.box[0] >= right)
        and abs(part.size - size) < _SAME_SIZE
        and bottom < (part.box[1] + part.box[3]) / 2 <= bottom + _BELOW * size
    ]
    return _Float(mark, tuple(own), tuple(lines), max(0.0, max(part.box[2] for part in wide) - end))


def _own(box: Box, segments: Sequence[Segment]) -> list[Segment]:
    """What stands right above and below an object, no wider than it is: title and caption."""
    left, top, right, bottom = box
    over = _OVER * (right - left)
    inside = [
        part
        for part in segments
        if left - over <= part.box[0]
        and part.box[2] <= right + over
        and left <= (part.box[0] + part.box[2]) / 2 <= right
    ]
    found: list[Segment] = []
    for part in sorted(inside, key=lambda one: one.base):
        if -0.5 * part.size <= part.box[1] - bottom <= _OWN * part.size:
            found.append(part)
            bottom = part.box[3]
    for part in sorted(inside, key=lambda one: -one.base):
        if -0.5 * part.size <= top - part.box[3] <= _OWN * part.size:
            found.append(part)
            top = part.box[1]
    return found
