"""Line numbers of code points."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

_BREAK = re.compile(r"\r\n|\r|\n")


class Lines:
    """Lines of one text, counted as the parser counts them: LF, CR LF and CR end a line.

    Args:
        text: the document's text.
    """

    def __init__(self, text: str) -> None:
        if "\r" in text:
            self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        else:
            self._starts = [0, *accumulate([len(line) + 1 for line in text.split("\n")])]
            self._starts.pop()  # behind the last line begins none

    def of(self, position: int) -> int:
        """The 1-based line that holds the code point at `position`."""
        return bisect_right(self._starts, position)

    def of_last(self, text: str, start: int, end: int) -> int:
        """The 1-based line of the last visible code point of `text[start:end]`; of `start` where none is visible."""
        visible = len(text[start:end].rstrip())
        return self.of(start + max(visible - 1, 0))
