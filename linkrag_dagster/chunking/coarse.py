"""Stage one put together: coarse chunks with views, spans and derived chunks (CB-10 to CB-17)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from linkrag_dagster.chunking.boundary import group_elements
from linkrag_dagster.chunking.derived import DERIVED_KINDS, adjacent_context, is_rendered, rendering
from linkrag_dagster.chunking.records import CoarseChunk, ElementView, Span
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.chunking.trails import Trails
from linkrag_dagster.markdown.elements import PROTECTED_KINDS, Element, ProtectedRange
from linkrag_dagster.tokens import TokenCounter, Tokenizer

SEPARATOR = "\n\n"
"""What stands beside a rendered element, or where a thematic break was dropped (CB-15)."""


@dataclass(frozen=True, slots=True)
class _Content:
    text: str
    views: tuple[ElementView, ...]
    spans: tuple[Span, ...]
    verbatim: bool


def coarse_chunks(
    elements: Sequence[Element],
    text: str,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
    *,
    counter: TokenCounter | None = None,
) -> list[CoarseChunk]:
    """Coarse chunks of a document: each source chunk, behind it the derived ones of its images and tables.

    Args:
        elements: the document's elements, in order.
        text: its canonical text.
        settings: limits and modes.
        tokenizer: of the budget.
        counter: of that text, where it has been tokenised already.
    """
    counter = counter or TokenCounter(tokenizer, text)
    trails = Trails(elements)
    tokens = [counter.count(e.start_char, e.end_char) for e in elements]
    chunks: list[CoarseChunk] = []
    for group in group_elements(elements, tokens, settings.min_candidate_tokens):
        members = [elements[index] for index in group]
        content = _content(members, text, tokens, settings)
        first, last = members[0], members[-1]
        source = CoarseChunk(
            coarse_id=_name(len(chunks)),
            coarse_index=len(chunks),
            role="source",
            kinds=_kinds(members),
            element_indexes=tuple(group),
            content=content.text,
            verbatim=content.verbatim,
            start_char=first.start_char,
            end_char=last.end_char,
            start_line=first.start_line,
            end_line=last.end_line,
            spans=content.spans,
            views=content.views,
            protected=tuple(
                p for m, v in zip(members, content.views, strict=True) for p in protected_ranges(m, v)
            ),
            heading_trail=trails.of_chunk(group).common,
            heading_trails=trails.of_chunk(group).each,
            tokens=counter.count(first.start_char, last.end_char)
            if content.verbatim
            else tokenizer.count(content.text),
            buffer_tokens=sum(tokens[index] for index in group),
            searchable=first.kind != "front_matter" or settings.index_front_matter,
        )
        chunks.append(source)
        for element in members:
            if element.kind in DERIVED_KINDS:
                chunks.append(
                    _derived(element, elements, tokens, counter, settings, source, trails, len(chunks))
                )
    return chunks


def _derived(
    element: Element,
    elements: Sequence[Element],
    tokens: Sequence[int],
    counter: TokenCounter,
    settings: ChunkSettings,
    source: CoarseChunk,
    trails: Trails,
    index: int,
) -> CoarseChunk:
    before, after = adjacent_context(elements, element.element_index, counter, settings)
    span = Span(element.start_char, element.end_char)
    view = ElementView(element.element_index, element.kind, 0, element.end_char - element.start_char)
    return CoarseChunk(
        coarse_id=_name(index),
        coarse_index=index,
        role="derived",
        kinds=(element.kind,),
        element_indexes=(element.element_index,),
        content=counter.text[element.start_char : element.end_char],
        verbatim=True,
        start_char=element.start_char,
        end_char=element.end_char,
        start_line=element.start_line,
        end_line=element.end_line,
        spans=(span,),
        views=(view,),
        protected=tuple(protected_ranges(element, view)),
        heading_trail=element.heading_trail,
        heading_trails=trails.of_chunk([element.element_index]).each,
        tokens=tokens[element.element_index],
        buffer_tokens=None,
        element_id=element.element_id,
        source_coarse_id=source.coarse_id,
        description=element.description,
        context_before=before,
        context_after=after,
    )


def _name(index: int) -> str:
    return f"c{index:04d}"


def _kinds(members: Sequence[Element]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(element.kind for element in members))


def _content(
    members: Sequence[Element], text: str, tokens: Sequence[int], settings: ChunkSettings
) -> _Content:
    """The group's text: the source's own, but for rendered elements and dropped thematic breaks (CB-15)."""
    parts: list[str] = []
    views: list[ElementView] = []
    spans: list[Span] = []
    size = 0
    before: Element | None = None
    before_rendered = False
    for element in members:
        source = text[element.start_char : element.end_char]
        rendered = is_rendered(element, source, tokens[element.element_index], settings)
        if before is not None:
            # An element that was dropped between two others is a thematic break.
            dropped = element.element_index != before.element_index + 1
            joined = not (rendered or before_rendered or dropped)
            between = text[before.end_char : element.start_char] if joined else SEPARATOR
            parts.append(between)
            size += len(between)
            if joined:
                spans[-1] = Span(spans[-1].start_char, element.end_char)
        own = rendering(element, source) if rendered else source
        if not rendered and (not spans or spans[-1].end_char != element.end_char):
            spans.append(Span(element.start_char, element.end_char))
        views.append(ElementView(element.element_index, element.kind, size, size + len(own), rendered))
        parts.append(own)
        size += len(own)
        before, before_rendered = element, rendered
    content = "".join(parts)
    verbatim = len(spans) == 1 and spans[0] == Span(members[0].start_char, members[-1].end_char)
    return _Content(content, tuple(views), tuple(spans), verbatim)


def protected_ranges(element: Element, view: ElementView) -> Iterator[ProtectedRange]:
    """Ranges of the content that no cut enters: a protected element, and nested ones (CB-11, EL-06)."""
    if element.kind in PROTECTED_KINDS:
        yield ProtectedRange(element.kind, view.start, view.end)
    shift = view.start - element.start_char
    for nested in element.protected:
        yield ProtectedRange(nested.kind, nested.start_char + shift, nested.end_char + shift)
