"""Texts compared modulo white space, with the way back to their own offsets (GO-01).

A line of a PDF ends where a needle has a space, and in Chinese and Japanese, which write no spaces, where it has
nothing. So a run of white space counts as one space, and as none beside a character of those scripts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

_RUN = re.compile(r"\s+")
# Han, kana, bopomofo, their punctuation and full-width forms; Hangul is not among them: Korean sets words apart.
_UNSPACED = re.compile(
    "[\u2e80-\u312f\u31a0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff9f\U00020000-\U0003fffd]"
)


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A text with its white space collapsed.

    Attributes:
        text: the collapsed text, without white space at its ends.
        starts: offsets in `text` from which on the source is shifted anew, rising, the first 0.
        shifts: what to add to an offset of `text` from there on to get the source's.
    """

    text: str
    starts: tuple[int, ...]
    shifts: tuple[int, ...]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """The source's span of `text[start:end]`, which is not empty and begins and ends with no white space."""
        return self._source(start), self._source(end - 1) + 1

    def _source(self, position: int) -> int:
        return position + self.shifts[bisect_right(self.starts, position) - 1]


def collapse(text: str) -> Collapsed:
    """Collapse white space. Linear in the text."""
    pieces: list[str] = []
    starts, shifts = [0], [0]
    length = taken = 0
    for run in _RUN.finditer(text):
        start, end = run.span()
        kept = _kept(text, start, end)
        if kept == run.group():
            continue
        pieces += (text[taken:start], kept)
        length += start - taken + len(kept)
        taken = end
        if length == starts[-1]:
            starts.pop()
            shifts.pop()
        starts.append(length)
        shifts.append(end - length)
    pieces.append(text[taken:])
    return Collapsed("".join(pieces), tuple(starts), tuple(shifts))


def collapsed(text: str) -> str:
    """The collapsed text alone."""
    return collapse(text).text


def _kept(text: str, start: int, end: int) -> str:
    """What is left of the run of white space `text[start:end]`."""
    if start == 0 or end == len(text):
        return ""
    return "" if _UNSPACED.match(text, start - 1) or _UNSPACED.match(text, end) else " "
