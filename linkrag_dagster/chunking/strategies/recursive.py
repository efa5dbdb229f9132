"""ST-02, `recursive`: at the best separator that the size allows, one rank after the other (seed 001).

Ranks: blank line, line break, end of a sentence, clause mark, white space, word of an unspaced script, part of a
word too long itself, anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source, visible
from linkrag_dagster.chunking.strategies.segmenter import part_boundaries, splits_syllable, word_boundaries
from linkrag_dagster.chunking.strategies.units import Units
from linkrag_dagster.tokens import sentences
from linkrag_dagster.tokens.cutting import CLOSING, OPENING
from linkrag_dagster.tokens.graphemes import last_boundary, next_boundary

BLANK_LINE, LINE, SENTENCE, CLAUSE, SPACE, WORD, WORD_PART, GRAPHEME, RESIDUE = (
    "blank_line",
    "line",
    "sentence",
    "clause",
    "space",
    "word",
    "word_part",
    "grapheme",
    "token_safe_residue",
)

_BLANK_LINES = re.compile(r"(?:\r\n|\n|\r)[^\S\r\n]*(?:\r\n|\n|\r)\s*")
_LINES = re.compile(r"(?:\r\n|\n|\r)\s*")
# A mark between digits or letters (7,340; 10:30) is none; full-width ones need no blank behind them.
_CLAUSES = re.compile(r"[,;:](?=\s)\s*|[，、；：。！？…—।။၊]+[”’»）】》〉」』〕\"')\]]*\s*")
_SPACES = re.compile(r"\s+")
_BLANKS = re.compile(r"\s*")


def recursive(source: Source) -> Cutting:
    """Pieces of at most `size` units without the white space around them; what lies between them is white space.

    With an overlap, pieces have `size - overlap` units of their own, and begin up to `overlap` units earlier, at a
    word where there is one.
    """
    settings, text = source.settings, source.text
    units = Units(text, source.tokenizer if settings.in_tokens else None)
    overlap = settings.overlap or 0
    own = max(1, settings.usual_size - overlap)
    pieces = split(text, units, own, 0, len(text))
    if overlap:
        pieces = (
            [pieces[0], *map(_Extended(text, units, overlap, settings.usual_size), pieces, pieces[1:])]
            if pieces
            else []
        )
    return Cutting(pieces)


def split(
    text: str, units: Units, limit: int, start: int, end: int, *, first: str = BLANK_LINE
) -> list[Piece]:
    """Pieces of `text[start:end]` of at most `limit` units, cut at the best separators from rank `first` on.

    Args:
        text: the text.
        units: its counts.
        limit: most units of a piece; only a code point that alone exceeds it is longer.
        start, end: the slice.
        first: the best rank that is tried: `blank_line`, `line` or `sentence`.
    """
    found = list(_Splitter(text, units, limit).pieces(start, end, _RANK_NAMES.index(first)))
    if found:
        found[-1] = replace(found[-1], ends=END)
    return found


class _Splitter:
    def __init__(self, text: str, units: Units, limit: int) -> None:
        self._text = text
        self._units = units
        self._limit = limit

    def pieces(self, start: int, end: int, rank: int) -> Iterator[Piece]:
        start, end = visible(self._text, start, end)
        if start == end:
            return
        if self._units.fits(start, end, self._limit):
            yield Piece(start, end, _RANK_NAMES[max(rank - 1, 0)])
            return
        if rank == len(_RANKS):
            yield from self._anywhere(start, end)
            return
        name = _RANK_NAMES[rank]
        found = _RANKS[rank](self._text, start, end)
        cuts = [cut for cut in found if last_boundary(self._text, start, cut) == cut]
        if not cuts:
            yield from self.pieces(start, end, rank + 1)
            return
        begin = at = start
        for cut in [*cuts, end]:
            if self._fits(begin, cut):
                at = cut
                continue
            if at > begin:
                yield from self._whole(begin, at, name)
                begin = at
            if not self._fits(begin, cut):
                yield from self._finer(begin, cut, rank, name)
                begin = cut
            at = cut
        if begin < end:
            yield from self._whole(begin, end, name)

    def _fits(self, start: int, end: int) -> bool:
        first, last = visible(self._text, start, end)
        return first == last or self._units.fits(first, last, self._limit)

    def _whole(self, start: int, end: int, name: str) -> Iterator[Piece]:
        first, last = visible(self._text, start, end)
        if first < last:
            yield Piece(first, last, name)

    def _finer(self, start: int, end: int, rank: int, name: str) -> Iterator[Piece]:
        """A part too long for the limit, by the next rank; its last piece ends where this rank's separator is."""
        held: Piece | None = None
        for piece in self.pieces(start, end, rank + 1):
            if held is not None:
                yield held
            held = piece
        if held is not None:
            yield replace(held, ends=name)

    def _anywhere(self, start: int, end: int) -> Iterator[Piece]:
        whole = start  # where a grapheme that is split ends: looked for once (linear time)
        while True:
            blanks = _BLANKS.match(self._text, start, end)
            start = start if blanks is None else blanks.end()
            if start >= end:
                return
            cut, residue = self._units.prefix(start, end, self._limit)
            cut = self._off_marks(start, cut, end)
            # Without the blanks behind it a word may be more tokens.
            first, last = visible(self._text, start, cut)
            while last > first + 1 and not self._fits(first, last):
                cut, residue = self._units.prefix(first, last, self._limit)
                last = visible(self._text, first, cut)[1]
            if residue and start >= whole:
                whole = next_boundary(self._text, start, start + 1, end)
            if first < last:
                yield Piece(first, last, RESIDUE if residue or last < whole else GRAPHEME)
            start = cut

    def _off_marks(self, start: int, cut: int, end: int) -> int:
        """Back to where no closing mark would begin the next piece, and no syllable is split."""
        place = cut
        while place < end and place > start + 1 and cut - place < 8:
            marks = self._text[place] in CLOSING or self._text[place - 1] in OPENING
            if not marks and not splits_syllable(self._text, place):
                return place if place == cut or self._is_piece(start, place) else cut
            place -= 1
        return cut

    def _is_piece(self, start: int, end: int) -> bool:
        """Whether a grapheme ends there, and the piece fits: fewer characters may be more tokens."""
        return last_boundary(self._text, start, end) == end and self._fits(start, end)


class _Extended:
    """Moves the start of a piece into the one before it, by the overlap."""

    def __init__(self, text: str, units: Units, overlap: int, size: int) -> None:
        self._text = text
        self._units = units
        self._overlap = overlap
        self._size = size

    def __call__(self, before: Piece, piece: Piece) -> Piece:
        text, end = self._text, before.end_char
        places = [before.start_char]
        places += _spaces(text, before.start_char, end) or word_boundaries(text, before.start_char, end)
        low, high = 0, len(places)
        # The earliest place from which the words up to this piece's own are few enough.
        while low < high:
            middle = (low + high) // 2
            if self._fits(places[middle], piece):
                high = middle
            else:
                low = middle + 1
        # It never begins where the piece before begins.
        place = max(low, 1)
        return replace(piece, start_char=places[place]) if place < len(places) else piece

    def _fits(self, place: int, piece: Piece) -> bool:
        """Whether words from there are few enough, alone and together with the piece: tokens do not add up."""
        return self._units.fits(place, piece.start_char, self._overlap) and self._units.fits(
            place, piece.end_char, self._size
        )


def _ends(pattern: re.Pattern[str]) -> Callable[[str, int, int], Sequence[int]]:
    def cuts(text: str, start: int, end: int) -> Sequence[int]:
        return [m.end() for m in pattern.finditer(text, start, end) if start < m.end() < end]

    return cuts


def _sentences(text: str, start: int, end: int) -> Sequence[int]:
    return [start + first for first, _ in sentences(text[start:end])[1:]]


_spaces = _ends(_SPACES)
_RANKS: tuple[Callable[[str, int, int], Sequence[int]], ...] = (
    _ends(_BLANK_LINES),
    _ends(_LINES),
    _sentences,
    _ends(_CLAUSES),
    _spaces,
    word_boundaries,
    part_boundaries,
)
_RANK_NAMES = (BLANK_LINE, LINE, SENTENCE, CLAUSE, SPACE, WORD, WORD_PART)
