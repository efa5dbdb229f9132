"""Sizes of slices in code points or in tokens."""

from __future__ import annotations

from linkrag_dagster.tokens import TokenCounter, Tokenizer
from linkrag_dagster.tokens.graphemes import last_boundary

_MOST_BYTES = 4


class Units:
    """Counts slices of one text in one unit.

    Args:
        text: the text.
        tokenizer: whose tokens are counted; None: code points.
    """

    def __init__(self, text: str, tokenizer: Tokenizer | None) -> None:
        self._text = text
        self._counter = None if tokenizer is None else TokenCounter(tokenizer, text)

    def count(self, start: int, end: int) -> int:
        """Units of `text[start:end]`."""
        return end - start if self._counter is None else self._counter.count(start, end)

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Whether `text[start:end]` has at most `limit` units."""
        if self._counter is not None and (end - start) * _MOST_BYTES <= limit:
            return True  # no token holds less than a byte
        return self.count(start, end) <= limit

    def prefix(self, start: int, end: int, limit: int) -> tuple[int, bool]:
        """End of the longest piece of `text[start:end]` within the limit, and whether it splits a grapheme (TK-03)."""
        if self._counter is not None:
            cut = self._counter.prefix(start, limit, end)
            return cut.position, cut.inside_grapheme
        if end - start <= limit:
            return end, False
        place = last_boundary(self._text, start, start + limit)
        return (place, False) if place > start else (start + limit, True)
