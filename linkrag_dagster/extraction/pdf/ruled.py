"""Tables with rules: the grid from the page's lines, the cells from its words by position (XT-03, XT-06)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import Any

from linkrag_dagster.extraction.pdf.aligned import aligned_tables
from linkrag_dagster.extraction.pdf.hyphens import Vocabulary, join_lines
from linkrag_dagster.extraction.pdf.row_rules import row_grids
from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.rules import SNAP, THIN, Line, rules_of
from linkrag_dagster.extraction.pdf.table import Table, TableRow, same_columns
from linkrag_dagster.extraction.pdf.words import PageText, Segment, Word, holds, segment, union, within

_LEAST_FILLED = 0.25
"""Share of a grid's cells with words, below which it is a form or a chart and no table."""
_LEAST_IN_COLUMNS = 5
"""Words of three rows in two columns, of which one is empty in one."""


def ruled_tables(
    page: Any,
    drawings: Sequence[Any],
    text: PageText,
    known: Vocabulary,
    above: Table | None = None,
    furniture: Set[int] = frozenset(),
) -> list[Table]:
    """The ruled tables of a page, from top to bottom.

    A single row is none, unless it stands first and has the columns of `above`, the table at the foot of the page
    before. Segments of `furniture` (by identity) are in no table that has rules across alone.
    """
    if not text.segments:
        return []
    across, upright = rules_of(page, drawings, text)
    tables: list[Table] = []
    for lines_across, lines_upright in _grids(across, upright):
        table = _read(lines_across, lines_upright, text, known)
        if table is not None and not any(within(table.box, other.box, 3.0) for other in tables):
            tables.append(table)
    kept = replace(text, segments=tuple(s for s in text.segments if id(s) not in furniture))
    kept = replace(kept, segments=without(kept.segments, tables))
    for lines_across, lines_upright in row_grids(across, upright, kept.segments):
        table = _read(lines_across, lines_upright, kept, known)
        if table is not None:
            tables.append(_of_words(table))
            kept = replace(kept, segments=without(kept.segments, [table]))
    tables.sort(key=lambda table: (table.box[1], table.box[0]))
    return [
        table
        for at, table in enumerate(tables)
        if len(table.rows) > 1 or (at == 0 and above is not None and same_columns(above, table) is not None)
    ]


def _of_words(table: Table) -> Table:
    """A table whose columns only its words tell."""
    columns = [
        union(place for row in table.rows if (place := row.places[at]) is not None)
        for at in range(len(table.columns))
    ]
    return replace(table, columns=tuple((left, right) for left, _, right, _ in columns), ruled=False)


def without(segments: Sequence[Segment], tables: Sequence[Table]) -> tuple[Segment, ...]:
    """Segments without the words of tables (by identity).

    Before: a note's mark, or `CONFIDENTIAL` across the page, stands in a table's box, in no cell, and is lost.
    After: it is in the text or left out, as it is on a page without the table.
    """
    if not tables:
        return tuple(segments)
    held = {id(word) for table in tables for word in table.words}
    kept: list[Segment] = []
    for one in segments:
        words = [word for word in one.words if id(word) not in held]
        if len(words) == len(one.words):
            kept.append(one)
        elif words:
            kept.append(segment(words))
    return tuple(kept)


def _grids(across: Sequence[Line], upright: Sequence[Line]) -> Iterator[tuple[list[Line], list[Line]]]:
    """Lines that cross or touch each other, directly or through others."""
    roots = list(range(len(across) + len(upright)))

    def root(at: int) -> int:
        while roots[at] != at:
            roots[at] = roots[roots[at]]
            at = roots[at]
        return at

    for i, one in enumerate(across):
        for j, other in enumerate(upright, len(across)):
            if other.at > one.end + SNAP:
                break  # upright lines are sorted by their distance from the left
            if one.start - SNAP <= other.at and other.start - SNAP <= one.at <= other.end + SNAP:
                roots[root(i)] = root(j)
    groups: dict[int, tuple[list[Line], list[Line]]] = {}
    for i, line in enumerate([*across, *upright]):
        groups.setdefault(root(i), ([], []))[i >= len(across)].append(line)
    yield from (group for group in groups.values() if len(group[0]) > 1 and len(group[1]) > 1)


def _read(across: Sequence[Line], upright: Sequence[Line], text: PageText, known: Vocabulary) -> Table | None:
    ys = _places(line.at for line in across)
    xs = _places(line.at for line in upright)
    # A table may be open at its sides: its rules then end where its columns do.
    left, right = min(line.start for line in across), max(line.end for line in across)
    ys = _with_open_ends(ys, xs, upright)
    xs = ([left] if left < xs[0] - 2 * THIN else []) + xs + ([right] if right > xs[-1] + 2 * THIN else [])
    ys = _without_titles(ys, xs, upright)
    if len(xs) < 3 or len(ys) < 2:
        return None
    box = (xs[0], ys[0], xs[-1], ys[-1])
    words = [word for one in text.segments for word in one.words if holds(box, word.box, 1.0)]
    ys = _with_rows_of_text(words, xs, ys)
    columns, rows = len(xs) - 1, len(ys) - 1
    held: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        at = _index(ys, (word.box[1] + word.box[3]) / 2), _index(xs, (word.box[0] + word.box[2]) / 2)
        held.setdefault(at, []).append(word)
    heads = _spans(rows, columns, xs, ys, across, upright)
    cells: dict[tuple[int, int], list[Word]] = {}
    for at, found in held.items():
        cells.setdefault(heads[at], []).extend(found)
    if len({column for _, column in held}) < 2 or len(held) < _LEAST_FILLED * rows * columns:
        return None
    if any(
        aligned_tables(rows_of(_cut(found)), known, prose=1, least=2)
        for found in cells.values()
        if len(found) >= _LEAST_IN_COLUMNS
    ):
        return None  # a frame around writing that stands in columns of its own
    texts = {at: _cell(found, known) for at, found in cells.items()}
    made: list[TableRow] = []
    for r in range(rows):
        filled = [texts.get(heads[r, c], "") for c in range(columns)]
        own = [word.place for c in range(columns) for word in cells.get(heads[r, c], ())]
        places = [
            union(word.place for word in found) if (found := cells.get((r, c))) else None
            for c in range(columns)
        ]
        if own and (not made or any((r, c) == heads[r, c] and texts.get((r, c)) for c in range(columns))):
            bold = all(word.bold for c in range(columns) for word in cells.get(heads[r, c], ()))
            made.append(TableRow(tuple(filled), union(own), tuple(places), bold))
    if not made:
        return None
    kept = [c for c in range(columns) if any(row.cells[c] for row in made)]
    whole = tuple(
        replace(row, cells=tuple(row.cells[c] for c in kept), places=tuple(row.places[c] for c in kept))
        for row in made
    )
    return Table(whole, box, tuple((xs[c], xs[c + 1]) for c in kept), ruled=True, words=tuple(words))


def _with_open_ends(ys: Sequence[float], xs: Sequence[float], upright: Sequence[Line]) -> list[float]:
    """The grid with the row above its first rule, and below its last, where all upright lines go on there.

    Before: a page begins within a table, and its first row, which has no rule above, is a paragraph.
    After: it is a row, as high as the upright lines are.
    """
    reach = [[line for line in upright if abs(line.at - x) <= 2 * THIN] for x in xs]
    top = max(min(line.start for line in lines) for lines in reach)
    bottom = min(max(line.end for line in lines) for lines in reach)
    above = [top] if top < ys[0] - 2 * THIN else []
    below = [bottom] if bottom > ys[-1] + 2 * THIN else []
    return [*above, *ys, *below]


def _without_titles(ys: Sequence[float], xs: Sequence[float], upright: Sequence[Line]) -> list[float]:
    """The grid without rows above and below that have one cell: a title or a note in a frame, text like any other."""

    def is_one(top: float, bottom: float) -> bool:
        return not any(_covered(upright, x, top, bottom) for x in xs[1:-1])

    first, last = 0, len(ys) - 1
    while first < last and is_one(ys[first], ys[first + 1]):
        first += 1
    while first < last and is_one(ys[last - 1], ys[last]):
        last -= 1
    return list(ys[first : last + 1])


def _places(values: Iterator[float] | Sequence[float]) -> list[float]:
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > 2 * THIN:
            places.append(value)
    return places


def _index(places: Sequence[float], value: float) -> int:
    for at in range(1, len(places)):
        if value < places[at]:
            return at - 1
    return len(places) - 2


def _with_rows_of_text(words: Sequence[Word], xs: Sequence[float], ys: Sequence[float]) -> list[float]:
    """Rows of the grid, cut further where one holds several rows of data that no rule separates."""
    made = [ys[0]]
    for top, bottom in pairwise(ys):
        inside = [w for w in words if top <= (w.box[1] + w.box[3]) / 2 < bottom]
        lines = rows_of(segment([w]) for w in inside) if inside else []
        if _are_rows(lines, xs):
            made += [(one.box[3] + other.box[1]) / 2 for one, other in pairwise(lines)]
        made.append(bottom)
    return made


def _are_rows(lines: Sequence[Row], xs: Sequence[float]) -> bool:
    """Whether lines of writing between two rules are rows of their own: each fills the first column and most others.

    Cells of words that go on in a second line do so too by chance; of two or three lines it is numbers that tell.
    """
    if len(lines) < 2:
        return False
    filled = [{_index(xs, (w.box[0] + w.box[2]) / 2) for w in line.words} for line in lines]
    used = {column for one in filled for column in one}
    if len(used) < 3 or any(min(used) not in one or len(one) < 0.6 * len(used) for one in filled):
        return False
    cells = [w.text for line in lines for w in line.words]
    return len(lines) > 3 or sum(any(map(str.isdigit, cell)) for cell in cells) >= 0.5 * len(cells)


def _spans(
    rows: int,
    columns: int,
    xs: Sequence[float],
    ys: Sequence[float],
    across: Sequence[Line],
    upright: Sequence[Line],
) -> dict[tuple[int, int], tuple[int, int]]:
    """Each place of the grid → the first place of its cell: places without a line between them are one cell."""
    heads = {(r, c): (r, c) for r in range(rows) for c in range(columns)}
    drawn = set(_places(line.at for line in across))
    for r in range(rows):
        for c in range(1, columns):
            if not _covered(upright, xs[c], ys[r], ys[r + 1]):
                heads[r, c] = heads[r, c - 1]
    for r in range(1, rows):
        # A border that was found between rows of writing is no line, and separates all the same.
        if not any(abs(ys[r] - at) < 0.01 for at in drawn):
            continue
        for c in range(columns):
            if heads[r, c] == (r, c) and not _covered(across, ys[r], xs[c], xs[c + 1]):
                above = heads[r - 1, c]
                same_width = all(
                    (heads[r, k] == (r, c)) == (heads[r - 1, k] == above) for k in range(above[1], columns)
                )
                if above[1] == c and same_width:
                    for k in range(c, columns):
                        if heads[r, k] == (r, c):
                            heads[r, k] = above
    return heads


def _covered(lines: Sequence[Line], at: float, start: float, end: float) -> bool:
    length = 0.0
    for line in lines:
        if abs(line.at - at) <= 2 * THIN:
            length += max(0.0, min(line.end, end) - max(line.start, start))
    return length >= 0.5 * (end - start)


def _cell(words: Sequence[Word], known: Vocabulary) -> str:
    if len(words) == 1:
        return words[0].text
    lines: list[Row] = rows_of(_cut(words))
    return join_lines([line.text for line in lines], known)


def _cut(words: Sequence[Word]) -> list[Segment]:
    """Words of a cell as they follow each other on the page, one segment for each run in a line."""
    runs: list[list[Word]] = []
    for word in words:
        last = runs[-1][-1] if runs else None
        if last is not None and abs(last.base - word.base) < 0.5 and not last.space:
            runs[-1].append(word)
        else:
            runs.append([word])
    return [segment([*run[:-1], replace(run[-1], space=False) if run[-1].space else run[-1]]) for run in runs]
