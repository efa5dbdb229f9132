"""The lines of a text: as its author broke them, and as CommonMark reads them."""

from __future__ import annotations

import re
from itertools import accumulate

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Lines:
    """Lines of a text in two coordinates that differ only in where a line begins.

    CommonMark reads every line break as LF and NUL as U+FFFD; the text keeps its own. Inside a line both
    agree code point by code point, so a place in one is a line and a column in the other.

    Attributes:
        source: the text as CommonMark reads it, without a leading byte order mark.
        rows: the lines of `source`, without their breaks; a last line of blanks only is none.
        marks: where each line begins in `source`; one entry more than there are lines.
        stops: where each line ends in `source`, before its break.
        starts: where each line begins in the text, behind a byte order mark.
        ends: where each line ends in the text, before its break.
    """

    __slots__ = ("ends", "marks", "rows", "source", "starts", "stops")

    def __init__(self, text: str) -> None:
        shift = 1 if text.startswith("\ufeff") else 0
        source = text[shift:].replace("\0", "\ufffd")
        breaks = None
        if "\r" in source:
            source = source.replace("\r\n", "\n").replace("\r", "\n")
            breaks = [match.span() for match in _LINE_BREAK.finditer(text)]
        rows = source.split("\n")
        marks = list(accumulate([len(row) + 1 for row in rows], initial=0))
        if not rows[-1].strip(" \t"):
            rows.pop()
            marks.pop()
        marks[-1] = len(source)
        self.source = source
        self.rows = rows
        self.marks = marks
        # Every break is one code point wide; behind the last line there may be none.
        self.stops = [mark - 1 for mark in marks[1:]]
        if rows:
            self.stops[-1] = marks[-2] + len(rows[-1])
        if breaks is None and not shift:
            self.starts, self.ends = marks[:-1], self.stops
        elif breaks is None:
            self.starts = [shift + mark for mark in marks[:-1]]
            self.ends = [shift + stop for stop in self.stops]
        else:
            self.starts = [shift, *(end for _, end in breaks)][: len(rows)]
            self.ends = [*(start for start, _ in breaks), len(text)][: len(rows)]

    def place(self, line: int, position: int) -> int:
        """Where a position of `source`, on that line (from 0), stands in the text."""
        return self.starts[line] + position - self.marks[line]
