"""Cutting what is too long: whole lines, then sentences, then the longest token-safe prefix (SD-02, SD-11)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.markdown.frozen import record
from linkrag_dagster.tokens import inner_stops, sentences
from linkrag_dagster.tokens.graphemes import last_boundary, next_boundary

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_LONG_BLANK = re.compile(r"\s{64,}")
# Groups of lines hold at most this part of the limit, so that several fill a chunk well.
_GROUP_SHARE = 4
_STOPS = (".", "!", "?", "。", "！", "？", "…")
_CLOSERS = "\"'”’»)）」』]*_`"
# How many code points before the end of a line tell whether a sentence ends there.
_TAIL = 64
_BREAK = re.compile(r"\r\n|\r|\n")
# The mark of a list item, a quote's line, a table's row, a heading.
_ITEM = re.compile(r"[^\S\r\n]*(?:[-*+•>|#]|\d{1,9}[.)、]|[A-Za-z][.)])\s")


@record
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
        hard: most tokens of a piece that is a single grapheme; None: `limit`.
    """

    def __init__(self, content: str, measure: Measure, limit: int, hard: int | None = None) -> None:
        self._content = content
        self._measure = measure
        self._limit = limit
        self._hard = limit if hard is None else hard
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
        begin = start
        ends = list(self._line_ends(start, end))
        number = self._measure.first_above(measured, ends, 0, self._limit)
        while number < len(ends):
            at, line_end = ends[number - 1] if number else start, ends[number]
            if at > begin:
                pieces.append(Piece(begin, at, "structural"))
                begin = measured = at
            if not self._measure.fits(measured, line_end, self._limit):
                *cut, rest = self._forced(begin, line_end, measured)
                pieces += cut
                begin = measured = rest.start
            number = self._measure.first_above(measured, ends, number + 1, self._limit)
        if begin < end:
            pieces.append(Piece(begin, end, "structural"))
        return self._without_blanks(pieces)

    def blanks(self, start: int, end: int) -> list[Piece]:
        """Pieces of a run of white space; none if it is short enough to stay with what it follows."""
        if end - start <= _GROUP_SHARE or self._measure.fits(start, end, self._group):
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
            cut, inside_grapheme = self._measure.prefix(start, self._group, end)
            if inside_grapheme:  # CR LF
                cut = next_boundary(self._content, start, start + 1, end)
            pieces.append(Piece(start, cut, "structural", blank=True))
            start = cut
        return pieces

    def _stretches(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """The slice in stretches, long runs of white space apart."""
        at = start
        for run in _LONG_BLANK.finditer(self._content, start, end):
            # A mark may stand on the last blank, or a prefix before the first.
            first = next_boundary(self._content, at, run.start())
            last = last_boundary(self._content, first, run.end())
            if not self._measure.fits(first, last, self._group):
                if at < first:
                    yield at, first, False
                yield first, last, True
                at = last
        if at < end:
            yield at, end, False

    def _line_ends(self, start: int, end: int) -> Iterator[int]:
        """Ends of the lines of a slice; blank lines belong to the line that they follow."""
        last = start
        seen = False
        words = self._content[start:end]
        width = 0 if "\r" in words else 1  # of a break that no row holds
        for row in words.split("\n") if width else _LINE.findall(words):
            if row and not row.isspace():
                if seen:
                    yield last
                seen = True
            last += len(row) + width
        if end > start:
            yield end

    def _lines(self, start: int, end: int, origin: int | None) -> list[Piece]:
        """Groups of whole lines, sentences of longer ones."""
        pieces: list[Piece] = []
        run: list[int] = []  # ends of lines that fit
        begin = at = start
        for line_end in self._line_ends(start, end):
            first = origin if origin is not None and at == start else at
            if not self._measure.fits(first, line_end, self._limit):
                pieces += self._groups(begin, run, origin if begin == start else None)
                pieces += self._sentences(at, line_end, first)
                run, begin = [], line_end
            else:
                run.append(line_end)
            at = line_end
        return pieces + self._groups(begin, run, origin if begin == start else None)

    def _groups(self, begin: int, ends: Sequence[int], origin: int | None) -> list[Piece]:
        """Lines that fit in groups, each ended where no sentence is parted: before it is large, else soon after."""
        pieces: list[Piece] = []
        line = 0
        while line < len(ends):
            measured = begin if origin is None else origin
            large, whole = line, -1
            for number in range(line, len(ends)):
                if number > line and not self._measure.fits(measured, ends[number], self._limit):
                    break
                fits = number == line or self._measure.fits(begin, ends[number], self._group)
                if fits:
                    large = number
                elif whole >= 0:
                    break
                if number + 1 == len(ends) or self._ends_whole(ends[number]):
                    whole = number
                    if not fits:
                        break
            last = large if whole < 0 else whole
            pieces.append(Piece(begin, ends[last], "structural"))
            begin, line, origin = ends[last], last + 1, None
        return pieces

    def _ends_whole(self, at: int) -> bool:
        """Whether the end of a line parts no sentence: a stop or a blank line before it, or an item's mark after it."""
        tail = self._content[max(0, at - _TAIL) : at]
        words = tail.rstrip()
        if len(_BREAK.findall(tail, len(words))) > 1 or not words:
            return True
        return words.rstrip(_CLOSERS).endswith(_STOPS) or _ITEM.match(self._content, at) is not None

    def _sentences(self, start: int, end: int, origin: int) -> list[Piece]:
        found = sentences(self._content[start:end])
        starts = [start]
        for first, _ in found[1:]:
            place = last_boundary(self._content, starts[-1], start + first)  # a mark may stand on a blank
            if place > starts[-1]:
                starts.append(place)
        pieces: list[Piece] = []
        for first, last in zip(starts, [*starts[1:], end], strict=True):
            ends = "structural" if last == end else "sentence"
            measured = origin if first == start else first
            if self._measure.fits(measured, last, self._limit):
                pieces.append(Piece(first, last, ends))
            else:
                pieces += self._long_sentence(first, last, measured, ends)
        return pieces

    def _long_sentence(self, start: int, end: int, origin: int, ends: str) -> list[Piece]:
        """A sentence that does not fit: cut after stops in its quotations and brackets, then where it is safe."""
        pieces: list[Piece] = []
        stops = [start]
        for stop in inner_stops(self._content, start, end):
            place = last_boundary(self._content, stops[-1], stop)  # a mark may stand on a blank
            if stops[-1] < place < end:
                stops.append(place)
        for first, last in pairwise([*stops, end]):
            why = ends if last == end else "sentence"
            measured = origin if first == start else first
            if self._measure.fits(measured, last, self._limit):
                pieces.append(Piece(first, last, why))
            else:
                *cut, rest = self._forced(first, last, measured)
                pieces += [*cut, Piece(rest.start, rest.end, why)]
        return pieces

    def _forced(self, start: int, end: int, origin: int) -> list[Piece]:
        """Longest token-safe prefixes; the first one fits together with what stands from `origin`."""
        pieces: list[Piece] = []
        measured = origin
        words = start + len(self._content[start:end].rstrip())
        while start < end:
            # Not counted to the end first: in a run without safe cuts that would read all of it at every piece.
            cut, residue = self._measure.prefix(measured, self._limit, end)
            if cut <= start:  # what stands before leaves no room
                measured = start
                cut, residue = self._measure.prefix(start, self._limit, end)
            if words <= cut < end and self._limit > 1:
                # White space makes no chunk: words go with it, so that both pieces keep the limit.
                shorter, inside = self._measure.prefix(measured, self._limit // 2, end)
                cut = shorter if start < shorter < words and not inside else cut
            if residue:
                pieces += self._grapheme(start, end)
                cut = pieces[-1].end
            else:
                pieces.append(Piece(start, cut, "token_safe"))
            start = measured = cut
        return pieces

    def _grapheme(self, start: int, end: int) -> list[Piece]:
        """The one grapheme that begins at `start`, longer than the limit: whole up to the hard one (TK-03)."""
        stop = next_boundary(self._content, start, start + 1, end)
        if self._measure.fits(start, stop, self._hard):
            return [Piece(start, stop, "token_safe")]
        pieces: list[Piece] = []
        while start < stop:
            cut, _ = self._measure.prefix(start, self._limit, stop)
            pieces.append(Piece(start, cut, "token_safe" if cut == stop else "token_safe_residue"))
            start = cut
        return pieces
