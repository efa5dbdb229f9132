"""Gates before any score: correctness, which every strategy must pass, and capabilities, which it may fail (ME-05).

Correctness: the chunks' spans cover the normalised source, lie in it, keep its order, and what they lack is declared.
A failed gate voids the comparison. Capabilities: protected elements whole, nothing truncated, derived chunks anchored,
headings with their text, no length over the promised maximum. A weak baseline may fail these and stays in.

Source: `seeds/004`, table of formal metrics, rows one and two.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import TypeAlias, TypeVar

from linkrag_dagster.evaluation.budget import SourceLength, code_points
from linkrag_dagster.evaluation.spans import difference, intersection, union

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One document, as the parser that all strategies share left it. Spans are code points, half-open.

    Attributes:
        doc_id, version: which document.
        characters: length of its canonical text.
        source: the normalised source: what must be found in chunks; what the pipeline filters by rule is not in it.
        declared_loss: source whose absence is recorded, such as a truncated tail.
        protected: elements that no cut may enter.
        headings: each heading that has text of its own, with the first element of that text.
    """

    doc_id: str
    characters: int
    source: tuple[Span, ...]
    version: str | None = None
    declared_loss: tuple[Span, ...] = ()
    protected: tuple[Span, ...] = ()
    headings: tuple[tuple[Span, Span], ...] = ()


@dataclass(frozen=True, slots=True)
class GatedChunk:
    """A chunk as a gate sees it.

    Attributes:
        chunk_id: unique in its document.
        role: `source` or `derived`.
        start_char, end_char: from its first to its last element; of a derived chunk, its element.
        spans: its verbatim source spans before overlap, in order.
        length: in the unit of `limit`.
        limit: the maximum promised for it; None where none is.
        over_length_allowed: whether a recorded exception lets it exceed the limit.
        truncated: whether a tail of its source was cut off, under a recorded reason.
        source_chunk_id: of a derived chunk, the source chunk that holds its element.
    """

    chunk_id: str
    role: str
    start_char: int
    end_char: int
    spans: tuple[Span, ...]
    length: int = 0
    limit: int | None = None
    over_length_allowed: bool = False
    truncated: bool = False
    source_chunk_id: str | None = None


@dataclass(frozen=True, slots=True)
class Correctness:
    """Counts of the correctness gates; those of several documents add up.

    Attributes:
        source: units of normalised source.
        covered: units of it that source chunks hold.
        declared: units of it that none holds, but a record says so.
        spans: verbatim spans of all chunks.
        mapped_spans: those that lie in the document's text.
        steps: from one source span to the next, within chunks and from chunk to chunk.
        ordered_steps: those that do not go back.
        failed: documents with an undeclared loss, a span outside or a step back, sorted.
    """

    source: int = 0
    covered: int = 0
    declared: int = 0
    spans: int = 0
    mapped_spans: int = 0
    steps: int = 0
    ordered_steps: int = 0
    failed: tuple[str, ...] = ()

    @property
    def undeclared(self) -> int:
        """Units of source that no chunk holds and no record names."""
        return self.source - self.covered - self.declared

    @property
    def coverage(self) -> float | None:
        """Covered over source; None without source."""
        return self.covered / self.source if self.source else None

    @property
    def undeclared_share(self) -> float | None:
        """Undeclared over source; None without source."""
        return self.undeclared / self.source if self.source else None

    @property
    def mapped_share(self) -> float | None:
        """Spans in the text over spans; None without spans."""
        return self.mapped_spans / self.spans if self.spans else None

    @property
    def ordered_share(self) -> float | None:
        """Steps that keep the order over steps; None without steps."""
        return self.ordered_steps / self.steps if self.steps else None

    @property
    def passed(self) -> bool:
        """Whether results of this strategy may be compared at all."""
        return not self.failed

    def __add__(self, other: Correctness) -> Correctness:
        return _summed(self, other)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Counts of structural capabilities; those of several documents add up.

    Attributes:
        protected: protected elements.
        protected_cut: those that an uncontrolled cut enters, and that no chunk holds whole.
        protected_truncated: those that only a recorded truncation cuts.
        chunks: all chunks.
        truncated: those of them cut short under a recorded reason.
        derived: derived chunks.
        derived_anchored: those whose source chunk exists and reaches over their element.
        headings: headings with text of their own.
        headings_attached: those in one source chunk with the beginning of that text.
        limited: chunks with a promised maximum.
        illegal_over_length: those over it without a recorded exception.
    """

    protected: int = 0
    protected_cut: int = 0
    protected_truncated: int = 0
    chunks: int = 0
    truncated: int = 0
    derived: int = 0
    derived_anchored: int = 0
    headings: int = 0
    headings_attached: int = 0
    limited: int = 0
    illegal_over_length: int = 0

    @property
    def shares(self) -> dict[str, float | None]:
        """Each count over its own total; None where there is nothing to count."""
        pairs = {
            "protected_cut": (self.protected_cut, self.protected),
            "protected_truncated": (self.protected_truncated, self.protected),
            "truncated": (self.truncated, self.chunks),
            "derived_anchored": (self.derived_anchored, self.derived),
            "headings_attached": (self.headings_attached, self.headings),
            "illegal_over_length": (self.illegal_over_length, self.limited),
        }
        return {name: count / total if total else None for name, (count, total) in pairs.items()}

    def __add__(self, other: Capabilities) -> Capabilities:
        return _summed(self, other)


def correctness(
    document: SourceDocument, chunks: Sequence[GatedChunk], source_length: SourceLength = code_points
) -> Correctness:
    """The correctness gates of one document (ME-05).

    Args:
        document: its normalised source.
        chunks: its chunks in their own order, derived ones among them.
        source_length: measures source ranges, in code points or source tokens. It decides shares alone: a gate fails
            by code points, whatever the unit.
    """
    source = union(document.source)
    ordered = [span for chunk in chunks if chunk.role == "source" for span in chunk.spans]
    held = union(ordered)
    missing = difference(source, held)
    declared = intersection(missing, union(document.declared_loss))
    spans = [span for chunk in chunks for span in chunk.spans]
    mapped = sum(0 <= start < end <= document.characters for start, end in spans)
    kept = sum(left <= right for (left, _), (right, _) in pairwise(ordered))

    def length(parts: Sequence[Span]) -> int:
        return sum(source_length(document.doc_id, document.version, start, end) for start, end in parts)

    steps = max(0, len(ordered) - 1)
    sound = not difference(missing, declared) and mapped == len(spans) and kept == steps
    return Correctness(
        source=length(source),
        covered=length(intersection(source, held)),
        declared=length(declared),
        spans=len(spans),
        mapped_spans=mapped,
        steps=steps,
        ordered_steps=kept,
        failed=() if sound else (document.doc_id,),
    )


def capabilities(document: SourceDocument, chunks: Sequence[GatedChunk]) -> Capabilities:
    """The structural capabilities of one document (ME-05)."""
    source = {chunk.chunk_id: chunk for chunk in chunks if chunk.role == "source"}
    derived = [chunk for chunk in chunks if chunk.role == "derived"]
    limited = [chunk for chunk in chunks if chunk.limit is not None]
    ranges = _Holders((chunk.start_char, chunk.end_char) for chunk in source.values())
    cuts = _cuts(document.protected, source.values())
    return Capabilities(
        protected=len(cuts),
        protected_cut=cuts.count("cut"),
        protected_truncated=cuts.count("truncated"),
        chunks=len(chunks),
        truncated=sum(chunk.truncated for chunk in chunks),
        derived=len(derived),
        derived_anchored=sum(_anchored(chunk, source.get(chunk.source_chunk_id or "")) for chunk in derived),
        headings=len(document.headings),
        headings_attached=sum(ranges.hold(heading[0], text[0] + 1) for heading, text in document.headings),
        limited=len(limited),
        illegal_over_length=sum(
            chunk.length > (chunk.limit or 0) and not chunk.over_length_allowed for chunk in limited
        ),
    )


def _cuts(protected: Iterable[Span], chunks: Iterable[GatedChunk]) -> list[str]:
    """For each distinct protected span: `whole`, `truncated` or `cut`.

    One that no chunk's edge enters is whole: a derived chunk holds it, or it is a loss, which another gate counts.
    """
    chunks = list(chunks)
    pieces = [(piece, chunk.truncated) for chunk in chunks for piece in union(chunk.spans)]
    # Edges by place, so that a protected span looks at those inside it alone.
    free = sorted({edge for piece, truncated in pieces if not truncated for edge in piece})
    shortened = sorted({edge for piece, truncated in pieces if truncated for edge in piece})
    held = _Holders([piece for piece, _ in pieces])
    found: list[str] = []
    for start, end in sorted(set(protected)):
        if held.hold(start, end):
            found.append("whole")
        elif _any_inside(free, start, end):
            found.append("cut")
        else:
            found.append("truncated" if _any_inside(shortened, start, end) else "whole")
    return found


class _Holders:
    """Ranges, which may overlap, asked whether one of them holds a span whole."""

    def __init__(self, ranges: Iterable[Span]) -> None:
        ordered = sorted(ranges)
        self._starts = [start for start, _ in ordered]
        self._farthest = list(accumulate((end for _, end in ordered), max))

    def hold(self, start: int, end: int) -> bool:
        last = bisect_right(self._starts, start) - 1
        return last >= 0 and end <= self._farthest[last]


def _any_inside(edges: Sequence[int], start: int, end: int) -> bool:
    place = bisect_right(edges, start)
    return place < len(edges) and edges[place] < end


def _anchored(chunk: GatedChunk, source: GatedChunk | None) -> bool:
    return source is not None and source.start_char < chunk.end_char and chunk.start_char < source.end_char


Counts = TypeVar("Counts", Correctness, Capabilities)


def _summed(left: Counts, right: Counts) -> Counts:
    """Counts added, names of failed documents joined."""
    sums = {item.name: getattr(left, item.name) + getattr(right, item.name) for item in fields(left)}
    if "failed" in sums:
        sums["failed"] = tuple(sorted(set(sums["failed"])))
    return type(left)(**sums)
