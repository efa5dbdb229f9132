"""From a range of a coarse chunk's content to its place in the document."""

from __future__ import annotations

from collections.abc import Mapping

from linkrag_dagster.chunking.records import CoarseChunk, ElementView, Span
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.markdown.frozen import record


@record
class Place:
    """Where a slice of a coarse content stands.

    Attributes:
        element_indexes: the elements it holds, wholly or in part.
        start_char, end_char: from its first to its last word in the document.
        spans: its verbatim parts.
        verbatim: whether it is the document's own slice.
    """

    element_indexes: tuple[int, ...]
    start_char: int
    end_char: int
    spans: tuple[Span, ...]
    verbatim: bool


class Placer:
    """Places slices of one coarse chunk, asked for in order.

    Args:
        chunk: the coarse chunk.
        elements: elements of the document by index.
        text: the document's text.
    """

    def __init__(self, chunk: CoarseChunk, elements: Mapping[int, Element], text: str) -> None:
        self._chunk = chunk
        self._elements = elements
        self._text = text
        self._next = 0

    def place(self, start: int, end: int) -> Place:
        """The place of `content[start:end]`; each call begins at or after the end of the one before.

        White space beside a rendered element has no place of its own and belongs to no span.
        """
        views = self._chunk.views
        while self._next < len(views) - 1 and views[self._next].end <= start:
            self._next += 1
        last = self._next
        while last + 1 < len(views) and views[last + 1].start < end:
            last += 1
        held = views[self._next : last + 1]
        indexes = tuple(v.element_index for v in held)
        if self._chunk.verbatim:
            span = Span(self._chunk.start_char + start, self._chunk.start_char + end)
            return Place(indexes, span.start_char, span.end_char, (span,), True)
        shifts = {None if v.rendered else self._shift(v) for v in held}
        if len(shifts) == 1 and None not in shifts:
            shift = self._shift(held[0])
            if self._text.startswith(self._chunk.content[start:end], start + shift):
                span = Span(start + shift, end + shift)
                return Place(indexes, span.start_char, span.end_char, (span,), True)
        spans = self._spans(held, start, end)
        first, final = self._elements[held[0].element_index], self._elements[held[-1].element_index]
        begin = first.start_char if held[0].rendered else max(start, held[0].start) + self._shift(held[0])
        stop = final.end_char if held[-1].rendered else min(end, held[-1].end) + self._shift(held[-1])
        return Place(indexes, begin, stop, spans, False)

    def _shift(self, view: ElementView) -> int:
        return self._elements[view.element_index].start_char - view.start

    def _spans(self, held: tuple[ElementView, ...], start: int, end: int) -> tuple[Span, ...]:
        spans: list[Span] = []
        previous: int | None = None
        for view in held:
            if view.rendered:
                previous = None
                continue
            shift = self._shift(view)
            first, last = max(start, view.start) + shift, min(end, view.end) + shift
            if previous == shift:
                spans[-1] = Span(spans[-1].start_char, last)
            else:
                spans.append(Span(first, last))
            previous = shift
        return tuple(spans)
