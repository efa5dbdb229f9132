"""Stage two: from coarse to final chunks (S2-01, S2-03, SD-01 to SD-16).

`plan_final` says which texts must be scored, and makes the chunks once their vectors are there; `final_chunks` does
both with a scorer at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from linkrag_dagster.chunking.atom_vectors import Retries, Vectors, text_vectors
from linkrag_dagster.chunking.atoms import Atom, atoms_of
from linkrag_dagster.chunking.cohesion import cohesion_scores, unscorable_breaks
from linkrag_dagster.chunking.depth import depth_scores
from linkrag_dagster.chunking.derived import DERIVED_KINDS
from linkrag_dagster.chunking.lines import Lines
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.packer import Limits, Packer, Segment
from linkrag_dagster.chunking.places import Placer
from linkrag_dagster.chunking.records import CoarseChunk, FinalChunk, GapTrace
from linkrag_dagster.chunking.scored_text import scored_text
from linkrag_dagster.chunking.scorer import Scorer
from linkrag_dagster.chunking.settings import SEMANTIC, ChunkSettings
from linkrag_dagster.chunking.strategies import Source, StrategyPlan
from linkrag_dagster.chunking.trails import Trails
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.tokens import TokenCounter, Tokenizer

NOT_REFINED = "not_refined"
"""Why a chunk of `noop` may be above the maximum: that strategy promises no length."""


def final_chunks(
    coarse: Sequence[CoarseChunk],
    text: str,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
    elements: Sequence[Element],
    *,
    counter: TokenCounter | None = None,
    scorer: Scorer | None = None,
    retries: Retries | None = None,
) -> tuple[list[FinalChunk], list[GapTrace]]:
    """Final chunks of a document, in the order of their coarse chunks, and the trace of every gap considered.

    Only source chunks above `max_tokens` are cut, never across coarse chunks; derived chunks and front matter pass
    through (SD-01). `noop` passes everything through.

    Args:
        coarse: all coarse chunks of the document, in order.
        text: its text.
        settings: strategy and limits.
        tokenizer: the budget's.
        elements: all elements of the document.
        counter: counts of that text, if it was tokenised already.
        scorer: for `semantic_depth_window`; other strategies ask none.
        retries: how a failing batch of texts is tried again; None: as the settings say.

    Raises:
        ValueError: the strategy needs a scorer.
        ScoringError: texts could not be scored; nothing is cut by other means instead.
    """
    scored = scorer is not None
    plan = plan_final(coarse, text, settings, tokenizer, elements, counter=counter, scored=scored)
    vectors: Vectors = {}
    if plan.texts:
        if scorer is None:
            raise ValueError(f"strategy {settings.strategy} compares texts: give it a scorer")
        retries = retries or Retries(settings.scorer_retries, settings.scorer_backoff)
        vectors = text_vectors(plan.texts, scorer, batch=settings.scorer_batch, retries=retries)
    return plan.chunks(vectors)


def plan_final(
    coarse: Sequence[CoarseChunk],
    text: str,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
    elements: Sequence[Element],
    *,
    counter: TokenCounter | None = None,
    scored: bool = True,
) -> FinalPlan:
    """The atoms of every chunk that is to be cut, and the texts to score; arguments as for `final_chunks`.

    A strategy for comparison cuts the text itself and asks for no coarse chunks. `scored` says whether texts can be
    compared at all: `auto` chooses by it.
    """
    if settings.compares:
        source = Source(text, elements, settings.comparison, tokenizer)
        return StrategyPlan(source, settings, counter, scored=scored)
    stage = _Stage(text, settings, tokenizer, elements, counter)
    refined = {
        chunk.coarse_id: stage.refinement(chunk)
        for chunk in coarse
        if settings.strategy != "noop" and not _passes(chunk, settings)
    }
    return _CoarsePlan(coarse, stage, refined)


class FinalPlan(Protocol):
    """Stage two of one document, before its texts are scored.

    Attributes:
        texts: the different texts whose vectors it needs; none for strategies without scores, nor where no chunk is
            above the maximum.
    """

    @property
    def texts(self) -> tuple[str, ...]: ...

    def chunks(self, vectors: Vectors) -> tuple[list[FinalChunk], list[GapTrace]]:
        """The document's final chunks and the trace of every gap considered.

        Args:
            vectors: of each of `texts`.
        """
        ...


class _CoarsePlan:
    """A document whose coarse chunks are cut, or pass through."""

    def __init__(
        self, coarse: Sequence[CoarseChunk], stage: _Stage, refined: Mapping[str, _Refinement]
    ) -> None:
        self._coarse = coarse
        self._stage = stage
        self._refined = refined
        found = (text for plan in refined.values() for text in plan.texts if text is not None)
        self.texts: tuple[str, ...] = tuple(dict.fromkeys(found))

    def chunks(self, vectors: Vectors) -> tuple[list[FinalChunk], list[GapTrace]]:
        """The document's final chunks and the trace of every gap considered.

        Args:
            vectors: of each of `texts`.
        """
        made: list[FinalChunk] = []
        trace: list[GapTrace] = []
        anchors = _Anchors()
        for chunk in self._coarse:
            refinement = self._refined.get(chunk.coarse_id)
            if refinement is None:
                pieces = [self._stage.whole(chunk, len(made), anchors.of(chunk))]
            else:
                pieces, gaps = self._stage.packed(refinement, vectors, len(made))
                trace += gaps
            if chunk.role == "source":
                anchors.note(pieces)
            made += pieces
        return made, trace


@dataclass(frozen=True, slots=True)
class _Refinement:
    """A source chunk above the maximum: its atoms, its counts, and what of each atom is scored."""

    chunk: CoarseChunk
    atoms: Sequence[Atom]
    measure: Measure
    texts: Sequence[str | None]


def _passes(chunk: CoarseChunk, settings: ChunkSettings) -> bool:
    return chunk.role == "derived" or _is_front_matter(chunk) or chunk.tokens <= settings.max_tokens


def _is_front_matter(chunk: CoarseChunk) -> bool:
    return chunk.kinds == ("front_matter",)


class _Stage:
    def __init__(
        self,
        text: str,
        settings: ChunkSettings,
        tokenizer: Tokenizer,
        elements: Sequence[Element],
        counter: TokenCounter | None,
    ) -> None:
        self._text = text
        self._settings = settings
        self._tokenizer = tokenizer
        self._counter = counter
        self._elements: Mapping[int, Element] = {e.element_index: e for e in elements}
        self._with_ids = {
            e.element_index: e.element_id
            for e in elements
            if e.kind in DERIVED_KINDS and e.element_id is not None
        }
        self._trails = Trails(elements, settings.max_tracked_heading_level)
        self._limits = Limits(settings.min_candidate_tokens, settings.max_tokens, settings.hard_max_tokens)

    def whole(self, chunk: CoarseChunk, index: int, anchor: str | None) -> FinalChunk:
        """A coarse chunk as one final chunk; a derived one with the final chunk that holds its element."""
        source = chunk.role == "source" and not _is_front_matter(chunk)
        enforced = source and self._settings.strategy != "noop"
        oversized = chunk.tokens > self._settings.max_tokens
        return FinalChunk(
            final_id=_final_id(chunk, 0),
            final_index=index,
            coarse_id=chunk.coarse_id,
            role=chunk.role,
            kinds=chunk.kinds,
            element_indexes=chunk.element_indexes,
            contained_element_ids=self._contained(chunk.element_indexes),
            content=chunk.content,
            verbatim=chunk.verbatim,
            coarse_start=0,
            coarse_end=len(chunk.content),
            start_char=chunk.start_char,
            end_char=chunk.end_char,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            spans=chunk.spans,
            heading_trail=chunk.heading_trail,
            heading_trails=chunk.heading_trails,
            tokens=chunk.tokens,
            strategy=self._settings.strategy,
            hard_max_enforced=enforced,
            cut_reason="end",
            oversized=oversized,
            oversized_reason=(NOT_REFINED if source else "protected_single") if oversized else None,
            element_id=chunk.element_id,
            source_final_id=anchor,
            description=chunk.description,
            context_before=chunk.context_before,
            context_after=chunk.context_after,
            searchable=chunk.searchable,
        )

    def refinement(self, chunk: CoarseChunk) -> _Refinement:
        """The atoms of a source chunk above the maximum."""
        measure = (
            Measure(self._document(), chunk.start_char, len(chunk.content))
            if chunk.verbatim
            else Measure.of(self._tokenizer, chunk.content)
        )
        atoms = atoms_of(chunk, measure, self._settings)
        texts: list[str | None] = [None] * len(atoms)
        if self._settings.strategy == SEMANTIC:
            texts = [scored_text(a, chunk.content, self._elements[a.element_index]) for a in atoms]
        return _Refinement(chunk, atoms, measure, texts)

    def packed(
        self, refinement: _Refinement, vectors: Vectors, index: int
    ) -> tuple[list[FinalChunk], list[GapTrace]]:
        """A source chunk above the maximum, cut; its first piece has that index."""
        chunk, atoms, measure = refinement.chunk, refinement.atoms, refinement.measure
        cohesion, depths = self._scores(refinement, vectors)
        packer = Packer(atoms, chunk.content, measure, self._limits, depths, cohesion)
        segments = packer.segments()
        placer = Placer(chunk, self._elements, self._text)
        pieces = [
            self._piece(chunk, segment, number, index + number, atoms, packer, measure, placer)
            for number, segment in enumerate(segments)
        ]
        return pieces, packer.trace(chunk.coarse_id, segments)

    def _scores(
        self, refinement: _Refinement, vectors: Vectors
    ) -> tuple[list[float | None], list[float | None]]:
        """Cohesion and depth of every gap; None throughout where nothing is scored."""
        settings, texts = self._settings, refinement.texts
        if not any(text is not None for text in texts):
            return [None] * (len(texts) - 1), [None] * (len(texts) - 1)
        tokens = [refinement.measure.count(a.start, a.end) for a in refinement.atoms]
        cohesion = cohesion_scores(
            [None if text is None else vectors[text] for text in texts],
            tokens,
            window=settings.cohesion_window_tokens,
            weighting=settings.window_weighting,
        )
        breaks = unscorable_breaks([text is not None for text in texts], tokens, settings.max_gap_distance)
        return cohesion, depth_scores(cohesion, smoothing=settings.mean_filter, breaks=breaks)

    def _piece(
        self,
        chunk: CoarseChunk,
        segment: Segment,
        number: int,
        index: int,
        atoms: Sequence[Atom],
        packer: Packer,
        measure: Measure,
        placer: Placer,
    ) -> FinalChunk:
        held = atoms[segment.first : segment.last]
        start, end = held[0].start, packer.end_of(segment.last)
        place = placer.place(start, end)
        trails = self._trails.of_chunk(place.element_indexes)
        reason = packer.oversized_reason(segment)
        part = next((a for a in held if a.part is not None), None)
        truncated = held[-1].cut_at is not None
        return FinalChunk(
            final_id=_final_id(chunk, number),
            final_index=index,
            coarse_id=chunk.coarse_id,
            role=chunk.role,
            kinds=tuple(dict.fromkeys(self._elements[i].kind for i in place.element_indexes)),
            element_indexes=place.element_indexes,
            contained_element_ids=self._contained(place.element_indexes),
            content=chunk.content[start:end],
            verbatim=place.verbatim,
            coarse_start=start,
            coarse_end=end,
            start_char=place.start_char,
            end_char=place.end_char,
            start_line=self._lines.of(place.start_char),
            end_line=self._lines.of_last(self._text, place.start_char, place.end_char),
            spans=place.spans,
            heading_trail=trails.common,
            heading_trails=trails.each,
            tokens=measure.count(start, end),
            strategy=self._settings.strategy,
            hard_max_enforced=True,
            cut_reason=segment.reason,
            oversized=reason is not None,
            oversized_reason=reason,
            part=None if part is None else part.part,
            parts=None if part is None else part.parts,
            repeated_prefix=None if part is None else part.repeated_prefix,
            truncated=truncated,
            truncated_reason="protected_block_above_hard_max" if truncated else None,
            original_token_count=measure.count(start, held[-1].end) if truncated else None,
            searchable=chunk.searchable,
        )

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    def _document(self) -> TokenCounter:
        if self._counter is None:
            self._counter = TokenCounter(self._tokenizer, self._text)
        return self._counter

    def _contained(self, indexes: Sequence[int]) -> tuple[str, ...]:
        if self._with_ids.keys().isdisjoint(indexes):
            return ()
        return tuple([self._with_ids[i] for i in indexes if i in self._with_ids])


def _final_id(chunk: CoarseChunk, number: int) -> str:
    return f"{chunk.coarse_id}.f{number:03d}"


class _Anchors:
    """Which final chunk holds an image or a table, as far as source chunks have been made (SD-14)."""

    def __init__(self) -> None:
        self._holder: dict[str, str] = {}
        self._first: dict[str, str] = {}

    def note(self, pieces: Sequence[FinalChunk]) -> None:
        """The final chunks of one source chunk."""
        self._first[pieces[0].coarse_id] = pieces[0].final_id
        for piece in pieces:
            for element_id in piece.contained_element_ids:
                self._holder.setdefault(element_id, piece.final_id)

    def of(self, chunk: CoarseChunk) -> str | None:
        """The final chunk that a derived chunk belongs to; None for a source chunk."""
        if chunk.role != "derived":
            return None
        return self._holder.get(chunk.element_id or "") or self._first.get(chunk.source_coarse_id or "")
