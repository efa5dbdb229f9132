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
from linkrag_dagster.extraction.pdf.table import LEAST_STRIP, Table, TableRow, is_number, moves
from linkrag_dagster.extraction.pdf.words import Box, Segment, union

_LEAST_ROWS = 3
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
_NEXT_LINE, _NEXT_ROW = 1.08, 1.15
"""Times the least distance of lines, up to which they are in one row, and from which on they are not."""
_LEAST_JUSTIFIED = 0.5
"""Share of lines that fill a paragraph's width: a long word leaves the one above it short."""
_NO_WORDS = Vocabulary(Counter(), False)
_Cell = list[Segment]
_Line = tuple[Row, list[_Cell]]


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


def continuing_table(rows: Sequence[Row], above: Table, known: Vocabulary) -> Table | None:
    """The first rows of a page as the rest of a table without rules at the foot of the page before.

    For a rest of so few rows that they are no table by themselves. Each fills two columns or more, or goes on what the
    row before says.

    Before: the rest of a register, `G-046   1991   0.37`, is a paragraph at the head of the next page.
    After: it is a table of one row, to be joined with the one above.
    """
    for moved in moves(above, rows[0].box[0]) if rows else ():
        columns = [_known(left + moved, right + moved) for left, right in above.columns]
        apart = _apart(above)
        lines = _continuing(rows[: 2 * _LEAST_ROWS], columns, apart)
        if lines and sum(sum(map(bool, cells)) > 1 for _, cells in lines) < _LEAST_ROWS:
            return _made([one for one, _ in lines], _groups(lines, columns, apart), columns, known)
    return None


def _apart(table: Table) -> float:
    """The least distance from a row's last line to the next row's first; 0 of a single row."""
    line = min(row.place[3] - row.place[1] for row in table.rows)
    return min((other.place[1] - one.place[3] + line for one, other in pairwise(table.rows)), default=0.0)


def _known(left: float, right: float) -> _Column:
    """A column that two rows bear out, so that no part crosses from it to the next."""
    return _Column(left, right, {-2, -1}, ({round(left)}, {round(right)}, {round((left + right) / 2)}))


def _continuing(rows: Sequence[Row], columns: list[_Column], apart: float) -> list[_Line]:
    """Lines of the first rows, as long as they go into the columns, which they widen."""
    lines: list[_Line] = []
    for at, one in enumerate(rows):
        made = list(columns)
        if (at and not _follows(rows[at - 1], one)) or not _add(made, one, at) or len(made) != len(columns):
            break
        cells = _cells(one, made)
        if sum(map(bool, cells)) < 2 and not (
            lines and (_goes_on(lines[-1][1], cells, made) or _is_wrapped(lines, (one, cells), apart, made))
        ):
            break
        columns[:] = made
        lines.append((one, cells))
    return lines


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
    slack = LEAST_STRIP * row.size
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
    if len(columns) == 2 and (_is_list(columns[0]) or _is_justified(rows, run)):
        return None
    groups = _groups(lines, run.columns)
    # Of two columns the lines are counted, since a hanging paragraph has them too; of more, the rows that they make.
    if shared < _LEAST_SHARED * len(lines if len(columns) == 2 else groups):
        return None
    if too_many > 0 and not _are_set_apart([[line.base for line, _ in group] for group in groups]):
        return None
    return _made(members, groups, run.columns, known) if len(groups) > 1 else None


def _groups(lines: Sequence[_Line], columns: Sequence[_Column], apart: float = 0.0) -> list[list[_Line]]:
    """Lines by the rows that they make; behind the last row the rows before, or `apart`, tell how far they stand off.

    Before: the last row of a table, `Between Observed | 39.6` and `Gradual |` below it, is two, since no row follows.
    After: `Between Observed Gradual | 39.6`, as in rows above, whose lines stand nearer to each other than rows do.
    """
    spaced = _groups_by_space(lines)
    if spaced is not None:
        return spaced
    groups: list[list[_Line]] = []
    for line, room in zip(lines, _rooms(lines), strict=True):
        above = groups[-1] if groups else []
        if room is None:
            between = [other[0][0].base - one[-1][0].base for one, other in pairwise(groups)]
            room = min(between, default=apart)
        if above and (_goes_on(above[-1][1], line[1], columns) or _is_wrapped(above, line, room, columns)):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _groups_by_space(lines: Sequence[_Line]) -> list[list[_Line]] | None:
    """Lines by the space between them, where that alone tells the rows; None where it doesn't.

    It does where all distances are those of lines in a row or clearly wider ones between rows, each row begins in the
    first column and another, and each of several lines has a cell of one line, and no number below another: rows in
    blocks have several.

    Before: `Regional | Between the threshold and | C377` and `temperature | the estuary |` below it are two rows.
    After: `Regional temperature | Between the threshold and the estuary | C377`.
    """
    distances = [other.base - one.base for (one, _), (other, _) in pairwise(lines)]
    within = min(distances, default=0.0)
    if within <= 0 or any(_NEXT_LINE * within < distance < _NEXT_ROW * within for distance in distances):
        return None
    groups = [[lines[0]]]
    for line, distance in zip(lines[1:], distances, strict=True):
        if distance <= _NEXT_LINE * within:
            groups[-1].append(line)
        else:
            groups.append([line])
    if len(groups) < _LEAST_ROWS or len(groups) == len(lines):
        return None
    return groups if all(map(_is_row, groups)) else None


def _is_row(group: Sequence[_Line]) -> bool:
    first = group[0][1]
    if not first[0] or sum(map(bool, first)) < 2:
        return False
    columns = [
        [cell for cell in column if cell] for column in zip(*(cells for _, cells in group), strict=True)
    ]
    if any(sum(map(_is_number, column)) > 1 for column in columns):
        return False
    return len(group) == 1 or any(first[at] and len(column) == 1 for at, column in enumerate(columns))


def _rooms(lines: Sequence[_Line]) -> list[float | None]:
    """How far the next row, known by its first cell and another, stands off from the line before it."""
    found: list[float | None] = [None]
    for (one, _), (other, cells) in reversed(list(pairwise(lines))):
        begins = bool(cells[0]) and any(cells[1:])
        found.append(other.base - one.base if begins else found[-1])
    return found[::-1]


def _made(
    members: Sequence[Row], groups: Sequence[Sequence[_Line]], columns: Sequence[_Column], known: Vocabulary
) -> Table:
    rows = tuple(
        TableRow(
            tuple(_text([cells[at] for _, cells in group], known) for at in range(len(columns))),
            union(word.place for one, _ in group for word in one.words),
            tuple(_place([cells[at] for _, cells in group]) for at in range(len(columns))),
            all(word.bold for one, _ in group for word in one.words),
        )
        for group in groups
    )
    ends = tuple((one.left, one.right) for one in columns)
    words = tuple(word for one in members for word in one.words)
    return Table(rows, union(one.box for one in members), ends, ruled=False, words=words)


def _cells(row: Row, columns: Sequence[_Column]) -> list[_Cell]:
    cells: list[_Cell] = [[] for _ in columns]
    for part in row.segments:
        middle = (part.box[0] + part.box[2]) / 2
        cells[next(at for at, one in enumerate(columns) if middle <= one.right)].append(part)
    return cells


def _text(lines: Sequence[_Cell], known: Vocabulary) -> str:
    return join_lines([" ".join(part.text for part in cell) for cell in lines if cell], known)


def _place(lines: Sequence[_Cell]) -> Box | None:
    places = [word.place for cell in lines for part in cell for word in part.words]
    return union(places) if places else None


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


def _is_justified(rows: Sequence[Row], run: _Run) -> bool:
    """Whether rows are lines of prose, set to one width as the next one above or below is.

    Before: `Behörden 511,26 Meter.   Der Behörden` and two such lines below it are a table within a paragraph.
    After: they are lines of it, since the line above them is as wide, and at the distance of the next line.
    """
    members = rows[run.first : run.last + 1]
    left, right = min(one.box[0] for one in members), max(one.box[2] for one in members)
    wide = [one for one in members if _spans(one, left, right)]
    if len(wide) < _LEAST_JUSTIFIED * len(members):
        return False
    pitch = median(other.base - one.base for one, other in pairwise(members))
    return any(
        0 <= at < len(rows)
        and (len(rows[at].words) > 3 or len(rows[at].words) > len(rows[at].segments) == 1)
        and abs(rows[at].size - members[0].size) < 0.3
        and abs(rows[at].base - rows[inner].base) <= 1.1 * pitch
        and _spans(rows[at], left, right)
        for at, inner in ((run.first - 1, run.first), (run.last + 1, run.last))
    )


def _spans(one: Row, left: float, right: float) -> bool:
    return abs(one.box[0] - left) <= 2.0 and abs(one.box[2] - right) <= 2.0


def _are_set_apart(groups: Sequence[Sequence[float]]) -> bool:
    """Whether rows of several lines, given by their bases, have more space between than within them."""
    within = [other - one for group in groups for one, other in pairwise(group)]
    between = [other[0] - one[-1] for one, other in pairwise(groups)]
    return bool(within) and bool(between) and min(between) >= _APART * max(within)


def _is_wrapped(above: Sequence[_Line], line: _Line, room: float, columns: Sequence[_Column]) -> bool:
    """Whether a line goes on what the first column says in the lines above, a row.

    It has words there alone, the first of them did not fit above, and it begins small or stands nearer to the line
    above than the next does to it, which is `room`.
    """
    if not line[1][0] or any(line[1][1:]) or not any(any(cells[1:]) for _, cells in above):
        return False
    if not _is_full(above[-1][1][0], line[1][0], columns[0]):
        return False
    distance = line[0].base - above[-1][0].base
    return line[0].text[:1].islower() or distance < 0.9 * room


def _is_full(one: _Cell, other: _Cell, column: _Column) -> bool:
    """Whether the first word of a cell would not have fitted in the cell above."""
    first = other[0].words[0]
    return bool(one) and one[-1].box[2] + first.box[2] - first.box[0] + 0.25 * first.size > column.right


def _goes_on(above: Sequence[_Cell], below: Sequence[_Cell], columns: Sequence[_Column]) -> bool:
    """Whether a line's words go on in the next: the first column is empty there, and no word more fitted here.

    Before: the sums below an invoice, `Total due` and `1,444.93`, are words of its last row, `9 | 954.48`.
    After: they are a row, since no number goes on in another.
    """
    if below[0]:
        return False
    return all(
        _is_full(one, other, column) and not (_is_number(one) and _is_number(other))
        for one, other, column in zip(above, below, columns, strict=True)
        if other
    )


def _is_number(cell: _Cell) -> bool:
    return is_number("".join(part.text for part in cell))
