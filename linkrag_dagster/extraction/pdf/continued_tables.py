"""Tables over several pages as one (XT-06): the rest at the head of a page joined with what stands at the foot before.

What is said again for readers who turn pages, the head and "Table 3 (continued)", is said once in the text; each
repetition is told as left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeVar

from linkrag_dagster.extraction.pdf.blocks import PAGE_BREAK, Block, CellLines, TextLine
from linkrag_dagster.extraction.pdf.captions import plain, says_continued, without_continued
from linkrag_dagster.extraction.pdf.hyphens import Vocabulary, junction
from linkrag_dagster.extraction.pdf.table import Table, TableRow, same_columns
from linkrag_dagster.markdown.captions import TABLE, is_caption

_FOOT = 0.8
"""Share of the page's height down to which text reaches, where no page tells."""
_ROOM = 3.0
"""Times the height of a usual row that may be free below a table that goes on, besides the room for its next row."""
_STOPS = (".", "!", "?", ":", ";", "\u3002", "\uff01", "\uff1f", "\uff1b")


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """A page's blocks: its columns in reading order, and its footnotes.

    Attributes:
        columns, notes: blocks from top to bottom.
        height: of the page, in the coordinates of the words' boxes.
        foot: how far down its words and tables reach.
        upright: whether its lines run as the page is shown.
    """

    columns: tuple[Sequence[Block], ...]
    notes: Sequence[Block]
    height: float
    foot: float
    upright: bool = True


@dataclass(frozen=True, slots=True)
class _Rest:
    """What of a page's first column goes with the table before, what is left of it, and what it says again."""

    table: Table
    page: int
    column: list[Block]
    again: list[TextLine]


def joined_tables(pages: Sequence[PageBlocks], known: Vocabulary) -> tuple[list[list[Block]], list[TextLine]]:
    """All columns of a document with its tables over pages as one, and lines that pages say again.

    A table that ends a page and one that begins the next are one when their columns stand at the same places, the
    first reaches the foot of its page, and the second has no head and no caption of its own. Footnotes of a page stand
    before a table that leaves it. A row that goes on behind the page's end is joined where its cells tell for sure
    (`_is_broken`).

    Before: `| Account | Debit |` with 38 rows, and on the next page `| Account | Debit |` with 11.
    After: `| Account | Debit |` with 49 rows; the second head is a line of the second list.
    """
    foot = max((page.foot for page in pages), default=0.0)
    made: list[list[Block]] = []
    again: list[TextLine] = []
    at: int | None = None  # the column of `made` that ends with the table at the foot of the page before
    before: PageBlocks | None = None
    captions: list[str] = []
    for page in pages:
        columns = [list(column) for column in page.columns if column]
        found = None
        if at is not None and before is not None and columns:
            found = _rest(made[at], before, columns[0], captions, foot)
        if at is not None and found is not None:
            again += [*_marks_below(made[at]), *found.again]
            above = made[at].pop()
            joined = _joined(above, found, known)
            if any(line.page != above.page for line in above.lines):
                made[at].append(joined)
            else:  # behind the footnotes of the page that it leaves
                made.append([joined])
                at = len(made) - 1
            columns = [rest for rest in (found.column, *columns[1:]) if rest]
        captions += [block.text for column in columns for block in column if TABLE.match(block.text)]
        made += columns
        if columns or found is None:  # else all of the page is the rest of the table, which may go on
            at = len(made) - 1 if columns and _table_below(columns[-1]) is not None else None
        before = page
        made.append(list(page.notes))
    return made, again


def table_at_foot(page: PageBlocks) -> Table | None:
    """The table that ends a page, above its footnotes."""
    columns = [column for column in page.columns if column]
    found = _table_below(columns[-1]) if columns else None
    return None if found is None else found.table


def _table_below(column: Sequence[Block]) -> Block | None:
    """A column's last block where it is a table, but for a line that says that it goes on."""
    for block in reversed(column[-2:]):
        if block.kind == "table":
            return block
        if not _is_mark(block, ()):
            return None
    return None


def _marks_below(column: list[Block]) -> list[TextLine]:
    """Takes the lines below a column's last table, which say that it goes on, from the column."""
    found: list[TextLine] = []
    while column and column[-1].kind != "table":
        found = [*column.pop().lines, *found]
    return found


def _rest(
    above: Sequence[Block], before: PageBlocks, column: Sequence[Block], captions: Sequence[str], foot: float
) -> _Rest | None:
    """What of a page's first column is the rest of the table at the foot of the page before."""
    one = _table_below(above)
    if one is None or one.table is None:
        return None
    head = 0
    while head < min(2, len(column)) and _is_mark(column[head], captions):
        head += 1
    other = column[head] if head < len(column) else None
    if other is None or other.table is None:
        return None
    places = same_columns(one.table, other.table)
    if places is None:
        return None
    count = len(one.table.columns)
    rows = [
        replace(
            row, cells=_spread(row.cells, places, count, ""), places=_spread(row.places, places, count, None)
        )
        for row in other.table.rows
    ]
    repeated = _repeated(one.table.rows, rows)
    own = _has_own_head(one.table.rows, rows) or (
        _are_words(rows[0]) and _has_own_caption(above, column[head + 1 :])
    )
    if own and not repeated:
        return None
    below = rows[repeated:]
    if not _reaches_foot(one.table, below[:1], before, foot):
        return None
    again = [line for block in column[:head] for line in block.lines]
    again += [TextLine(" ".join(filter(None, row.cells)), other.page, row.place) for row in rows[:repeated]]
    table = replace(other.table, rows=tuple(below), columns=one.table.columns)
    return _Rest(table, other.page, list(column[head + 1 :]), again)


def _spread(held: Sequence[_T], places: Sequence[int], count: int, nothing: _T) -> tuple[_T, ...]:
    """What cells hold, at their places among all columns."""
    at_places = dict(zip(places, held, strict=True))
    return tuple(at_places.get(at, nothing) for at in range(count))


def _is_mark(block: Block, captions: Collection[str]) -> bool:
    """Whether a block says no more than that a table goes on."""
    return block.kind != "table" and says_continued(" ".join(block.text.split()), captions)


def _repeated(rows: Sequence[TableRow], others: Sequence[TableRow]) -> int:
    """How many rows of the head another part repeats: from the first on, words and no values alone."""
    count = 0
    for one, other in zip(rows, others, strict=False):
        said = [plain(without_continued(cell)) for cell in other.cells]
        if said != [plain(cell) for cell in one.cells] or not any(map(_is_words, other.cells)):
            break
        count += 1
    return count


def _is_words(cell: str) -> bool:
    return any(map(str.isalpha, cell)) and not any(map(str.isdigit, cell))


def _has_own_head(rows: Sequence[TableRow], others: Sequence[TableRow]) -> bool:
    """Whether another part begins with a head that is not the first one's: bold, or words above values, as that is."""
    bold = rows[0].bold and others[0].bold and not all(row.bold for row in (*rows, *others))
    return (bold or (_is_above_values(rows) and _is_above_values(others))) and _are_words(others[0])


def _has_own_caption(above: Sequence[Block], after: Sequence[Block]) -> bool:
    """Whether what stands right below another part, which begins as heads do, is the caption of that part alone.

    One with the number of the caption above the first part is not, nor one that a table follows, or a picture of
    one: it is theirs.

    Before: `| Name | City |` with 43 rows of words, `| Tool | Use |` with 14 and `Table 2. Tools` below are one table.
    After: they are two.
    """
    near = after[:3]  # the caption, a line as `in thousands`, a table
    if not near or not is_caption(near[0].text) or any(block.kind in ("table", "image") for block in near):
        return False
    tables = [at for at, block in enumerate(above) if block.kind == "table"]
    first = above[tables[-1] - 1].text if tables[-1] > 0 else ""
    return _label(near[0].text) != _label(first)


def _label(caption: str) -> str:
    found = TABLE.match(caption)
    return plain(found[0]) if found is not None else ""


def _are_words(row: TableRow) -> bool:
    return all(_is_words(cell) for cell in row.cells if cell)


def _is_above_values(rows: Sequence[TableRow]) -> bool:
    """Whether the first row is words, also where a column below holds numbers."""
    first, below = rows[0], rows[1:]
    return _are_words(first) and any(
        sum(any(map(str.isdigit, row.cells[at])) for row in below) * 2 > len(below)
        for at in range(len(first.cells))
        if first.cells[at]
    )


def _reaches_foot(table: Table, below: Sequence[TableRow], page: PageBlocks, foot: float) -> bool:
    """Whether a row more would not have fitted below a table."""

    def height(row: TableRow) -> float:
        left, top, right, bottom = row.place
        return bottom - top if page.upright else right - left

    end = max(foot, _FOOT * page.height)
    if page.upright:
        end = min([end, *(note.box[1] for note in page.notes)])
    room = _ROOM * median(height(row) for row in table.rows) + max(map(height, below), default=0.0)
    return end - table.box[3] <= room


def _joined(above: Block, rest: _Rest, known: Vocabulary) -> Block:
    rows, others = list(above.cells), [row.cells for row in rest.table.rows]
    lines = [TextLine("", rest.page, row.place) for row in rest.table.rows]
    held: tuple[TableRow, ...] = () if above.table is None else above.table.rows
    broken = dict(above.broken)
    last = len(rows) - 1
    # A row that lies over three pages is left in two: its first rest has its place already.
    parts = [*held[-1:], *rest.table.rows[:1]]
    if last > 0 and last not in broken and len(parts) > 1 and _is_broken(rows, others, *parts):
        broken[last] = _lines(parts[0], above.lines[-1].page), _lines(parts[1], rest.page)
        rows[-1] = tuple(
            _gone_on(one, other, known) for one, other in zip(rows[-1], others.pop(0), strict=True)
        )
        del lines[0]
    return replace(
        above,
        cells=(*rows, *others),
        lines=[*above.lines, *lines],
        broken=broken,
        table=replace(rest.table, rows=(*held, *rest.table.rows)),
    )


def _lines(row: TableRow, page: int) -> CellLines:
    return tuple(None if place is None else TextLine("", page, place) for place in row.places)


def _is_broken(
    rows: Sequence[tuple[str, ...]], others: Sequence[tuple[str, ...]], above: TableRow, below: TableRow
) -> bool:
    """Whether the first row of a page goes on what the last row of the page before says, for sure.

    Its first cell is empty, as that of no other row is, and all that it says goes on a cell of words that has no end:
    it begins small, or behind a hyphen or a comma.

    Before: `| B-7 | pump and |`, `|  | its seal |`.
    After: `| B-7 | pump and its seal |`.
    """
    first, last = others[0], rows[-1]
    if first[0] or not last[0] or not all(row[0] for row in (*rows[1:], *others[1:])):
        return False
    if any(
        (one is None or not cell) and other
        for one, cell, other in zip(above.places, first, below.places, strict=True)
    ):
        return False
    if any(cell and other is None for cell, other in zip(first, below.places, strict=True)):
        return False  # it spans columns
    return all(_goes_on(one, other) for one, other in zip(last, first, strict=True) if other)


def _goes_on(one: str, other: str) -> bool:
    return (
        any(map(str.isalpha, one))
        and not one.endswith(_STOPS)
        and (other[:1].islower() or one.endswith(("-", "\u2010", "\u00ad", ",")))
    )


def _gone_on(one: str, other: str, known: Vocabulary) -> str:
    if not other:
        return one
    dropped, between = junction(one, other, known)
    return f"{one[: len(one) - dropped]}{between}{PAGE_BREAK}{other}"
