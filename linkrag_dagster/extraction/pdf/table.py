"""A table as found on a page, whichever way it was found."""

from __future__ import annotations

from dataclasses import dataclass

from linkrag_dagster.extraction.pdf.words import Box


@dataclass(frozen=True, slots=True)
class TableRow:
    """Words of a row's cells, and the box of the row's words on the page as shown."""

    cells: tuple[str, ...]
    place: Box


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `box` in the coordinates of the words' boxes."""

    rows: tuple[TableRow, ...]
    box: Box
