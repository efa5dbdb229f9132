"""Cutting what is too long: whole lines, then sentences, then the longest token-safe prefix (SD-02, SD-11)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.tokens import sentences

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_LONG_BLANK = re.compile(r"\s{64,}")
# Groups of lines hold at most this part of the limit, so that several fill a chunk well.
_GROUP_SHARE = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text.

    Attributes:
        start, end: its place.
        ends: why it ends there: `structural` (a line, the end of an element), `sentence`, `token_safe`, or
            `token_safe_residue` (inside a grapheme that alone exceeds the limit).
        blank: whether it holds white space only.
    """

    start: int
    end: int
    ends: str
    blank: bool = False


class Splitter:
    """Cuts slices of one content into pieces that tile it; white space stays with what it follows.

    Args:
        content: the text.
        measure: its token counts.
        limit: most tokens of a piece.
    """

    def __init__(self, content: str, measure: Measure, limit: int) -> None:
        self._content = content
        self._measure = measure
        self._limit = limit
        self._group = max(1, limit // _GROUP_SHARE)

    def text(self, start: int, end: int, origin: int | None = None) -> list[Piece]:
        """Pieces of running text: groups of whole lines, sentences of longer lines, prefixes of longer sentences.

        Args:
            start, end: the slice.
            origin: where the chunk begins that the first piece shall fit (headings before it); None for `start`.
        """
        pieces: list[Piece] = []
        for first, last, blank in self._stretches(start, end):
            if blank:
                pieces += self._blanks(first, last)
            else:
                pieces += self._lines(first, last, origin if first == start else None)
        return pieces

    def whole_lines(self, start: int, end: int, origin: int | None = None) -> list[Piece]:
        """Pieces of as many whole lines as fit; a longer line is cut at token-safe places.

        Args:
            start, end: the slice.
            origin: as for `text`.
        """
        pieces: list[Piece] = []
        measured = start if origin is None else origin
        begin = at = start
        for line_end in self._line_ends(start, end):
            if self._measure.count(measured, line_end) > self._limit:
                if at > begin:
                    pieces.append(Piece(begin, at, "structural"))
                    begin = measured = at
                if self._measure.count(measured, line_end) > self._limit:
                    *cut, rest = self._forced(begin, line_end, measured)
                    pieces += cut
                    begin = measured = rest.start
            at = line_end
        if begin < end:
            pieces.append(Piece(begin, end, "structural"))
        return self._without_blanks(pieces)

    def blanks(self, start: int, end: int) -> list[Piece]:
        """Pieces of a run of white space; none if it is short enough to stay with what it follows."""
        if end - start <= _GROUP_SHARE or self._measure.count(start, end) <= self._group:
            return []
        return self._blanks(start, end)

    def _without_blanks(self, pieces: Sequence[Piece]) -> list[Piece]:
        """No piece is white space only: it joins the piece before it, the first one the piece after it."""
        joined: list[Piece] = []
        for piece in pieces:
            last = joined[-1] if joined else None
            if last is not None and (self._is_blank(piece) or self._is_blank(last)):
                joined[-1] = Piece(last.start, piece.end, piece.ends)
            else:
                joined.append(piece)
        return joined

    def _is_blank(self, piece: Piece) -> bool:
        return self._content[piece.start : piece.end].isspace()

    def _blanks(self, start: int, end: int) -> list[Piece]:
        pieces: list[Piece] = []
        while start < end:
            cut, _ = self._measure.prefix(start, self._group, end)
            pieces.append(Piece(start, cut, "structural", blank=True))
            start = cut
        return pieces

    def _stretches(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """The slice in stretches, long runs of white space apart."""
        at = start
        for run in _LONG_BLANK.finditer(self._content, start, end):
            if self._measure.count(run.start(), run.end()) > self._group:
                if at < run.start():
                    yield at, run.start(), False
                yield run.start(), run.end(), True
                at = run.end()
        if at < end:
            yield at, end, False

    def _line_ends(self, start: int, end: int) -> Iterator[int]:
        """Ends of the lines of a slice; blank lines belong to the line that they follow."""
        last = start
        seen = False
        for line in _LINE.finditer(self._content, start, end):
            if line.end() > line.start() and not line.group().isspace():
                if seen:
                    yield last
                seen = True
            last = line.end()
        if last > start:
            yield last

    def _lines(self, start: int, end: int, origin: int | None) -> list[Piece]:
        pieces: list[Piece] = []
        begin = at = start
        for line_end in self._line_ends(start, end):
            first = origin if origin is not None and at == start else at
            if self._measure.count(first, line_end) > self._limit:
                if at > begin:
                    pieces.append(Piece(begin, at, "structural"))
                pieces += self._sentences(at, line_end, first)
                begin = line_end
            elif at > begin and self._measure.count(begin, line_end) > self._group:
                pieces.append(Piece(begin, at, "structural"))
                begin = at
            at = line_end
        if begin < end:
            pieces.append(Piece(begin, end, "structural"))
        return pieces

    def _sentences(self, start: int, end: int, origin: int) -> list[Piece]:
        found = sentences(self._content[start:end])
        starts = [start, *(start + first for first, _ in found[1:])]
        pieces: list[Piece] = []
        for first, last in zip(starts, [*starts[1:], end], strict=True):
            ends = "structural" if last == end else "sentence"
            measured = origin if first == start else first
            if self._measure.count(measured, last) <= self._limit:
                pieces.append(Piece(first, last, ends))
            else:
                *cut, rest = self._forced(first, last, measured)
                pieces += [*cut, Piece(rest.start, rest.end, ends)]
        return pieces

    def _forced(self, start: int, end: int, origin: int) -> list[Piece]:
        """Longest token-safe prefixes; the first one fits together with what stands from `origin`."""
        pieces: list[Piece] = []
        measured = origin
        while start < end:
            # Not counted to the end first: in a run without safe cuts that would read all of it at every piece.
            cut, residue = self._measure.prefix(measured, self._limit, end)
            if cut <= start:  # what stands before leaves no room
                cut, residue = self._measure.prefix(start, self._limit, end)
            pieces.append(Piece(start, cut, "token_safe_residue" if residue else "token_safe"))
            start = measured = cut
        return pieces
