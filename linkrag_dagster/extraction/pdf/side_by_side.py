"""Figures or tables side by side, with a caption each: what belongs to one before what belongs to the next (XT-04)."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.extraction.pdf.blocks import is_placed
from linkrag_dagster.extraction.pdf.captions import are_captions
from linkrag_dagster.extraction.pdf.rows import Row, row
from linkrag_dagster.extraction.pdf.words import Segment, union

_NEXT_LINE = 1.6
"""Distance of a caption's lines, in font sizes."""
_SAME_SIZE = 0.3
"""Points."""


def apart(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows of a column in runs: at captions side by side, all that goes with the first, then with the next.

    With a caption go its further lines, and the figures or tables that stand below or above it alone.

    Before: `Figure 1. The mill.   Figure 2. The weir.` is one paragraph, below two figures.
    After: the first figure with its caption, then the second with its own.
    """
    runs: list[list[Row]] = []
    rest = list(rows)
    at = 0
    while at < len(rest):
        if are_captions(rest[at]):
            first, columns, end = _columns(rest, at)
            runs += [rest[:first], *columns]
            rest, at = rest[end:], 0
        else:
            at += 1
    return [run for run in [*runs, rest] if run]


def _columns(rows: Sequence[Row], at: int) -> tuple[int, list[list[Row]], int]:
    """Where the rows begin and end that go with the captions in a row, and these rows, caption by caption."""
    columns = [[part] for part in rows[at].segments]
    first, end = at, at + 1
    while first and is_placed(rows[first - 1]) and _share_out(rows[first - 1], columns):
        first -= 1
    while end < len(rows) and _is_next_line(rows[end - 1], rows[end]) and _share_out(rows[end], columns):
        end += 1
    while first == at and end < len(rows) and is_placed(rows[end]) and _share_out(rows[end], columns):
        end += 1
    made: list[list[Row]] = []
    for column in columns:
        mine = {id(part) for part in column}
        made.append(
            [
                row(held)
                for one in rows[first:end]
                if (held := [part for part in one.segments if id(part) in mine])
            ]
        )
    return first, made, end


def _is_next_line(one: Row, other: Row) -> bool:
    return (
        not is_placed(other)
        and abs(one.size - other.size) < _SAME_SIZE
        and other.base - one.base <= _NEXT_LINE * one.size
    )


def _share_out(one: Row, columns: Sequence[list[Segment]]) -> bool:
    """Adds each part of a row to the one column that it stands above or below; does nothing where a part has none."""
    found: list[int] = []
    for part in one.segments:
        met = [
            at
            for at, column in enumerate(columns)
            for box in (union(held.box for held in column),)
            if part.box[0] < box[2] and box[0] < part.box[2]
        ]
        if len(met) != 1:
            return False
        found += met
    for at, part in zip(found, one.segments, strict=True):
        columns[at].append(part)
    return True
