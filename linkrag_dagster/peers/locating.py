"""Finds the texts that a peer cut in the source they were cut from: a chunk is worth what stands in the source (GO-02).

| a chunk's text | what its spans are |
| --- | --- |
| stands in the source, after the chunk before it, or begins inside that one (overlap) | that place |
| was changed (white space, headers, letters) | its lines that stand there, in order; neighbours are one span |
| stands nowhere | none |

Linear: nothing is looked for farther than `REACH` code points beyond the place that was reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

REACH = 1 << 16
"""Code points beyond the last chunk in which the next one must begin."""
LINE_REACH = 1 << 12
"""The same for a line of a changed chunk: a short one is found anywhere, if one looks far enough."""


@dataclass(frozen=True, slots=True)
class LocatedChunk:
    """A chunk's text and where it stands.

    Attributes:
        text: as it was cut.
        spans: half-open ranges of code points of the source, in order.
        exact: whether the text is one slice of the source.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    exact: bool


def locate(chunks: Sequence[str], source: str) -> list[LocatedChunk]:
    """The chunks of one document with their spans.

    Args:
        chunks: texts that were cut from `source`, in order.
        source: the document's text.
    """
    found: list[LocatedChunk] = []
    begin, reached = -1, 0
    for text in chunks:
        at = source.find(text, reached, reached + REACH + len(text))
        if at < 0:
            at = source.find(text, begin + 1, reached + len(text))
        if at >= 0 and text:
            begin, reached = at, max(reached, at + len(text))
            found.append(LocatedChunk(text, ((at, at + len(text)),), True))
            continue
        spans = _lines(text, source, reached)
        if spans:
            begin, reached = spans[0][0], spans[-1][1]
        found.append(LocatedChunk(text, spans, False))
    return found


def _lines(text: str, source: str, reached: int) -> tuple[tuple[int, int], ...]:
    """The lines of a changed text that stand in the source from `reached` on."""
    spans: list[tuple[int, int]] = []
    for written in text.splitlines():
        line = written.strip()
        at = source.find(line, reached, reached + LINE_REACH + len(line)) if line else -1
        if at < 0:
            continue
        between = source[reached:at]
        if spans and (not between or between.isspace()):
            spans[-1] = (spans[-1][0], at + len(line))
        else:
            spans.append((at, at + len(line)))
        reached = at + len(line)
    return tuple(spans)
