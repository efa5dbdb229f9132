"""Neighbour overlap: words beside a chunk that its indexed text borrows (EX-03, EX-04)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.records import FinalChunk, Span
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.markdown.elements import PROTECTED_KINDS


def takes_part(chunk: FinalChunk, settings: ChunkSettings) -> bool:
    """Whether a chunk gives and takes overlap: never derived ones or front matter, protected ones on demand."""
    if chunk.role != "source" or chunk.kinds == ("front_matter",):
        return False
    return settings.protected_overlap or PROTECTED_KINDS.isdisjoint(chunk.kinds)


class Neighbours:
    """The chunks right before and after each chunk of a document.

    Two chunks are neighbours if nothing but white space stands between them in the document: not a rule, not a chunk
    that takes no part. What a chunk gives are its own words, verbatim, never a rendered reference.

    Args:
        final: all final chunks of the document, in order.
        text: its text.
        measure: the budget's counts of that text.
        settings: who takes part.
    """

    def __init__(
        self, final: Sequence[FinalChunk], text: str, measure: Measure, settings: ChunkSettings
    ) -> None:
        self._text = text
        self._measure = measure
        self._before: dict[str, FinalChunk] = {}
        self._after: dict[str, FinalChunk] = {}
        sources = [c for c in final if c.role == "source"]
        for left, right in pairwise(sources):
            gap = text[left.end_char : right.start_char]
            touching = left.end_char <= right.start_char and (not gap or gap.isspace())
            if touching and takes_part(left, settings) and takes_part(right, settings):
                self._before[right.final_id] = left
                self._after[left.final_id] = right

    def around(self, chunk: FinalChunk, limit: int) -> tuple[Span | None, Span | None]:
        """The last words of the chunk before and the first ones of the chunk after, at most `limit` tokens each."""
        left, right = self._before.get(chunk.final_id), self._after.get(chunk.final_id)
        return (
            None if left is None else self._last_words(left, limit),
            None if right is None else self._first_words(right, limit),
        )

    def _last_words(self, chunk: FinalChunk, limit: int) -> Span | None:
        last = chunk.spans[-1] if chunk.spans else None
        if last is None or last.end_char != chunk.end_char:
            return None  # it ends with a rendered element
        words = _visible(self._text, last)
        start = self._measure.suffix(self._text, words.start_char, words.end_char, limit)
        return self._within(start, words.end_char, limit)

    def _first_words(self, chunk: FinalChunk, limit: int) -> Span | None:
        first = chunk.spans[0] if chunk.spans else None
        if first is None or first.start_char != chunk.start_char:
            return None
        words = _visible(self._text, first)
        if words.start_char == words.end_char:
            return None
        end, inside_grapheme = self._measure.prefix(words.start_char, limit, words.end_char)
        return None if inside_grapheme else self._within(words.start_char, end, limit)

    def _within(self, start: int, end: int, limit: int) -> Span | None:
        """The visible words of a slice; None where there are none, or not even one fits."""
        words = _visible(self._text, Span(start, end))
        fits = 0 < self._measure.count(words.start_char, words.end_char) <= limit
        return words if fits else None


def _visible(text: str, span: Span) -> Span:
    words = text[span.start_char : span.end_char]
    first = span.start_char + len(words) - len(words.lstrip())
    return Span(first, max(first, span.start_char + len(words.rstrip())))
