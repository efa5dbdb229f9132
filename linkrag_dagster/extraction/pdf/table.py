"""A table as found on a page, whichever way it was found."""

from __future__ import annotations

from dataclasses import dataclass

from linkrag_dagster.extraction.pdf.words import Box, Word

LEAST_STRIP = 0.6
"""Width of a strip between two columns, in font sizes."""
_SAME = 4.0
"""Points by which a column's end may differ on another page."""
_MOST_MOVED = 60.0
"""Points by which a table may stand further left or right on another page: inner and outer margins differ."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes:
        cells: their words; of a cell that spans columns or rows, in each of them.
        place: the box of the row's words on the page as shown.
        places: the same of each cell's own words; None where it has none in this row.
        bold: whether all of its words are bold.
    """

    cells: tuple[str, ...]
    place: Box
    places: tuple[Box | None, ...]
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        rows: from top to bottom; all have as many cells.
        box: in the coordinates of the words' boxes.
        columns: left and right end of each column, in the same coordinates: between its rules where it is ruled, else
            as far as its words reach.
        ruled: whether it was found by its rules.
        words: what its cells were filled with, and nothing else that stands within its box.
    """

    rows: tuple[TableRow, ...]
    box: Box
    columns: tuple[tuple[float, float], ...]
    ruled: bool
    words: tuple[Word, ...] = ()


def is_number(text: str) -> bool:
    """Whether a cell holds a number alone, with its signs and unit.

    >>> is_number("(1,204.11)"), is_number("20 %"), is_number("Q1"), is_number("")
    (True, True, False, False)
    """
    return any(map(str.isdigit, text)) and not any(map(str.isalpha, text))


def same_columns(one: Table, other: Table) -> tuple[int, ...] | None:
    """Which columns of one table those of another are, by where they stand; None where they are not.

    Tables of one kind, ruled or not, as wide columns at the same places, all of them moved alike where margins differ.
    A column in which the other table has no words may be missing from it, unless it is the first.

    >>> one = Table((), (50, 0, 300, 0), ((50, 100), (100, 200), (200, 300)), ruled=True)
    >>> same_columns(one, Table((), (60, 0, 310, 0), ((60, 110), (110, 210), (210, 310)), ruled=True))
    (0, 1, 2)
    >>> same_columns(one, Table((), (50, 0, 300, 0), ((50, 100), (200, 300)), ruled=True))
    (0, 2)
    >>> same_columns(one, Table((), (50, 0, 300, 0), ((50, 175), (175, 300)), ruled=True)) is None
    True
    """
    if one.ruled != other.ruled or not len(one.columns) - 1 <= len(other.columns) <= len(one.columns):
        return None
    for by in moves(one, other.columns[0][0]):
        found = _matched(one, other, by)
        if found is not None and found[0] == 0 and len(found) > 1:
            return found
    return None


def moves(table: Table, left: float) -> tuple[float, ...]:
    """By how much a table that begins at `left` may stand further right: not at all, or as its margin does."""
    moved = left - table.columns[0][0]
    return (0.0, moved) if _SAME < abs(moved) <= _MOST_MOVED else (0.0,)


def _matched(one: Table, other: Table, moved: float) -> tuple[int, ...] | None:
    found: list[int] = []
    for left, right in other.columns:
        begin = found[-1] + 1 if found else 0
        for at in range(begin, len(one.columns)):
            if _is_at(one.columns[at], (left - moved, right - moved), whole=one.ruled):
                found.append(at)
                break
        else:
            return None
    return tuple(found)


def _is_at(one: tuple[float, float], other: tuple[float, float], *, whole: bool) -> bool:
    """Whether two columns are at one place: both ends, or, of words alone, one end or the middle."""
    ends = [abs(a - b) <= _SAME for a, b in zip(one, other, strict=True)]
    if whole:
        return all(ends)
    apart = one[1] <= other[0] or other[1] <= one[0]
    return not apart and (any(ends) or abs(sum(one) - sum(other)) <= 2 * _SAME)
