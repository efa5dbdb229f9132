"""The gates of a measured set: its documents and chunks as `evaluation.gates` sees them (ME-05).

| chunker | promised length |
| --- | --- |
| `pack`, `semantic_depth_window` | `max_tokens`, but for recorded reasons; of a derived chunk `hard_max_tokens` |
| `fixed`, `recursive`, `document_aware`, `ablation_a` | the size that was asked for, in its unit |
| a peer | the size that it was asked for |
| the others | none |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from linkrag_dagster.chunking import ChunkSettings
from linkrag_dagster.chunking.records import Chunk
from linkrag_dagster.evaluation.gates import (
    Capabilities,
    Correctness,
    GatedChunk,
    SourceDocument,
    capabilities,
    correctness,
)
from linkrag_dagster.evaluation.gold import GoldDocument
from linkrag_dagster.markdown.elements import PROTECTED_KINDS, Element

FILTERED = frozenset({"rule", "front_matter"})
"""Kinds of elements that no chunk need hold (CB-01, CB-02)."""
SIZED = ("fixed", "recursive", "document_aware", "ablation_a")
"""Strategies for comparison that promise their size."""
_UNBOUNDED = ("noop", "auto")


@dataclass(frozen=True, slots=True)
class Gates:
    """What both kinds of gates counted.

    Attributes:
        correctness: what every chunker must pass.
        capabilities: what a weak baseline may fail.
    """

    correctness: Correctness = field(default_factory=Correctness)
    capabilities: Capabilities = field(default_factory=Capabilities)

    def __add__(self, other: Gates) -> Gates:
        return Gates(self.correctness + other.correctness, self.capabilities + other.capabilities)


def gated(chunk: Chunk, settings: ChunkSettings) -> GatedChunk:
    """A chunk of the road, with the length that its strategy promises."""
    length, limit = _promise(chunk, settings)
    return GatedChunk(
        chunk_id=chunk.chunk_id,
        role=chunk.role,
        start_char=chunk.start_char,
        end_char=chunk.end_char,
        spans=tuple((span.start_char, span.end_char) for span in chunk.spans),
        length=length,
        limit=limit,
        over_length_allowed=not settings.compares and chunk.oversized_reason is not None,
        truncated=chunk.truncated,
        source_chunk_id=chunk.source_chunk_id,
    )


def _promise(chunk: Chunk, settings: ChunkSettings) -> tuple[int, int | None]:
    """The chunk's length, and the longest that it may be; None where nothing is promised."""
    if chunk.kinds == ("front_matter",) or settings.strategy in _UNBOUNDED:
        return chunk.tokens, None
    if chunk.role == "derived":
        return chunk.tokens, settings.hard_max_tokens
    if not settings.compares:
        return chunk.tokens, settings.max_tokens
    if settings.strategy not in SIZED:
        return chunk.tokens, None
    sizes = settings.comparison
    return chunk.tokens if sizes.in_tokens else len(chunk.content), sizes.usual_size


def gates_of(
    document: GoldDocument,
    elements: Sequence[Element],
    chunks: Sequence[GatedChunk],
    declared: tuple[tuple[int, int], ...],
    *,
    front_matter: bool,
) -> Gates:
    """The gates of one document: its source is the words of its elements, white space apart.

    Args:
        document: its text.
        elements: of the parser that all chunkers share.
        chunks: in their own order.
        declared: source whose absence is recorded.
        front_matter: whether front matter must be found, too.
    """
    filtered = FILTERED - ({"front_matter"} if front_matter else set())
    source = tuple(
        span
        for element in elements
        if element.kind not in filtered
        for span in _words(document.text, element.start_char, element.end_char)
    )
    known = SourceDocument(
        document.doc_id,
        len(document.text),
        source,
        document.version,
        declared,
        protected=tuple(_protected(elements)),
        headings=tuple(_headings(elements)),
    )
    return Gates(correctness(known, chunks), capabilities(known, chunks))


def declared_loss(chunks: Sequence[Chunk], document: GoldDocument) -> tuple[tuple[int, int], ...]:
    """Source that no source chunk holds, but a record tells of: elements of derived chunks, truncated tails."""
    derived = [(span.start_char, span.end_char) for c in chunks if c.role != "source" for span in c.spans]
    source = [c for c in chunks if c.role == "source"]
    following = [*(c.start_char for c in source[1:]), len(document.text)]
    tails = [
        (chunk.spans[-1].end_char, end)
        for chunk, end in zip(source, following, strict=False)
        if chunk.truncated and chunk.spans
    ]
    return (*derived, *tails)


def _protected(elements: Sequence[Element]) -> Iterator[tuple[int, int]]:
    """Code, formulae, images and tables, those inside lists and quotes too (EL-06)."""
    for element in elements:
        if element.kind in PROTECTED_KINDS:
            yield element.start_char, element.end_char
        for held in element.protected:
            yield held.start_char, held.end_char


def _headings(elements: Sequence[Element]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Each heading that has text of its own, with the first element of that text."""
    for heading, text in pairwise(e for e in elements if e.kind != "rule"):
        if heading.kind == "heading" and text.kind != "heading":
            yield (heading.start_char, heading.end_char), (text.start_char, text.end_char)


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Places of what white space parts."""
    at = start
    for word in text[start:end].split():
        begin = text.index(word, at)
        at = begin + len(word)
        yield begin, at
