"""Tables of a page: which hold data, and their cells as a grid (XT-06)."""

from __future__ import annotations

from dataclasses import dataclass

from justhtml import Element

from linkrag_dagster.extraction.html.inline import flat
from linkrag_dagster.extraction.html.source import Source
from linkrag_dagster.extraction.html.visibility import Node, attribute, is_shown

_SPREAD = 4
"""How many times its own cells a table may grow by repeating those that span; beyond that they are not repeated."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of Markdown cells and where it stands in the source."""

    cells: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table of data. `header`: whether the first row names the columns."""

    rows: tuple[Row, ...]
    header: bool


def rows_of(table: Element) -> list[tuple[Element, bool]]:
    """The shown rows of a table, not of tables inside it, each with whether it stands in `thead`."""
    found: list[tuple[Element, bool]] = []
    for child in table.children:
        if not isinstance(child, Element) or not is_shown(child):
            continue
        if child.name == "tr":
            found.append((child, False))
        elif child.name in ("thead", "tbody", "tfoot"):
            found += [
                (row, child.name == "thead")
                for row in child.children
                if isinstance(row, Element) and row.name == "tr" and is_shown(row)
            ]
    return found


def cells_of(row: Element) -> list[Element]:
    return [c for c in row.children if isinstance(c, Element) and c.name in ("td", "th") and is_shown(c)]


def is_data(table: Element) -> bool:
    """Whether rows and columns mean something. A single column, or a single row without heads, is arrangement."""
    if (attribute(table, "role") or "").lower() in ("presentation", "none"):
        return False
    rows = [(cells_of(row), head) for row, head in rows_of(table)]
    rows = [(cells, head) for cells, head in rows if cells]
    if max((len(cells) for cells, _ in rows), default=0) < 2:
        return False
    heads = any(head or any(cell.name == "th" for cell in cells) for cells, head in rows)
    return len(rows) > 1 or heads


def read_table(table: Element, source: Source) -> Table | None:
    """The cells of a table of data; a cell that spans rows or columns stands in each. None without words."""
    rows = rows_of(table)
    own = sum(len(cells_of(row)) for row, _ in rows)
    limit = _SPREAD * own + 64
    spread = sum(
        _span(c, "colspan") * min(_span(c, "rowspan"), len(rows)) for row, _ in rows for c in cells_of(row)
    )
    spans = spread <= limit
    made: list[Row] = []
    kinds: list[tuple[bool, list[str]]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column → rows still to fill, words
    for row, in_head in rows:
        cells: list[str] = []
        names: list[str] = []
        start: int | None = None
        end: int | None = None
        for cell in cells_of(row):
            _hang(cells, hanging)
            inline = flat(cell, source)
            words = inline.line()
            if inline.start is not None and inline.end is not None:
                start = inline.start if start is None else min(start, inline.start)
                end = inline.end if end is None else max(end, inline.end)
            names.append(cell.name)
            for _ in range(_span(cell, "colspan") if spans else 1):
                if spans and (down := _span(cell, "rowspan")) > 1:
                    hanging[len(cells)] = (down - 1, words)
                cells.append(words)
        _hang(cells, hanging)
        if any(cells):
            where = source.tag_of(row)
            made.append(
                Row(tuple(cells), where[0] if start is None else start, where[1] if end is None else end)
            )
            kinds.append((in_head, names))
    if not made:
        return None
    return Table(tuple(made), _names_columns(kinds))


def _hang(cells: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Fills the places that cells of rows above reach down into."""
    while (held := hanging.get(len(cells))) is not None:
        left, words = held
        if left == 1:
            del hanging[len(cells)]
        else:
            hanging[len(cells)] = (left - 1, words)
        cells.append(words)


def _names_columns(kinds: list[tuple[bool, list[str]]]) -> bool:
    in_head, names = kinds[0]
    if in_head or all(name == "th" for name in names):
        return True
    # A head at the left alone names rows. Without any head the first row most often names the columns.
    return names[0] != "th"


def _span(cell: Node, name: str) -> int:
    value = (attribute(cell, name) or "1").strip()
    return min(1_000, max(1, int(value))) if value.isascii() and value.isdigit() and len(value) < 6 else 1
