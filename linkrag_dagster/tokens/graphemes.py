"""Grapheme boundaries near a position, without reading the whole text (TK-03)."""

from __future__ import annotations

import regex

_CLUSTER = regex.compile(r"\X")
# What begins a grapheme after anything but a prefix or a leading consonant of Hangul (UAX 29, GB3 to GB999).
_BEGINS = regex.compile(
    r"[[\p{GCB=Other}\p{GCB=LV}\p{GCB=LVT}]--[\p{Extended_Pictographic}\p{InCB=Consonant}]]", regex.VERSION1
)
_HOLDS_NEXT = regex.compile(r"[\p{GCB=Prepend}\p{GCB=L}]")


# Code points read before a long grapheme is suspected.
_READ = 64


def last_boundary(text: str, start: int, position: int) -> int:
    """Largest grapheme boundary in `[start, position]`; `start` itself counts as one.

    Clusters are Unicode's extended ones, as the package `regex` finds them. Whether there is a boundary
    at a position depends on what lies before it and the one character after it, so no more is read:
    linear in `position - start`, and constant in ordinary text.

    Args:
        text: any text.
        start: a position that is taken as a boundary.
        position: where the search begins, at most `len(text)`.
    """
    if position <= start or position >= len(text):
        return max(position, start)
    if _plainly_apart(text[position - 1], text[position]) or _apart(text, start, position):
        return position
    anchor = position - 1
    while anchor > start and not _apart(text, start, anchor):
        anchor -= 1
        if position - anchor == _READ:
            first = _CLUSTER.match(text, start, position + 1)
            if first is not None and first.end() > position:
                return start
    best = 0
    # A slice: the expression itself looks back over all flags before a position.
    for match in _CLUSTER.finditer(text[anchor : position + 1]):
        if match.end() > position - anchor:
            break
        best = match.end()
    return anchor + best


def next_boundary(text: str, start: int, position: int, end: int | None = None) -> int:
    """Smallest grapheme boundary from `position` on.

    Linear in the grapheme, constant in ordinary text.

    Args:
        text, start, position: as for `last_boundary`.
        end: a position that is taken as a boundary; None for the end of the text.
    """
    stop = len(text) if end is None else end
    if start < position < stop and _plainly_apart(text[position - 1], text[position]):
        return position
    before = last_boundary(text, start, position)
    if before >= position:
        return min(before, stop)
    read = _READ
    while True:
        cluster = _CLUSTER.match(text[before : min(before + read, stop)])
        length = 0 if cluster is None else cluster.end()
        if length < read or before + length >= stop:
            return before + length
        read *= 2


def _plainly_apart(left: str, right: str) -> bool:
    """Whether a boundary is between two characters of the commonest kinds: no expression need be asked.

    ASCII, ideographs, and the marks of CJK and full width but for U+302A to U+3030, which combine or are pictographs.
    """
    return (" " <= right <= "~" or "\u4e00" <= right <= "\u9fff" or _is_mark(right)) and (
        " " <= left <= "~" or "\u4e00" <= left <= "\u9fff" or _is_mark(left)
    )


def _is_mark(character: str) -> bool:
    return "\u3000" <= character <= "\u3029" or "\uff01" <= character <= "\uff60"


def _apart(text: str, start: int, position: int) -> bool:
    """Whether there is a boundary, as far as it takes no other expression than a pair of characters, or of flags."""
    if _is_flag_half(text[position]) and _is_flag_half(text[position - 1]):
        first = position - 1
        while first > start and _is_flag_half(text[first - 1]):
            first -= 1
        return (position - first) % 2 == 0
    return _surely_apart(text, position)


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _surely_apart(text: str, position: int) -> bool:
    """Whether the two characters beside `position` need no context to be told apart."""
    left, right = text[position - 1], text[position]
    if left == "\n":
        return True
    if " " <= right <= "~" or "\u4e00" <= right <= "\u9fff":
        return left <= "~" or _HOLDS_NEXT.match(left) is None
    return _BEGINS.match(right) is not None and _HOLDS_NEXT.match(left) is None
