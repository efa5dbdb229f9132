"""Grids of tables whose rows are set apart by rules across, or by stripes, with nothing drawn between columns (XT-06).

The words tell the columns: strips that no word crosses from one rule to the next, over rule after rule. So each cell
keeps its lines, however many, and wherever in the row they stand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.rows import row as as_row
from linkrag_dagster.extraction.pdf.rules import Line
from linkrag_dagster.extraction.pdf.table import LEAST_STRIP, is_number
from linkrag_dagster.extraction.pdf.words import Segment

_ALIKE = 4.0
"""Points by which the ends of rules of one table may differ."""
_LEAST_BANDS, _LEAST_WITH_TWO = 3, 4
"""Spaces between rules that a table has at least, and one of two columns."""
_LEAST_FILLED = 0.7
"""Share of the rows that fill two columns or more."""
_MOST_LINES = 3.0
"""Lines that all cells of a usual row have at most: more are columns of prose between rules."""
_TALLEST = 4.0
"""Times the lines of a usual row that one row has at most; up to six it may have anyway."""
_NEXT_LINE, _NEXT_ROW = 0.5, 2.0
"""Space in font sizes: between lines of a row beyond the outermost rule, and between such rows, or the rule."""

_LEVEL = 0.3
"""Overlap of lines, in font sizes, from which on they stand beside each other."""

_Strip = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Band:
    """What stands between two rules, `top` and `bottom`: its parts, and the strips between them."""

    top: float
    bottom: float
    parts: tuple[Segment, ...]
    strips: tuple[_Strip, ...]


def row_grids(
    across: Sequence[Line], upright: Sequence[Line], segments: Sequence[Segment]
) -> Iterator[tuple[list[Line], list[Line]]]:
    """Rules across that part the rows of a table, each with upright lines in the strips between its columns.

    Before: three lines under each other of a table of risks, `Risk | Description | Score`, whose cells have one, four
    and one, are three rows, or a paragraph.
    After: they are the row between two rules.
    """
    ordered = sorted(range(len(segments)), key=lambda at: _middle(segments[at]))
    middles = [_middle(segments[at]) for at in ordered]
    for rules in _alike(across):
        bands: list[_Band] = []
        for one, other in pairwise(rules):
            level = sorted(ordered[bisect_left(middles, one.at) : bisect_left(middles, other.at)])
            bands.append(_band(one, other, upright, [segments[at] for at in level]))
        free = set(range(len(bands)))
        for seed in sorted(free, key=lambda at: (-len(bands[at].strips), at)):
            if seed in free and bands[seed].strips:
                first, last, strips = _grown(bands, seed, free)
                free -= set(range(first, last + 1))
                run = bands[first : last + 1]
                if _is_table(run, strips):
                    yield _grid(rules[first : last + 2], run, strips, segments)


def _alike(across: Sequence[Line]) -> Iterator[list[Line]]:
    """Rules that begin and end alike, from top to bottom."""
    groups: list[list[Line]] = []
    for line in sorted(across, key=lambda one: one.at):
        for group in groups:
            if abs(group[0].start - line.start) <= _ALIKE and abs(group[0].end - line.end) <= _ALIKE:
                if line.at - group[-1].at > _ALIKE:
                    group.append(line)
                break
        else:
            groups.append([line])
    yield from (group for group in groups if len(group) > _LEAST_BANDS)


def _middle(part: Segment) -> float:
    return (part.box[1] + part.box[3]) / 2


def _band(one: Line, other: Line, upright: Sequence[Line], level: Sequence[Segment]) -> _Band:
    """What of the parts `level` with a band stands in it.

    A band has no strips where an upright line stands in it: then the lines tell the columns.
    """
    left, right = one.start - _ALIKE, one.end + _ALIKE
    parts = tuple(part for part in level if part.box[0] < right and left < part.box[2])
    middle = (one.at + other.at) / 2
    is_open = all(left <= part.box[0] and part.box[2] <= right for part in parts) and not any(
        line.start < middle < line.end and left + 2 * _ALIKE < line.at < right - 2 * _ALIKE
        for line in upright
    )
    return _Band(one.at, other.at, parts, _strips(parts) if is_open else ())


def _strips(parts: Sequence[Segment]) -> tuple[_Strip, ...]:
    """The strips between parts, seen from above."""
    found: list[_Strip] = []
    reach = min((part.box[0] for part in parts), default=0.0)
    for part in sorted(parts, key=lambda one: one.box[0]):
        if part.box[0] - reach >= LEAST_STRIP * part.size:
            found.append((reach, part.box[0]))
        reach = max(reach, part.box[2])
    return tuple(found)


def _grown(bands: Sequence[_Band], seed: int, free: set[int]) -> tuple[int, int, list[_Strip]]:
    """The bands around one that have strips in common with it, and these.

    A strip that two bands bear out is one: what crosses it is no row of this table.
    """
    strips = [(strip, 1) for strip in bands[seed].strips]
    first = last = seed
    for step in (1, -1):
        at = seed + step
        while at in free and bands[at].parts:
            narrowed = [(_free(strip, bands[at].parts), count) for strip, count in strips]
            if any(strip is None and count > 1 for strip, count in narrowed):
                break
            left = [(strip, count + 1) for strip, count in narrowed if strip is not None]
            if not left:
                break
            strips, first, last = left, min(first, at), max(last, at)
            at += step
    return first, last, [strip for strip, _ in strips]


def _free(strip: _Strip, parts: Sequence[Segment]) -> _Strip | None:
    """What of a strip no part covers, where one is left; a part beside it makes it no wider."""
    left, right = strip
    middle = (left + right) / 2
    for part in parts:
        if part.box[0] < right and left < part.box[2]:
            if (part.box[0] + part.box[2]) / 2 < middle:
                left = max(left, part.box[2])
            else:
                right = min(right, part.box[0])
    least = LEAST_STRIP * (parts[0].size if parts else 1.0)
    return (left, right) if right - left >= least else None


def _is_table(run: Sequence[_Band], strips: Sequence[_Strip]) -> bool:
    """Whether rows between rules fill columns, and are no columns of prose that rules cut."""
    if len(run) < (_LEAST_WITH_TWO if len(strips) < 2 else _LEAST_BANDS):
        return False
    cells = [_cells(band.parts, strips) for band in run]
    filled = sum(sum(map(bool, row)) > 1 for row in cells)
    if filled < _LEAST_FILLED * len(run):
        return False
    lines = [[len(rows_of(cell)) for cell in row if cell] for row in cells]
    tallest = [max(counts) for counts in lines]
    return max(tallest) <= max(6, _TALLEST * median(tallest)) and median(map(min, lines)) <= _MOST_LINES


def _cells(parts: Sequence[Segment], strips: Sequence[_Strip]) -> list[list[Segment]]:
    cells: list[list[Segment]] = [[] for _ in range(len(strips) + 1)]
    for part in parts:
        middle = (part.box[0] + part.box[2]) / 2
        cells[sum(middle > left for left, _ in strips)].append(part)
    return cells


def _grid(
    rules: Sequence[Line], run: Sequence[_Band], strips: Sequence[_Strip], segments: Sequence[Segment]
) -> tuple[list[Line], list[Line]]:
    """The grid of a table, with its rows above the first rule and below the last."""
    first, last = rules[0], rules[-1]
    left, right = first.start, first.end
    beyond = [part for part in segments if left - _ALIKE <= part.box[0] and part.box[2] <= right + _ALIKE]
    above = _clumps([part for part in beyond if part.box[3] <= first.at + 1])[::-1]
    below = _clumps([part for part in beyond if part.box[1] >= last.at - 1])
    ends = [min(part.box[1] for part in row) - 1 for row in _outer(above, strips, first.at)]
    ends += [line.at for line in rules]
    ends += [max(part.box[3] for part in row) + 1 for row in _outer(below, strips, last.at)]
    lines = [Line(at, left, right) for at in sorted(ends)]
    return lines, [Line((a + b) / 2, lines[0].at, lines[-1].at) for a, b in strips]


def _clumps(parts: Sequence[Segment]) -> list[Row]:
    """Parts as rows; lines beside each other that are not level, as of cells in the middle of their row, are one."""
    clumps: list[list[Segment]] = []
    bottom = 0.0
    for one in rows_of(parts):
        if clumps and one.box[1] < bottom - _LEVEL * one.size:
            clumps[-1] += one.segments
        else:
            clumps.append([*one.segments])
        bottom = max(part.box[3] for part in clumps[-1])
    return [as_row(clump) for clump in clumps]


def _outer(rows: Sequence[Row], strips: Sequence[_Strip], edge: float) -> list[list[Segment]]:
    """Rows beyond an outermost rule, the nearest first: near to it or each other, and in columns of the table.

    The first fills three columns, or both of two. A line in fewer columns than the one before goes on with that.
    """
    found: list[list[Segment]] = []
    filled: set[int] = set()
    for one in rows:
        top, bottom = one.box[1], one.box[3]
        distance = max(edge - bottom, top - edge)
        mine = {at for at, cell in enumerate(_cells(one.segments, strips)) if cell}
        if any(_free(strip, one.segments) is None for strip in strips):
            break
        more = found and distance <= _NEXT_LINE * one.size and (mine < filled or 0 not in mine)
        if more and not _are_numbers(found[-1], one.segments, strips):
            found[-1] += one.segments
        elif distance <= _NEXT_ROW * one.size and len(mine) >= min(3, len(strips) + 1):
            found.append([*one.segments])
            filled = mine
        else:
            break
        edge = top if bottom <= edge else bottom
    return found


def _are_numbers(row: Sequence[Segment], line: Sequence[Segment], strips: Sequence[_Strip]) -> bool:
    """Whether a number of a line stands in the column of another: numbers don't go on in a second line."""
    both = zip(_cells(row, strips), _cells(line, strips), strict=True)
    return any(
        any(is_number(part.text) for part in one) and any(is_number(p.text) for p in other)
        for one, other in both
    )
