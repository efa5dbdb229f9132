"""From pieces to final chunks and to the chunks that are indexed, by the same export as everything else.

Pieces alone, unless `derived` is set: then every image and table has a derived chunk, too, as in stage one (CB-13),
with the first piece that holds some of it as its source (SD-14).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from linkrag_dagster.chunking.derived import DERIVED_KINDS, AdjacentContext, identifier
from linkrag_dagster.chunking.export import export_chunks
from linkrag_dagster.chunking.lines import Lines
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.records import Chunk, FinalChunk, GapTrace, Span
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source
from linkrag_dagster.chunking.strategies.registry import comparison_strategy
from linkrag_dagster.chunking.trails import Trails
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.tokens import TokenCounter, Tokenizer

WHOLE = "document"
"""The coarse chunk that a piece is said to be cut from: comparison strategies have no stage one."""
NOT_BOUNDED = "not_bounded"
"""Why a piece may be above `max_tokens`: the strategy follows its own sizes."""


def strategy_chunks(
    name: str,
    source: Source,
    settings: ChunkSettings,
    window: int | None,
    title: str = "",
    doc_id: str = "",
    version: str | None = None,
    *,
    encoder_tokenizer: Tokenizer | None = None,
) -> tuple[list[FinalChunk], list[Chunk], list[GapTrace]]:
    """Final chunks, exported chunks and the trace of a comparison strategy, for one text.

    Args:
        name: one of `COMPARISON_STRATEGIES`.
        source: text, elements, sizes, tokenizer, scorer.
        settings: of the chunking: header, overflow, tracked heading level.
        window, title, doc_id, version: as for `export_chunks`.
        encoder_tokenizer: the encoder's; None: the budget's.

    Raises:
        ValueError: no such strategy, or one that lacks its scorer.
        ScoringError: the scorer failed.
        WindowOverflow: a piece does not fit the window, under `overflow: error`.
    """
    cutting = comparison_strategy(name)(source)
    counter = TokenCounter(source.tokenizer, source.text)
    final = final_of(cutting, name, source, settings, counter)
    chunks = export_chunks(
        final,
        source.text,
        settings,
        source.tokenizer,
        encoder_tokenizer or source.tokenizer,
        window,
        title,
        doc_id,
        version,
        counter=counter,
    )
    return final, chunks, trace_of(cutting)


def final_of(
    cutting: Cutting, name: str, source: Source, settings: ChunkSettings, counter: TokenCounter | None = None
) -> list[FinalChunk]:
    """The pieces as final chunks, in order; `coarse_id` is `document` throughout."""
    return list(
        _Finals(cutting, name, source, settings, counter or TokenCounter(source.tokenizer, source.text)).all()
    )


def trace_of(cutting: Cutting) -> list[GapTrace]:
    """A row a cut, with its reason, or a row for every place that was compared, with its scores (SD-16).

    Before them the choice of a strategy, where there was one.
    """
    rows: list[GapTrace] = []
    if cutting.reason:
        choice = f"{cutting.strategy}: {cutting.reason}" if cutting.strategy else cutting.reason
        rows.append(GapTrace(WHOLE, 0, 0, None, None, False, False, choice))
    for gap in cutting.gaps:
        scores = (gap.cohesion, gap.depth)
        rows.append(GapTrace(WHOLE, len(rows), gap.position, *scores, gap.legal, gap.chosen, gap.reason))
    for piece in () if cutting.gaps else cutting.pieces[:-1]:
        rows.append(GapTrace(WHOLE, len(rows), piece.end_char, None, None, True, True, piece.ends))
    return rows


class _Finals:
    def __init__(
        self, cutting: Cutting, name: str, source: Source, settings: ChunkSettings, counter: TokenCounter
    ) -> None:
        self._cutting = cutting
        self._strategy = f"{name}:{cutting.strategy}" if cutting.strategy else name
        self._text = source.text
        self._settings = settings
        self._counter = counter
        self._elements = list(source.elements)
        self._starts = [e.start_char for e in self._elements]
        self._ends = [e.end_char for e in self._elements]
        self._lines = Lines(source.text)
        self._trails = Trails(source.elements, settings.max_tracked_heading_level)
        self._positions = {e.element_index: at for at, e in enumerate(self._elements)}
        self._context: AdjacentContext | None = None
        if source.settings.derived:
            whole = Measure(counter, 0, len(source.text))
            self._context = AdjacentContext(self._elements, source.text, whole, settings)

    def all(self) -> Iterator[FinalChunk]:
        index = 0
        known: set[int] = set()
        for piece in self._cutting.pieces:
            made = self._of(index, piece)
            yield made
            index += 1
            for element in self._held(piece.start_char, piece.end_char) if self._context else ():
                if element.kind in DERIVED_KINDS and element.element_index not in known:
                    known.add(element.element_index)
                    yield self._derived(index, element, made)
                    index += 1

    def _derived(self, index: int, element: Element, source: FinalChunk) -> FinalChunk:
        """The chunk by which an image or a table is found by itself; its source is a piece that holds it."""
        assert self._context is not None
        position = self._positions[element.element_index]
        before, after = self._context.around(position)
        trails = self._trails.of_chunk([element.element_index])
        begin, end = element.start_char, element.end_char
        tokens = self._counter.count(begin, end)
        oversized = tokens > self._settings.max_tokens
        return FinalChunk(
            final_id=f"{WHOLE}.f{index:04d}",
            final_index=index,
            coarse_id=WHOLE,
            role="derived",
            kinds=(element.kind,),
            element_indexes=(element.element_index,),
            contained_element_ids=(identifier(element),),
            content=self._text[begin:end],
            verbatim=True,
            coarse_start=begin,
            coarse_end=end,
            start_char=begin,
            end_char=end,
            start_line=element.start_line,
            end_line=element.end_line,
            spans=(Span(begin, end),),
            heading_trail=trails.common,
            heading_trails=trails.each,
            tokens=tokens,
            strategy=self._strategy,
            hard_max_enforced=False,
            cut_reason=END,
            oversized=oversized,
            oversized_reason="protected_single" if oversized else None,
            element_id=identifier(element),
            source_final_id=source.final_id,
            description=self._context.description(position),
            context_before=before,
            context_after=after,
        )

    def _of(self, index: int, piece: Piece) -> FinalChunk:
        content, spans = self._words(piece)
        begin, end = spans[0].start_char, spans[-1].end_char
        verbatim = len(spans) == 1
        tokens = self._counter.count(begin, end) if verbatim else self._counter.tokenizer.count(content)
        held = self._held(piece.start_char, piece.end_char)
        common, each = piece.trail, (piece.trail,) if piece.trail else ()
        if common is None:
            trails = self._trails.of_chunk([e.element_index for e in held]) if held else None
            common, each = (trails.common, trails.each) if trails else ((), ())
        oversized = tokens > self._settings.max_tokens
        kinds = tuple(dict.fromkeys(e.kind for e in held)) or ("paragraph",)
        return FinalChunk(
            final_id=f"{WHOLE}.f{index:04d}",
            final_index=index,
            coarse_id=WHOLE,
            role="source",
            kinds=kinds,
            element_indexes=tuple(e.element_index for e in held),
            contained_element_ids=tuple(
                e.element_id for e in held if e.kind in DERIVED_KINDS and e.element_id is not None
            ),
            content=content,
            verbatim=verbatim,
            coarse_start=begin,
            coarse_end=end,
            start_char=begin,
            end_char=end,
            start_line=self._lines.of(begin),
            end_line=self._lines.of_last(self._text, begin, end),
            spans=spans,
            heading_trail=common,
            heading_trails=each,
            tokens=tokens,
            strategy=self._strategy,
            hard_max_enforced=False,
            cut_reason=piece.ends,
            oversized=oversized,
            oversized_reason=NOT_BOUNDED if oversized else None,
            # CB-02: front matter alone is stored, and searched on demand only.
            searchable=kinds != ("front_matter",) or self._settings.index_front_matter,
        )

    def _words(self, piece: Piece) -> tuple[str, tuple[Span, ...]]:
        """Content and spans: one slice where only white space parts a copied end from the piece, else two."""
        own = Span(piece.start_char, piece.end_char)
        text, copied = self._text, piece.copied
        if copied is None:
            return text[own.start_char : own.end_char], (own,)
        between = text[copied.end_char : own.start_char]
        if not between or between.isspace():
            whole = Span(copied.start_char, own.end_char)
            return text[whole.start_char : whole.end_char], (whole,)
        words = text[copied.start_char : copied.end_char]
        return f"{words}\n\n{text[own.start_char : own.end_char]}", (copied, own)

    def _held(self, start: int, end: int) -> list[Element]:
        """Elements that a slice holds, wholly or in part."""
        return self._elements[bisect_right(self._ends, start) : bisect_left(self._starts, end)]
