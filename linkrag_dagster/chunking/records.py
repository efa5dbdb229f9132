"""The records of the road from elements to chunks: coarse, final, chunk, and the trace of every gap.

Columns of the tables `coarse_chunks`, `final_chunks`, `chunks` and `boundary_trace` are these attributes; a stage adds
the document's key and the versions. Offsets are code points, half-open. `start_char`, `end_char` and spans are in the
document's canonical text; views and `coarse_*` offsets are in the coarse chunk's content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.markdown.elements import Element, ProtectedRange
from linkrag_dagster.markdown.frozen import record


@record
class Span:
    """A half-open range of code points in the document's canonical text."""

    start_char: int
    end_char: int


@record
class ElementView:
    """Where an element stands in a coarse chunk's content (CB-15).

    Attributes:
        element_index: the element.
        kind: its kind.
        start: first code point in the coarse content.
        end: one past the last.
        rendered: True where the content holds a reference and description instead of the source (CB-12).
    """

    element_index: int
    kind: str
    start: int
    end: int
    rendered: bool = False


@record
class CoarseChunk:
    """Stage one's candidate: elements that structure keeps together (CB-01 to CB-17).

    Attributes:
        coarse_id: unique in its document and stable under equal input, `c0000` style, derived ones after their source.
        coarse_index: position in the document, from 0.
        role: `source` or `derived`.
        kinds: kinds of its elements in order of first appearance.
        element_indexes: its elements, in order.
        content: for a source chunk the slice (or the slice with rendered references); for a derived one the element's
            raw Markdown.
        verbatim: True when `content` equals the document's `[start_char:end_char]`.
        start_char, end_char, start_line, end_line: from its first to its last element.
        spans: verbatim sub-spans of the document (CB-17); one span when verbatim.
        views: its elements' ranges in `content`.
        protected: protected ranges in `content`: its protected elements and the nested ones.
        heading_trail: longest common prefix of its elements' trails (CB-10).
        heading_trails: the individual trails, distinct, in order.
        tokens: tokens of `content`.
        buffer_tokens: sum over its elements of the tokens of each one's own source (CB-06); None for derived ones.
        element_id: the image's or table's id, for derived ones.
        source_coarse_id: the source chunk of a derived one.
        description: real description of an image, summary of a table; None where there is none.
        context_before, context_after: adjacent context of a derived chunk (CB-14), verbatim spans of the document.
        searchable: False for front matter unless asked for (CB-02).
    """

    coarse_id: str
    coarse_index: int
    role: str
    kinds: tuple[str, ...]
    element_indexes: tuple[int, ...]
    content: str
    verbatim: bool
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    spans: tuple[Span, ...]
    views: tuple[ElementView, ...]
    protected: tuple[ProtectedRange, ...]
    heading_trail: tuple[str, ...]
    heading_trails: tuple[tuple[str, ...], ...]
    tokens: int
    buffer_tokens: int | None
    element_id: str | None = None
    source_coarse_id: str | None = None
    description: str | None = None
    context_before: Span | None = None
    context_after: Span | None = None
    searchable: bool = True


@record
class FinalChunk:
    """Stage two's result: one contiguous slice of a coarse chunk's content (SD-13).

    Attributes:
        final_id: unique in its document, `<coarse_id>.f000`.
        final_index: position in the document, from 0.
        coarse_id: the coarse chunk it was cut from.
        role: `source` or `derived`.
        kinds: kinds of the elements it holds (a part of an element counts), in order.
        element_indexes: those elements.
        contained_element_ids: ids of the images and tables it holds (SD-14).
        content: its own words.
        verbatim: True when `content` equals the document's `[start_char:end_char]`.
        coarse_start, coarse_end: its range in the coarse content.
        start_char, end_char, start_line, end_line: its place in the document.
        spans: its verbatim sub-spans of the document.
        heading_trail, heading_trails: as for the coarse chunk, from its own elements.
        tokens: tokens of `content`.
        strategy: `noop`, `pack`, `semantic_depth_window`, or a comparison strategy.
        hard_max_enforced: False where no length is promised (`noop`, front matter, derived).
        cut_reason: why it ends there: `end`, `structural`, `depth`, `sentence`, `token_safe`, `protected_split`.
        oversized, oversized_reason: longer than `max`, and why (SD-12).
        part, parts: number of this piece and their count, where one element was split (SD-11); else None.
        repeated_prefix: what the indexed text repeats for a later part: a table's header rows, a fence's opening line.
        truncated, truncated_reason, original_token_count: set by `oversize: truncate` alone.
        element_id, source_final_id, description, context_before, context_after: of derived chunks.
        searchable: False for front matter unless asked for.
    """

    final_id: str
    final_index: int
    coarse_id: str
    role: str
    kinds: tuple[str, ...]
    element_indexes: tuple[int, ...]
    contained_element_ids: tuple[str, ...]
    content: str
    verbatim: bool
    coarse_start: int
    coarse_end: int
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    spans: tuple[Span, ...]
    heading_trail: tuple[str, ...]
    heading_trails: tuple[tuple[str, ...], ...]
    tokens: int
    strategy: str
    hard_max_enforced: bool
    cut_reason: str
    oversized: bool = False
    oversized_reason: str | None = None
    part: int | None = None
    parts: int | None = None
    repeated_prefix: str | None = None
    truncated: bool = False
    truncated_reason: str | None = None
    original_token_count: int | None = None
    element_id: str | None = None
    source_final_id: str | None = None
    description: str | None = None
    context_before: Span | None = None
    context_after: Span | None = None
    searchable: bool = True


@record
class GapTrace:
    """One gap between two atoms of a refined chunk, and what became of it (SD-16).

    Attributes:
        coarse_id: the refined coarse chunk.
        gap_index: position among its gaps, from 0: the gap after atom `gap_index`.
        position: code point in the coarse content where a cut there would fall.
        cohesion: likeness of the windows on both sides, from -1 to 1; None where a side has nothing that is scored
            (always under `pack`).
        depth: of the valley there; None likewise.
        legal: whether a cut may fall there (SD-08).
        chosen: whether one does.
        reason: why it was chosen, or not.
    """

    coarse_id: str
    gap_index: int
    position: int
    cohesion: float | None
    depth: float | None
    legal: bool
    chosen: bool
    reason: str


@record
class Chunk:
    """What is indexed (EX-01, EX-06): two texts, never one.

    Attributes:
        chunk_id: hash of document id, declared version if any, role, content and its occurrence number among equal
            contents of that role.
        ordinal: position in the document, from 0.
        role: `source` or `derived`.
        kinds: kinds of its elements, in order.
        content: its own words, quoted back to people.
        text: header, neighbour context and content: what is embedded and, by default, indexed.
        header: the header line inside `text`, "" where there is none.
        verbatim: True when `content` equals the document's `[start_char:end_char]`.
        spans: verbatim sub-spans of the document: evidence and quotes use these.
        context_spans, context_chunk_ids: where the context before and after `content` in `text` came from.
        heading_trail: tuple of titles.
        start_char, end_char, start_line, end_line: its place in the document.
        tokens: tokens of `content` in the budget's tokenizer.
        encoder_tokens: tokens of `text` in the encoder's tokenizer, special tokens included.
        header_tokens: tokens of `header` in the encoder's tokenizer.
        truncated_tokens: tokens that the encoder would not see; 0 by contract (EX-05).
        strategy: the strategy that cut it.
        cut_reason, oversized, oversized_reason, part, parts, truncated, truncated_reason, original_token_count: as for
            the final chunk.
        overflow: how a core that did not fit the encoder's window was handled (`split`, `vectors`, `pool`), else None.
        source_chunk_id: of a derived chunk, the source chunk that holds its element.
        element_id: of a derived chunk, `image_001` or `table_001`.
        contained_element_ids: images and tables it holds.
        final_id: the final chunk it was exported from.
        searchable: False where it is stored but neither embedded nor indexed (CB-02).
    """

    chunk_id: str
    ordinal: int
    role: str
    kinds: tuple[str, ...]
    content: str
    text: str
    header: str
    verbatim: bool
    spans: tuple[Span, ...]
    context_spans: tuple[Span, ...]
    context_chunk_ids: tuple[str, ...]
    heading_trail: tuple[str, ...]
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    tokens: int
    encoder_tokens: int
    header_tokens: int
    truncated_tokens: int
    strategy: str
    cut_reason: str
    oversized: bool
    oversized_reason: str | None
    part: int | None
    parts: int | None
    truncated: bool
    truncated_reason: str | None
    original_token_count: int | None
    overflow: str | None
    source_chunk_id: str | None
    element_id: str | None
    contained_element_ids: tuple[str, ...]
    final_id: str
    searchable: bool


@dataclass(frozen=True, slots=True)
class ChunkSet:
    """All that chunking made of one text, stage by stage."""

    elements: Sequence[Element]
    coarse: Sequence[CoarseChunk]
    final: Sequence[FinalChunk]
    chunks: Sequence[Chunk]
    trace: Sequence[GapTrace]
