"""Line numbers of code points."""

from __future__ import annotations

import re
from bisect import bisect_right

_BREAK = re.compile(r"\r\n|\r|\n")


class Lines:
    """Lines of one text, counted as the parser counts them: LF, CR LF and CR end a line.

    Each question is answered from the place of the one before: cheap for places that follow one another.

    Args:
        text: the document's text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))] if "\r" in text else None
        self._at = 0
        self._breaks = 0  # before that place

    def of(self, position: int) -> int:
        """The 1-based line that holds the code point at `position`."""
        if self._starts is not None:
            return bisect_right(self._starts, position)
        if position >= self._at:
            self._breaks += self._text.count("\n", self._at, position)
        else:
            self._breaks -= self._text.count("\n", position, self._at)
        self._at = position
        return self._breaks + 1

    def of_last(self, text: str, start: int, end: int) -> int:
        """The 1-based line of the last visible code point of `text[start:end]`; of `start` where none is visible."""
        visible = len(text[start:end].rstrip())
        return self.of(start + max(visible - 1, 0))
