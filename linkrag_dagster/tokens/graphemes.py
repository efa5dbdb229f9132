"""Grapheme boundaries near a position, without reading the whole text (TK-03)."""

from __future__ import annotations

import regex

_CLUSTER = regex.compile(r"\X")


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
    if position <= start or position >= len(text) or _surely_apart(text, position):
        return max(position, start)
    anchor = position - 1
    while anchor > start and not _surely_apart(text, anchor):
        anchor -= 1
    best = anchor
    for match in _CLUSTER.finditer(text, anchor, position + 1):
        if match.end() > position:
            break
        best = match.end()
    return best


def _surely_apart(text: str, position: int) -> bool:
    """Whether the two characters beside `position` need no context to be told apart."""
    left, right = text[position - 1], text[position]
    return _plain(right) and (_plain(left) or left == "\n")


def _plain(character: str) -> bool:
    """Printable ASCII, ideographs, common kana and full-width forms: each begins a grapheme of its own."""
    return (
        " " <= character <= "~"
        or "\u4e00" <= character <= "\u9fff"
        or "\u3400" <= character <= "\u4dbf"
        or "\u3000" <= character <= "\u3020"
        or "\u3041" <= character <= "\u3096"
        or "\u30a1" <= character <= "\u30fa"
        or "\uff01" <= character <= "\uff5e"
    )
