"""The account of a chunked text: its chunks in order, what each indexed text is made of, and every gap and cut.

It only relates records to each other and to the text; words for people are in `reasons`, pictures in `page`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from linkrag_dagster.chunking import Chunk, ChunkSet, CoarseChunk, ElementView, FinalChunk, GapTrace, Span
from linkrag_dagster.chunking.cohesion import DECIMALS
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.explain.limits import Limits
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap between two atoms.

    Attributes:
        trace: what chunking recorded of it.
        position: where it stands in the document.
        tokens: tokens from the start of the chunk that it was weighed for to the gap; None without limits.
    """

    trace: GapTrace
    position: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Block:
    """Words of one element, or of a part of one, that no gap divides.

    Attributes:
        kind: the element's kind.
        start, end: their place in the chunk's content; blocks tile it.
    """

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Row:
    """The words between two gaps of a chunk.

    Attributes:
        blocks: tile them.
        gap: the one that follows them inside the chunk; None for the last row.
    """

    blocks: tuple[Block, ...]
    gap: Gap | None


@dataclass(frozen=True, slots=True)
class IndexedParts:
    """What a chunk's `text` is made of, in its order; the parts hold all its words.

    Attributes:
        header: title and headings.
        introduction: a derived chunk's reference, or what a later part of a split block repeats.
        before: context before the content.
        core: the content, as the text holds it.
        after: context after it.
    """

    header: str
    introduction: str
    before: str
    core: str
    after: str


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a source chunk ends and another one follows.

    Attributes:
        number: among the cuts, from 1.
        position: where the chunk ends in the document.
        reason: the record's word for why.
        gap: the gap that was chosen; None where nothing was weighed.
        weighed: the gaps that it was chosen from, itself included, in order.
        barred: deeper gaps between them that may not be cut.
        overflow: tokens of the chunk if it reached the first gap (or the end) beyond the maximum; None if unknown.
        opens: the heading that follows, where the cut is the document's own; None otherwise.
        coarse: the coarse chunk that ends there; None inside one, and for strategies without coarse chunks.
        split: whether it ends a part of a block that was split by itself.
        window: whether the cut falls only because the indexed text would exceed the encoder's window.
    """

    number: int
    position: int
    reason: str
    gap: Gap | None = None
    weighed: tuple[Gap, ...] = ()
    barred: tuple[Gap, ...] = ()
    overflow: int | None = None
    opens: Element | None = None
    coarse: CoarseChunk | None = None
    split: bool = False
    window: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A chunk with what explains it.

    Attributes:
        chunk: the record.
        final: the final chunk that it was exported from.
        rows: its words between gaps.
        parts: of its indexed text.
        cut: the cut at its end; None for derived chunks and the last source chunk.
        weighed: whether its coarse chunk was above the maximum, so that gaps were weighed.
    """

    chunk: Chunk
    final: FinalChunk
    rows: tuple[Row, ...]
    parts: IndexedParts
    cut: Cut | None
    weighed: bool


@dataclass(frozen=True, slots=True)
class Account:
    """A chunked text.

    Attributes:
        text: the document's.
        shown: all its chunks; a derived one follows the source chunk that holds its element.
        gaps: all gaps, in the document's order.
        notes: what a strategy recorded about its choice.
        uncovered: visible words that no source chunk holds, such as rules between sections.
        limits: what it was cut under, if known.
    """

    text: str
    shown: tuple[Shown, ...]
    gaps: tuple[Gap, ...]
    notes: tuple[str, ...]
    uncovered: tuple[Span, ...]
    limits: Limits | None

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """All cuts, in order."""
        return tuple(s.cut for s in self.shown if s.cut is not None)


def account_of(made: ChunkSet, text: str, limits: Limits | None = None) -> Account:
    """The account of `made`, which was made of `text`. Linear in chunks, gaps and blocks.

    Args:
        made: of any strategy; without a trace there are no gaps.
        text: the document's canonical text.
        limits: what it was cut under; without them nothing is counted.
    """
    return _Accountant(made, text, limits).account()


@dataclass(slots=True)
class _Refined:
    """The gaps of one coarse content, and its counts."""

    measure: Measure | None
    positions: list[int] = field(default_factory=list[int])
    traces: list[GapTrace] = field(default_factory=list[GapTrace])


class _Accountant:
    def __init__(self, made: ChunkSet, text: str, limits: Limits | None) -> None:
        self._made = made
        self._text = text
        self._limits = limits
        self._counter = None if limits is None else TokenCounter(limits.tokenizer, text)
        self._coarse: Mapping[str, CoarseChunk] = {c.coarse_id: c for c in made.coarse}
        self._final: Mapping[str, FinalChunk] = {f.final_id: f for f in made.final}
        self._elements: Mapping[int, Element] = {e.element_index: e for e in made.elements}
        self._starts = [e.start_char for e in made.elements]
        self._refined: dict[str, _Refined] = {}
        self._notes: list[str] = []
        for row in made.trace:
            if row.position == 0:  # no gap: a strategy's word about its choice
                self._notes.append(row.reason)
                continue
            refined = self._refined.setdefault(row.coarse_id, _Refined(self._measure_of(row.coarse_id)))
            refined.positions.append(row.position)
            refined.traces.append(row)

    def account(self) -> Account:
        gaps = [self._gap(row) for row in self._made.trace if row.position]
        return Account(
            self._text,
            tuple(self._ordered()),
            tuple(sorted(gaps, key=lambda gap: gap.position)),
            tuple(self._notes),
            tuple(_uncovered(self._made.chunks, self._text)),
            self._limits,
        )

    def _ordered(self) -> Iterable[Shown]:
        sources = [c for c in self._made.chunks if c.role == "source"]
        known = {c.chunk_id for c in sources}
        derived: dict[str, list[Chunk]] = {}
        for chunk in self._made.chunks:
            if chunk.role != "source":
                anchor = chunk.source_chunk_id if chunk.source_chunk_id in known else ""
                derived.setdefault(anchor or "", []).append(chunk)
        offsets = _offsets(self._made.chunks, self._final)
        for number, chunk in enumerate(sources, start=1):
            after = sources[number] if number < len(sources) else None
            cut = None if after is None else self._cut(number, chunk, after, offsets)
            yield self._shown(chunk, offsets[chunk.ordinal], cut)
            for other in derived.pop(chunk.chunk_id, ()):
                yield self._shown(other, offsets[other.ordinal], None)
        for chunk in derived.pop("", ()):
            yield self._shown(chunk, offsets[chunk.ordinal], None)

    # -- one chunk -----------------------------------------------------------------------------------------------

    def _shown(self, chunk: Chunk, offset: int, cut: Cut | None) -> Shown:
        final = self._final[chunk.final_id]
        origin = final.coarse_start + offset
        rows = self._rows(chunk, final, origin)
        return Shown(chunk, final, rows, indexed_parts(chunk, self._text), cut, self._weighed(chunk, final))

    def _weighed(self, chunk: Chunk, final: FinalChunk) -> bool:
        return chunk.role == "source" and final.coarse_id in self._refined and final.coarse_id in self._coarse

    def _rows(self, chunk: Chunk, final: FinalChunk, origin: int) -> tuple[Row, ...]:
        length = len(chunk.content)
        refined = self._refined.get(final.coarse_id) if chunk.role == "source" else None
        inside: list[Gap] = []
        if refined is not None and (chunk.verbatim or final.coarse_id in self._coarse):
            first = bisect_right(refined.positions, origin)
            last = bisect_left(refined.positions, origin + length)
            inside = [self._gap(row, final.coarse_start) for row in refined.traces[first:last]]
        kinds = self._kinds(chunk, final, origin, length)
        rows: list[Row] = []
        begin = 0
        for gap in inside:
            end = gap.trace.position - origin
            rows.append(Row(tuple(_blocks(kinds, begin, end)), gap))
            begin = end
        rows.append(Row(tuple(_blocks(kinds, begin, length)), None))
        return tuple(rows)

    def _kinds(self, chunk: Chunk, final: FinalChunk, origin: int, length: int) -> Sequence[tuple[int, str]]:
        """Where in the content which kind of element begins, in order."""
        coarse = self._coarse.get(final.coarse_id)
        if coarse is not None and chunk.role == "source":
            begins = [(view.start - origin, view.kind) for view in _views(coarse, origin, origin + length)]
        elif chunk.verbatim:
            start = chunk.start_char
            first = max(0, bisect_right(self._starts, start) - 1)
            last = bisect_left(self._starts, start + length)
            begins = [(e.start_char - start, e.kind) for e in self._made.elements[first:last]]
        else:
            begins = []
        if not begins:
            return [(0, chunk.kinds[0] if chunk.kinds else "paragraph")]
        return [(0, begins[0][1]), *begins[1:]]

    # -- gaps and cuts -------------------------------------------------------------------------------------------

    def _gap(self, row: GapTrace, start: int | None = None) -> Gap:
        """A gap, with the tokens from `start` in its coarse content."""
        measure = self._refined[row.coarse_id].measure
        tokens = None if measure is None or start is None else measure.count(start, row.position)
        return Gap(row, self._position(row), tokens)

    def _position(self, row: GapTrace) -> int:
        coarse = self._coarse.get(row.coarse_id)
        if coarse is None:
            return row.position
        if coarse.verbatim:
            return coarse.start_char + row.position
        view = coarse.views[max(0, bisect_left(coarse.views, row.position, key=lambda v: v.start) - 1)]
        element = self._elements[view.element_index]
        return element.end_char if view.rendered else element.start_char + row.position - view.start

    def _measure_of(self, coarse_id: str) -> Measure | None:
        if self._limits is None or self._counter is None:
            return None
        coarse = self._coarse.get(coarse_id)
        if coarse is None:
            return Measure(self._counter, 0, len(self._text))
        if coarse.verbatim:
            return Measure(self._counter, coarse.start_char, len(coarse.content))
        return Measure.of(self._limits.tokenizer, coarse.content)

    def _cut(self, number: int, chunk: Chunk, after: Chunk, offsets: Mapping[int, int]) -> Cut:
        cut = Cut(number, chunk.end_char, chunk.cut_reason)
        final, following = self._final[chunk.final_id], self._final[after.final_id]
        if final.final_id == following.final_id:
            return Cut(number, chunk.end_char, chunk.cut_reason, window=chunk.overflow == "split")
        coarse = self._coarse.get(final.coarse_id)
        if coarse is not None and final.coarse_id != following.coarse_id:
            opens = self._elements.get(following.element_indexes[0]) if following.element_indexes else None
            return Cut(number, chunk.end_char, "structure", opens=opens, coarse=coarse)
        refined = self._refined.get(final.coarse_id)
        if refined is None:
            return cut
        end = final.coarse_end
        at = bisect_left(refined.positions, end)
        if at == len(refined.positions) or not refined.traces[at].chosen:
            return cut
        gap = self._gap(refined.traces[at], final.coarse_start)
        split = final.part is not None
        if split or coarse is None or self._limits is None or refined.measure is None:
            return Cut(number, chunk.end_char, chunk.cut_reason, gap, split=split)
        within, overflow = self._within(refined, final, len(coarse.content))
        weighed = tuple(g for g in within if g.trace.legal or g.trace == gap.trace)
        barred = tuple(g for g in within if g not in weighed and _deeper(g, gap))
        return Cut(number, chunk.end_char, chunk.cut_reason, gap, weighed, barred, overflow)

    def _within(
        self, refined: _Refined, final: FinalChunk, length: int
    ) -> tuple[tuple[Gap, ...], int | None]:
        """Gaps that leave the chunk within the maximum, and its tokens at the first place beyond that."""
        assert self._limits is not None and refined.measure is not None
        most = self._limits.settings.max_tokens
        found: list[Gap] = []
        at = bisect_right(refined.positions, final.coarse_start)
        for row in refined.traces[at:]:
            gap = self._gap(row, final.coarse_start)
            if gap.tokens is not None and gap.tokens > most:
                return tuple(found), gap.tokens
            found.append(gap)
        whole = refined.measure.count(final.coarse_start, length)
        return tuple(found), whole if whole > most else None


def _deeper(gap: Gap, other: Gap) -> bool:
    return round(gap.trace.depth or 0.0, DECIMALS) > round(other.trace.depth or 0.0, DECIMALS)


def _offsets(chunks: Sequence[Chunk], final: Mapping[str, FinalChunk]) -> dict[int, int]:
    """Where each chunk's content begins in its final chunk's, by ordinal; parts of one follow each other."""
    offsets: dict[int, int] = {}
    ends: dict[str, int] = {}
    for chunk in chunks:
        source = final[chunk.final_id]
        if chunk.verbatim and source.verbatim:
            offset = chunk.start_char - source.start_char
        else:
            offset = max(0, source.content.find(chunk.content, ends.get(chunk.final_id, 0)))
        offsets[chunk.ordinal] = offset
        ends[chunk.final_id] = offset + len(chunk.content)
    return offsets


def _views(coarse: CoarseChunk, start: int, end: int) -> Sequence[ElementView]:
    first = max(0, bisect_right(coarse.views, start, key=lambda v: v.start) - 1)
    last = bisect_left(coarse.views, end, key=lambda v: v.start)
    return coarse.views[first:last]


def _blocks(kinds: Sequence[tuple[int, str]], start: int, end: int) -> Iterable[Block]:
    at = max(0, bisect_right(kinds, start, key=lambda k: k[0]) - 1)
    begin = start
    while begin < end:
        stop = min(end, kinds[at + 1][0]) if at + 1 < len(kinds) else end
        yield Block(kinds[at][1], begin, stop)
        begin = stop
        at += 1


def indexed_parts(chunk: Chunk, text: str) -> IndexedParts:
    """The parts of a chunk's `text`.

    Args:
        chunk: the record.
        text: the document's, where its context stands.
    """
    header, rest = chunk.header, chunk.text
    if header and rest.startswith(header):
        rest = rest[len(header) :].lstrip("\n")
    before = [text[s.start_char : s.end_char] for s in chunk.context_spans if s.end_char <= chunk.start_char]
    after = [text[s.start_char : s.end_char] for s in chunk.context_spans if s.start_char >= chunk.end_char]
    tail = after[0] if after else ""
    if tail and rest.endswith(f"\n\n{tail}"):
        rest = rest[: -len(tail) - 2]
    else:
        tail = ""
    core = next((c for c in (chunk.content, chunk.content.strip()) if rest.endswith(c)), rest)
    lead = rest[: len(rest) - len(core)].rstrip("\n")
    head = before[0] if before else ""
    if head and head in lead:
        place = lead.rfind(head)
        introduction = f"{lead[:place].rstrip()}\n{lead[place + len(head) :].lstrip()}".strip("\n")
        return IndexedParts(header, introduction, head, core, tail)
    return IndexedParts(header, lead, "", core, tail)


def _uncovered(chunks: Sequence[Chunk], text: str) -> Iterable[Span]:
    """Stretches of visible text between the source chunks' places."""
    at = 0
    for chunk in sorted((c for c in chunks if c.role == "source"), key=lambda c: c.start_char):
        if text[at : chunk.start_char].strip():
            yield Span(at, chunk.start_char)
        at = max(at, chunk.end_char)
    if text[at:].strip():
        yield Span(at, len(text))
