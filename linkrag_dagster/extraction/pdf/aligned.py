"""Tables without rules: rows whose words stand below each other in columns (XT-06).

Columns are what the rows of a run cover together, seen from above; a wide strip that no row covers parts two of them.
A run grows from the row with the most parts, down and up, until a row crosses a strip that two rows bear out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from linkrag_dagster.extraction.pdf.hyphens import Vocabulary, join_lines
from linkrag_dagster.extraction.pdf.marks import BULLET, NUMBER
from linkrag_dagster.extraction.pdf.rows import Row
from linkrag_dagster.extraction.pdf.table import Table, TableRow
from linkrag_dagster.extraction.pdf.words import Segment, union

_LEAST_ROWS = 3
_LEAST_STRIP = 0.6
"""Width of a strip between two columns, in font sizes."""
_IN_LINE = 0.35
"""Distance, in font sizes, up to which two parts begin, end, or have their middle at the same place."""
_FURTHEST = 2.6
"""Distance of one row's base from the next one's, in font sizes, from which on a table ends."""
_LEAST_SHARED = 0.6
"""Share of the rows that fill two columns or more."""
_PROSE = (3, 0.5, 0.85, 25)
"""A column is prose when it has so many lines, of which such a share fills such a share of its width, with so many
characters in the middle one, those of full width as two."""
_APART = 1.15
"""Times the space within rows of a table that is between them, where that tells them from columns of prose."""
_NO_WORDS = Vocabulary(Counter(), False)
_Cell = list[Segment]


def _any_row(_: Row) -> bool:
    return True


@dataclass(slots=True)
class _Column:
    """From `left` to `right`; the rows that fill it; where its parts begin, end and have their middle, in points."""

    left: float
    right: float
    rows: set[int] = field(default_factory=set[int])
    edges: tuple[set[int], set[int], set[int]] = field(
        default_factory=lambda: (set[int](), set[int](), set[int]())
    )


@dataclass(slots=True)
class _Run:
    """Consecutive rows, `first` to `last`, and the columns that they have so far, from left to right."""

    first: int
    last: int
    columns: list[_Column]


def aligned_tables(
    rows: Sequence[Row],
    known: Vocabulary,
    *,
    prose: int,
    least: int = _LEAST_ROWS,
    usable: Callable[[Row], bool] = _any_row,
) -> list[Table]:
    """Tables among rows from top to bottom.

    `prose` columns of lines that fill their width are allowed in a table: none where the rows may be the columns of a
    page side by side; one more in a table of three columns or more whose rows are set apart. `least` rows must fill two
    columns. `usable` tells which rows may belong to a table: no code.
    """
    found: list[tuple[int, Table]] = []
    open_ = [usable(one) for one in rows]
    seeds = [len(one.segments) > 1 and may for one, may in zip(rows, open_, strict=True)]
    for at in sorted(range(len(rows)), key=lambda at: (-len(rows[at].segments), at)):
        if not seeds[at]:
            continue
        run = _grown(rows, at, open_)
        for inside in range(run.first, run.last + 1):
            seeds[inside] = False
        table = _table(rows, run, known, prose, least)
        if table is not None:
            found.append((run.first, table))
            for inside in range(run.first, run.last + 1):
                open_[inside] = False
    return [table for _, table in sorted(found, key=lambda one: one[0])]


def _grown(rows: Sequence[Row], seed: int, open_: Sequence[bool]) -> _Run:
    run = _Run(seed, seed, [])
    _add(run.columns, rows[seed], seed)
    for step in (1, -1):
        before, at = seed, seed + step
        while 0 <= at < len(rows) and open_[at] and _follows(rows[before], rows[at]):
            if not _add(run.columns, rows[at], at):
                break
            run.first, run.last = min(run.first, at), max(run.last, at)
            before, at = at, at + step
    return run


def _follows(one: Row, other: Row) -> bool:
    size = max(one.size, other.size)
    return size < 1.5 * min(one.size, other.size) and abs(other.base - one.base) <= _FURTHEST * size


def _add(columns: list[_Column], row: Row, at: int) -> bool:
    """Widens columns by a row's parts, or leaves them alone.

    Left alone where a part lies across two columns that two rows know to be apart, and where most parts stand in line
    with nothing in their column: a row of prose with a wide blank in it, a title.
    """
    made = list(columns)
    slack = _LEAST_STRIP * row.size
    met_columns = in_line = 0
    for part in row.segments:
        left, _, right, _ = part.box
        met = [c for c in made if c.left < right + slack and left < c.right + slack]
        met = next(([c] for c in met if c.left - 1 <= left and right <= c.right + 1), met)
        if any(len(one.rows & other.rows) > 1 for one, other in pairwise(met)):
            return False
        met_columns += bool(met)
        places = (round(left), round(right), round((left + right) / 2))
        in_line += any(_is_in_line(places, one, row.size) for one in met)
        merged = _Column(min([left, *(c.left for c in met)]), max([right, *(c.right for c in met)]), {at})
        for one in met:
            merged.rows |= one.rows
            for mine, other in zip(merged.edges, one.edges, strict=True):
                mine |= other
        for mine, place in zip(merged.edges, places, strict=True):
            mine.add(place)
        made = sorted([*(c for c in made if c not in met), merged], key=lambda c: c.left)
    if columns and in_line < 0.5 * met_columns:
        return False
    columns[:] = made
    return True


def _is_in_line(places: tuple[int, int, int], column: _Column, size: float) -> bool:
    near = round(_IN_LINE * size)
    return any(
        other in edges
        for place, edges in zip(places, column.edges, strict=True)
        for other in range(place - near, place + near + 1)
    )


def _table(rows: Sequence[Row], run: _Run, known: Vocabulary, prose: int, least: int) -> Table | None:
    members = rows[run.first : run.last + 1]
    if len(members) < _LEAST_ROWS or len(run.columns) < 2:
        return None
    lines = [(one, _cells(one, run.columns)) for one in members]
    shared = sum(sum(map(bool, cells)) > 1 for _, cells in lines)
    if shared < least:
        return None
    columns = list(zip(*(cells for _, cells in lines), strict=True))
    too_many = sum(map(_is_prose, run.columns, columns)) - prose
    if too_many > (len(columns) > 2):
        return None
    if len(columns) == 2 and _is_list(columns[0]):
        return None
    groups: list[list[tuple[Row, list[_Cell]]]] = []
    for at, line in enumerate(lines):
        above = groups[-1][-1] if groups else None
        below = lines[at + 1][0] if at + 1 < len(lines) else None
        if above and (
            _goes_on(above[1], line[1], run.columns) or _is_wrapped(above, line, below, run.columns)
        ):
            groups[-1].append(line)
        else:
            groups.append([line])
    # Of two columns the lines are counted, since a hanging paragraph has them too; of more, the rows that they make.
    if shared < _LEAST_SHARED * len(lines if len(columns) == 2 else groups):
        return None
    if too_many > 0 and not _are_set_apart([[line.base for line, _ in group] for group in groups]):
        return None
    made = tuple(
        TableRow(
            tuple(_text([cells[at] for _, cells in group], known) for at in range(len(columns))),
            union(word.place for one, _ in group for word in one.words),
        )
        for group in groups
    )
    return Table(made, union(one.box for one in members)) if len(made) > 1 else None


def _cells(row: Row, columns: Sequence[_Column]) -> list[_Cell]:
    cells: list[_Cell] = [[] for _ in columns]
    for part in row.segments:
        middle = (part.box[0] + part.box[2]) / 2
        cells[next(at for at, one in enumerate(columns) if middle <= one.right)].append(part)
    return cells


def _text(lines: Sequence[_Cell], known: Vocabulary) -> str:
    return join_lines([" ".join(part.text for part in cell) for cell in lines if cell], known)


def _is_prose(column: _Column, cells: Sequence[_Cell]) -> bool:
    least, share, full, characters = _PROSE
    lines = [
        (cell[-1].box[2] - cell[0].box[0], sum(_width(part.text) for part in cell)) for cell in cells if cell
    ]
    if len(lines) < least or median(length for _, length in lines) < characters:
        return False
    width = full * (column.right - column.left)
    return sum(filled >= width for filled, _ in lines) >= share * len(lines)


def _width(text: str) -> int:
    """Characters, those of full width as two."""
    return sum(2 if char > "\u2e80" else 1 for char in text)


def _is_list(cells: Sequence[_Cell]) -> bool:
    """Whether a first column holds marks of list items alone."""
    texts = [_text([cell], _NO_WORDS) + " " for cell in cells if cell]
    return sum(bool(BULLET.fullmatch(text) or NUMBER.fullmatch(text)) for text in texts) > len(texts) / 2


def _are_set_apart(groups: Sequence[Sequence[float]]) -> bool:
    """Whether rows of several lines, given by their bases, have more space between than within them."""
    within = [other - one for group in groups for one, other in pairwise(group)]
    between = [other[0] - one[-1] for one, other in pairwise(groups)]
    return bool(within) and bool(between) and min(between) >= _APART * max(within)


def _is_wrapped(
    above: tuple[Row, Sequence[_Cell]],
    line: tuple[Row, Sequence[_Cell]],
    below: Row | None,
    columns: Sequence[_Column],
) -> bool:
    """Whether a line goes on what the first column says.

    It has words there alone, the first of them did not fit above, and it begins small or stands nearer to the line
    above than to the next.
    """
    if not line[1][0] or any(line[1][1:]) or not any(above[1][1:]):
        return False
    if not _is_full(above[1][0], line[1][0], columns[0]):
        return False
    distance = line[0].base - above[0].base
    return line[0].text[:1].islower() or (below is not None and distance < 0.9 * (below.base - line[0].base))


def _is_full(one: _Cell, other: _Cell, column: _Column) -> bool:
    """Whether the first word of a cell would not have fitted in the cell above."""
    first = other[0].words[0]
    return bool(one) and one[-1].box[2] + first.box[2] - first.box[0] + 0.25 * first.size > column.right


def _goes_on(above: Sequence[_Cell], below: Sequence[_Cell], columns: Sequence[_Column]) -> bool:
    """Whether a line's words go on in the next: the first column is empty there, and no word more fitted here."""
    if below[0]:
        return False
    return all(
        _is_full(one, other, column)
        for one, other, column in zip(above, below, columns, strict=True)
        if other
    )
