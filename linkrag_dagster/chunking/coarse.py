"""Stage one: from elements to coarse chunks, each with its derived chunks behind it (CB-01 to CB-17)."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.chunking.boundary import partition
from linkrag_dagster.chunking.derived import (
    DERIVED_KINDS,
    AdjacentContext,
    identifier,
    is_rendered,
    rendering,
)
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.records import CoarseChunk, ElementView, Span
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.chunking.trails import Trails
from linkrag_dagster.markdown.elements import PROTECTED_KINDS, Element, ProtectedRange
from linkrag_dagster.tokens import TokenCounter, Tokenizer

SEPARATOR = "\n\n"
"""What stands beside a rendered element or a dropped rule (CB-15)."""


def coarse_chunks(
    elements: Sequence[Element],
    text: str,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
    *,
    counter: TokenCounter | None = None,
) -> list[CoarseChunk]:
    """Coarse chunks of a document, in order; derived ones stand behind their source.

    Args:
        elements: all elements of the document, in order.
        text: its text.
        settings: floor, small tables, adjacent context.
        tokenizer: the budget's.
        counter: counts of that text, if it was tokenised already.

    Raises:
        ValueError: an image or a table has no id.
    """
    builder = _Builder(elements, text, settings, counter or TokenCounter(tokenizer, text))
    made: list[CoarseChunk] = []
    for group in builder.groups():
        source = builder.source(group, len(made))
        made.append(source)
        for position in group:
            if elements[position].kind in DERIVED_KINDS:
                made.append(builder.derived(position, source, len(made)))
    return made


class _Builder:
    def __init__(
        self, elements: Sequence[Element], text: str, settings: ChunkSettings, counter: TokenCounter
    ) -> None:
        self._elements = elements
        self._text = text
        self._settings = settings
        self._measure = Measure(counter, 0, len(text))
        self._trails = Trails(elements, settings.max_tracked_heading_level)
        self._tokens = counter.count_each([e.start_char for e in elements], [e.end_char for e in elements])
        self._rendered = {
            p for p, e in enumerate(elements) if e.kind in DERIVED_KINDS and self._is_rendered(p)
        }
        self._guarded = {p for p, e in enumerate(elements) if e.protected or e.kind in PROTECTED_KINDS}
        self._context = AdjacentContext(elements, text, self._measure, settings)

    def groups(self) -> list[list[int]]:
        return partition(
            self._elements,
            self._tokens,
            floor=self._settings.min_candidate_tokens,
            tracked=self._settings.max_tracked_heading_level,
        )

    def source(self, group: Sequence[int], index: int) -> CoarseChunk:
        members = [self._elements[p] for p in group]
        first, last = members[0], members[-1]
        verbatim = self._is_slice(group)
        if verbatim:
            start, end = first.start_char, last.end_char
            content, spans = self._text[start:end], [Span(start, end)]
            views = [
                ElementView(e.element_index, e.kind, e.start_char - start, e.end_char - start)
                for e in members
            ]
        else:
            content, views, spans = self._joined(group)
        indexes = tuple([e.element_index for e in members])
        trails = self._trails.of_chunk(indexes)
        return CoarseChunk(
            coarse_id=_coarse_id(index),
            coarse_index=index,
            role="source",
            kinds=tuple(dict.fromkeys([e.kind for e in members])),
            element_indexes=indexes,
            content=content,
            verbatim=verbatim,
            start_char=first.start_char,
            end_char=last.end_char,
            start_line=first.start_line,
            end_line=last.end_line,
            spans=tuple(spans),
            views=tuple(views),
            protected=()
            if self._guarded.isdisjoint(group)
            else tuple(
                [
                    r
                    for p, e, v in zip(group, members, views, strict=True)
                    if p in self._guarded
                    for r in protected_ranges(e, v)
                ]
            ),
            heading_trail=trails.common,
            heading_trails=trails.each,
            tokens=self._measure.count(first.start_char, last.end_char)
            if verbatim
            else self._measure.count_alone(content),
            buffer_tokens=sum([self._tokens[p] for p in group]),
            searchable=first.kind != "front_matter" or self._settings.index_front_matter,
        )

    def derived(self, position: int, source: CoarseChunk, index: int) -> CoarseChunk:
        element = self._elements[position]
        before, after = self._context.around(position)
        trails = self._trails.of_chunk([element.element_index])
        length = element.end_char - element.start_char
        return CoarseChunk(
            coarse_id=_coarse_id(index),
            coarse_index=index,
            role="derived",
            kinds=(element.kind,),
            element_indexes=(element.element_index,),
            content=self._text[element.start_char : element.end_char],
            verbatim=True,
            start_char=element.start_char,
            end_char=element.end_char,
            start_line=element.start_line,
            end_line=element.end_line,
            spans=(Span(element.start_char, element.end_char),),
            views=(ElementView(element.element_index, element.kind, 0, length),),
            protected=(ProtectedRange(element.kind, 0, length),),
            heading_trail=trails.common,
            heading_trails=trails.each,
            tokens=self._tokens[position],
            buffer_tokens=None,
            element_id=identifier(element),
            source_coarse_id=source.coarse_id,
            description=self._context.description(position),
            context_before=before,
            context_after=after,
        )

    def _joined(self, group: Sequence[int]) -> tuple[str, list[ElementView], list[Span]]:
        """A content that is no slice, where each element stands in it, and its verbatim parts in the document."""
        pieces: list[str] = []
        views: list[ElementView] = []
        spans: list[Span] = []
        length = 0
        previous: int | None = None
        after_rendered = False
        for position in group:
            element = self._elements[position]
            source = self._text[element.start_char : element.end_char]
            rendered = position in self._rendered
            body = rendering(element, source) if rendered else source
            # Where a rule was dropped, the element before in the group is not the one before in the document.
            joined = previous == position - 1 and not rendered and not after_rendered
            if previous is not None:
                before = self._elements[previous].end_char
                gap = self._text[before : element.start_char] if joined else SEPARATOR
                pieces.append(gap)
                length += len(gap)
            views.append(
                ElementView(element.element_index, element.kind, length, length + len(body), rendered)
            )
            pieces.append(body)
            length += len(body)
            if joined:
                spans[-1] = Span(spans[-1].start_char, element.end_char)
            elif not rendered:
                spans.append(Span(element.start_char, element.end_char))
            previous, after_rendered = position, rendered
        return "".join(pieces), views, spans

    def _is_slice(self, group: Sequence[int]) -> bool:
        """Whether the content is the document's own slice: no rule was dropped, nothing is rendered."""
        return group[-1] - group[0] == len(group) - 1 and self._rendered.isdisjoint(group)

    def _is_rendered(self, position: int) -> bool:
        element = self._elements[position]
        source = self._text[element.start_char : element.end_char]
        return is_rendered(element, source, self._tokens[position], self._settings)


def protected_ranges(element: Element, view: ElementView) -> list[ProtectedRange]:
    """Protected ranges of an element in the content: the whole of a protected one, the nested ones of others."""
    if element.kind in PROTECTED_KINDS:
        return [ProtectedRange(element.kind, view.start, view.end)]
    shift = view.start - element.start_char
    return [ProtectedRange(r.kind, r.start_char + shift, r.end_char + shift) for r in element.protected]


def _coarse_id(index: int) -> str:
    return f"c{index:04d}"
