"""Where to cut a text that has no better place: the longest piece that a number of tokens allows (TK-03)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from linkrag_dagster.tokens.graphemes import last_boundary
from linkrag_dagster.tokens.tokenizer import Tokenizer

CLOSING = frozenset("。，、！？；：．…‥”’»›）】》〉」』〕〗〙〛｝］｠｣,.!?;:)]}%")
"""Marks that belong to what stands before them: no piece begins with one where that can be helped."""

OPENING = frozenset("“‘«‹（【《〈「『〔〖〘〚｛［｟｢([{")
"""Marks that belong to what follows them: no piece ends with one where that can be helped."""

# How far back a cut moves for the sake of marks, or to the start of a word: code points.
_MARKS_BACK = 16
_WORD_BACK = 64
# Tokens read beyond the limit: where a window ends, its last tokens are not those of the text.
SLACK = 8
# Code points read at least: a word whose end is not seen may look like many tokens and be a single [UNK].
_NARROWEST = 256
# Token boundaries tried, from the last that fits, before single graphemes are.
_TRIES = 32
# How far the first grapheme is looked for when nothing else fits: code points.
_FIRST = 32


@dataclass(frozen=True, slots=True)
class Cut:
    """The end of a piece.

    Attributes:
        position: code point in the text.
        inside_grapheme: whether the cut splits a grapheme, because that alone exceeds the limit; what lies before
            the piece is not looked at.
    """

    position: int
    inside_grapheme: bool


def longest_prefix(
    tokenizer: Tokenizer,
    text: str,
    start: int,
    end: int,
    limit: int,
    density: float,
    count: Callable[[int, int], int],
) -> Cut:
    """The longest piece of `text[start:end]` from `start` that has at most `limit` tokens and a good end.

    In order of preference the piece ends with the slice; at the last token boundary that fits, moved
    back to a grapheme boundary, off the middle of a spaced word (within 64 code points and a quarter of
    the piece: before the blank, after a line break), and off marks that belong to the other side
    (within 16 code points); the same without regard to words and marks; at the last code point that
    fits, inside a grapheme. A piece always holds a code point; only if that one alone has more than
    `limit` tokens does the piece exceed it.

    Args:
        tokenizer: whose tokens are counted.
        text: well-formed text.
        start: first code point of the piece.
        end: most that the piece may hold; above `start`.
        limit: tokens, at least 1.
        density: code points a token to expect; wrong ones cost time only.
        count: tokens of `text[a:b]` encoded alone.
    """
    fitting = _fitting(tokenizer, text, start, end, limit, density)
    if fitting is None:
        return Cut(end, False)
    tried = {start}
    whole = bool(fitting) and last_boundary(text, start, fitting[0]) > start
    for place in _graphemes(text, start, fitting) if whole else ():
        if place not in tried:
            tried.add(place)
            if count(start, place) <= limit:
                return Cut(place, False)
    for place in fitting:
        if count(start, place) <= limit:
            return Cut(place, True)
    return Cut(start + 1, last_boundary(text, start, start + 1) == start)


def first_choice(text: str, start: int, boundary: int) -> int | None:
    """Where `longest_prefix` tries first, for the last token boundary that fits; None if that helps no piece."""
    whole = last_boundary(text, start, boundary)
    if whole <= start:
        return None
    place = _polished(text, start, whole)
    return place if place > start else None


def window_width(limit: int, density: float) -> int:
    """Code points that are read first to find `limit` tokens, at that many code points a token."""
    return max(int(limit * density * 1.25) + 32, _NARROWEST)


def _fitting(
    tokenizer: Tokenizer, text: str, start: int, end: int, limit: int, density: float
) -> list[int] | None:
    """The last token boundaries within `limit` tokens of `start`, latest first; None: all of it fits.

    Reads a window that grows until it holds enough tokens, never the whole slice. Where the first code point that has
    tokens has more than `limit`, the blanks before it fit; empty if there are none.
    """
    width = window_width(limit, density)
    while True:
        stop = min(end, start + width)
        offsets = tokenizer.encode_offsets(text[start:stop])
        if stop == end and len(offsets) <= limit:
            return None
        if stop == end or len(offsets) >= limit + SLACK:
            break
        width *= 2
    # Boundaries between neighbouring tokens, none inside a code point.
    ends, starts = offsets.ends[:limit], offsets.starts[1 : limit + 1]
    places = ends[(starts >= ends) & (ends > 0)][-_TRIES:]
    if not len(places) and offsets.starts[0] > 0:
        places = offsets.starts[:1]
    return (places[::-1] + start).tolist()


def _graphemes(text: str, start: int, fitting: list[int]) -> Iterator[int]:
    """Grapheme boundaries worth a try, best first; the last ones for counts that do not shrink steadily."""
    for position in fitting:
        yield _polished(text, start, last_boundary(text, start, position))
    for position in fitting:
        yield last_boundary(text, start, position)
    reach = fitting[-1] - start
    while reach > 1:
        reach //= 2
        yield last_boundary(text, start, start + reach)
    for position in range(start + 1, min(start + _FIRST, fitting[0]) + 1):
        if last_boundary(text, start, position) == position:
            yield position
            return


def _polished(text: str, start: int, position: int) -> int:
    """`position` moved back to where a reader would cut; itself if there is no such place nearby."""
    if position <= start or position >= len(text):
        return position
    place = _off_marks(text, start, position)
    return _before_word(text, start, place)


def _off_marks(text: str, start: int, position: int) -> int:
    """The nearest place up to `position` with no closing mark after it and no opening mark before it."""
    place = position
    while text[place] in CLOSING or text[place - 1] in OPENING:
        place = last_boundary(text, start, place - 1)
        if place <= start or position - place > _MARKS_BACK:
            return position
    return place


def _before_word(text: str, start: int, position: int) -> int:
    """Before the blank (or after the line break) that the word around `position` follows."""
    if not (_spaced(text[position - 1]) and _spaced(text[position])):
        return position
    lowest = max(position - _WORD_BACK, position - (position - start) // 4)
    for place in range(position - 1, lowest, -1):
        if text[place - 1] in "\r\n":
            return place
        if text[place].isspace() and not text[place - 1].isspace():
            return place
    return position


def _spaced(character: str) -> bool:
    """Whether a character belongs to a word in a script that puts blanks between words."""
    if character.isspace():
        return False
    return not ("\u0e00" <= character <= "\u0eff" or "\u1000" <= character <= "\u109f") and (
        character < "\u1780" or "\u1800" <= character < "\u2e80" or "\uac00" <= character <= "\ud7a3"
    )
