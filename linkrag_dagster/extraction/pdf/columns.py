"""Columns: which rows of a page are read one after the other (XT-04).

A page is cut along gutters: upright strips that no word crosses over several rows, with lines of prose at both sides.
Rows that cross a strip (a title, a wide figure's caption) cut the flow: what is above them is read first, column by
column. Each column may have columns again. A table's columns are no gutters: its cells are short.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.words import Segment, union

_LEAST_ROWS = 3
_LEAST_CODE = 12
"""Rows of monospaced words alone from which on they may be columns: of a document that has no other words."""
_LEAST_WIDTH = 6.0
"""Of a column, in font sizes."""
_FEW, _LEAST_WIDTH_OF_FEW = 0.3, 12.0
"""Share of the rows below which columns are few against them, and their least width then."""
_LEAST_GUTTER = 0.7
"""In font sizes."""
_LEAST_FILL = 0.3
"""Share of its side's width that the middle line of prose fills; the side may hold two more columns."""
_CROSSED = (0.04, 0.1, 0.25, 0.5, 0.75)
"""Shares of the rows that may cross a gutter: titles, tables, figures."""
_LABELLED = 0.4
"""Share of rows that are a label with its value, from which on they are a form."""
_MOST_STRIPS = 12
_NEARER = 1.4
"""Times the distance to what follows, that a row stands off from what is before it, to belong to what follows."""
_TITLE = 1.12
"""Times the usual size from which on a row at the left is a title of both columns, where nothing stands beside it."""


def reading_order(segments: Sequence[Segment], depth: int = 0) -> list[list[Row]]:
    """Columns in reading order, each as its rows from top to bottom."""
    if not segments:
        return []
    rows = rows_of(segments)
    gutter = _gutter(rows) if depth < 4 else None
    if gutter is None:
        return [rows]
    flow: list[list[Row]] = []
    for crossing, band in _bands(rows, gutter):
        if crossing:
            flow += [band]
            continue
        parts = [s for r in band for s in r.segments]
        left = [s for s in parts if _middle(s) < gutter]
        right = [s for s in parts if _middle(s) >= gutter]
        flow += reading_order(left, depth + 1) + reading_order(right, depth + 1)
    return flow


def _middle(segment: Segment) -> float:
    return (segment.box[0] + segment.box[2]) / 2


def _gutter(rows: Sequence[Row]) -> float | None:
    """The middle of the best gutter; None where the rows are one column."""
    if len(rows) < _LEAST_ROWS:
        return None
    size = median(r.size for r in rows)
    left, _, right, _ = union(r.box for r in rows)
    best: tuple[int, float] | None = None
    for strip in _strips(rows, left, right, size):
        middle = (strip[0] + strip[1]) / 2
        # What stands in columns is looked at where it could be more than the best: it takes time.
        if best is not None and sum(not _is_crossed(r, middle) for r in rows) <= best[0]:
            continue
        kept = sum(len(band) for crossing, band in _bands(rows, middle) if not crossing)
        narrow = min(middle - left, right - middle) < _LEAST_WIDTH_OF_FEW * size
        if narrow and kept < _FEW * len(rows):
            continue  # blanks of lines set to one width, below each other by chance
        if kept and (best is None or kept > best[0]):
            best = kept, middle
    return None if best is None else best[1]


def _strips(rows: Sequence[Row], left: float, right: float, size: float) -> list[tuple[float, float]]:
    """Strips that few rows cross, the least crossed first."""
    first = int(left + _LEAST_WIDTH * size)
    last = int(right - _LEAST_WIDTH * size)
    if last <= first:
        return []
    changes = [0] * (last - first + 2)
    for r in rows:
        reach = -1
        for box in sorted(s.box for s in r.segments):
            # Words of one line with a usual blank between them leave no strip.
            begin, end = max(int(box[0]), reach, first), min(int(box[2]) + 1, last)
            if begin < end:
                changes[begin - first] += 1
                changes[end - first] -= 1
                reach = end
    crossed: list[int] = []
    total = 0
    for change in changes[:-1]:
        total += change
        crossed.append(total)
    found: list[tuple[float, float]] = []
    for share in _CROSSED:
        begin: int | None = None
        for at in range(len(crossed) + 1):
            if at < len(crossed) and crossed[at] <= share * len(rows):
                begin = at if begin is None else begin
            elif begin is not None:
                if at - begin >= _LEAST_GUTTER * size and not any(
                    a < first + at and first + begin < b for a, b in found
                ):
                    found.append((float(first + begin), float(first + at)))
                begin = None
    return found[:_MOST_STRIPS]


def _bands(rows: Sequence[Row], gutter: float) -> list[tuple[bool, list[Row]]]:
    """Rows in runs: those that cross the gutter, and those that stand in columns at both sides of it."""
    usual = median(r.size for r in rows)
    runs: list[tuple[bool, list[Row]]] = []
    for at, r in enumerate(rows):
        crossing = _is_crossed(r, gutter) or _is_title(rows, at, gutter, usual)
        if runs and runs[-1][0] == crossing:
            runs[-1][1].append(r)
        else:
            runs.append((crossing, [r]))
    for (crossing, run), (_, after) in pairwise(runs):
        # Of a heading alone at a column's foot, what it heads tells which it belongs to.
        if not crossing and len(run) > 1 and _leads_on(run[-2], run[-1], after[0], gutter):
            after.insert(0, run.pop())
    made: list[tuple[bool, list[Row]]] = []
    for crossing, run in runs:
        whole = crossing or not _is_columns(run, gutter)
        if made and made[-1][0] and whole:
            made[-1][1].extend(run)
        else:
            made.append((whole, list(run)))
    return made


def _is_crossed(row: Row, gutter: float) -> bool:
    return any(s.box[0] < gutter < s.box[2] for s in row.segments)


def _leads_on(before: Row, row: Row, after: Row, gutter: float) -> bool:
    """Whether the last row of columns stands at the left alone, nearer to the crossing row below than to any above."""
    return row.box[2] < gutter and row.base - before.base >= _NEARER * (after.base - row.base)


def _is_title(rows: Sequence[Row], at: int, gutter: float, usual: float) -> bool:
    """A larger row at the left alone, beside which the right column pauses."""
    r = rows[at]
    if r.size < _TITLE * usual or any(s.box[2] > gutter for s in r.segments):
        return False
    top, bottom = r.box[1] - 0.2 * r.size, r.box[3] + 0.2 * r.size
    for other in rows[max(0, at - 4) : at + 5]:
        if any(s.box[0] > gutter and s.box[1] < bottom and s.box[3] > top for s in other.segments):
            return False
    return True


def _is_columns(run: Sequence[Row], gutter: float) -> bool:
    if len(run) < _LEAST_CODE and all(word.mono for row in run for word in row.words):
        return False  # code with a wide blank in every line
    if sum(_is_labelled(row, gutter) for row in run) >= _LABELLED * len(run):
        return False  # a form: each label goes with what stands beside it
    sides = [
        [s for r in run for s in r.segments if s.box[2] <= gutter],
        [s for r in run for s in r.segments if s.box[0] >= gutter],
    ]
    for side in sides:
        lines = rows_of(side)
        if len(lines) < _LEAST_ROWS:
            return False
        width = max(line.box[2] for line in lines) - min(line.box[0] for line in lines)
        size = median(line.size for line in lines)
        fill = median(line.box[2] - line.box[0] for line in lines)
        characters = median(len(line.text) for line in lines)
        if width < _LEAST_WIDTH * size or fill < _LEAST_FILL * width or characters < 12:
            return False
    return True


def _is_labelled(row: Row, gutter: float) -> bool:
    """Whether a row is a label and, across the gutter, what it labels: `Name:      Ada`."""
    left = [s for s in row.segments if s.box[2] <= gutter]
    right = [s for s in row.segments if s.box[0] >= gutter]
    return bool(right) and bool(left) and left[-1].text.endswith((":", "\uff1a"))
