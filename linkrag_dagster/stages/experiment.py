"""An experiment run: questions asked of an index, by every retriever, and measured (SX-02).

The evaluation of a corpus and that of an external set both go through here; they differ in where the index is from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkrag_dagster.embedding.memo import Memo
from linkrag_dagster.embedding.queries import embed_queries, query_hash
from linkrag_dagster.evaluation.axes import SourceTokens
from linkrag_dagster.evaluation.budget import CURVE
from linkrag_dagster.evaluation.measurement import Measurement, Retrieved, measure
from linkrag_dagster.evaluation.records import IndexedChunk, Question
from linkrag_dagster.retrieval.ranking import Ranking, WholeIndex
from linkrag_dagster.stages.stage import Progress

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

RUNS = ("dense", "bm25", "rrf", "zscore")
DEPTH = 100
"""Results kept of each ranking, and as many more as the largest budget takes."""
PROGRESS_EVERY = 200

Texts = Mapping[tuple[str, str | None], str]
"""Canonical texts by document id and version."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What an experiment gave.

    Attributes:
        questions: those that were asked.
        measurement: values, means, comparisons.
        rankings: run → question id → results kept, best first.
        distances: question id → cosine distance of every kept chunk.
        chunks: all chunks, by id.
        unasked: questions that the encoder can't take, with the reason.
        texts, tokens: given to the model for the questions.
    """

    questions: tuple[Question, ...]
    measurement: Measurement
    rankings: Mapping[str, Mapping[str, Ranking]]
    distances: Mapping[str, Mapping[str, float]]
    chunks: Mapping[str, IndexedChunk]
    unasked: Mapping[str, str]
    texts: int
    tokens: int


def run_experiment(
    road: Road,
    questions: Sequence[Question],
    chunks: Sequence[IndexedChunk],
    index: WholeIndex,
    texts: Texts,
    progress: Progress,
) -> Experiment:
    """Ask every question, rank by every run, and measure.

    Args:
        road: encoder, analyzer, tokenizer and settings of the experiment.
        questions: with located gold.
        chunks: all that may be found, with their lengths.
        index: of those chunks.
        texts: canonical texts of all documents of chunks and evidence.
        progress: told in lines.

    Raises:
        ModelError: the encoder can't be loaded.
    """
    embedded = embed_queries(
        [question.question for question in questions],
        Memo(road.memo_folder),
        road.encoder,
        on_progress=lambda p: progress(f"questions: {p.line()}"),
    )
    place = {mark: row for row, mark in enumerate(embedded.hashes)}
    unasked: dict[str, str] = {}
    asked: list[Question] = []
    rankings: dict[str, dict[str, Ranking]] = {run: {} for run in RUNS}
    distances: dict[str, dict[str, float]] = {}
    nearest: dict[str, float | None] = {}
    known = {chunk.chunk_id: chunk for chunk in chunks}
    for number, question in enumerate(questions, start=1):
        mark = query_hash(road.model, question.question)
        if mark in embedded.problems:
            unasked[question.question_id] = f"the encoder can't take it: {embedded.problems[mark]}"
            continue
        asked.append(question)
        tokens = road.analyzer.tokens(question.question)
        found, away = index.rankings(tokens, embedded.vectors[place[mark]])
        kept: set[str] = set()
        for run in RUNS:
            results = found[run][: _depth(found[run], known)]
            rankings[run][question.question_id] = results
            kept.update(chunk for chunk, _ in results)
        distances[question.question_id] = {chunk: away[chunk] for chunk in kept if chunk in away}
        nearest[question.question_id] = min(away.values(), default=None)
        if number % PROGRESS_EVERY == 0:
            progress(f"{number}/{len(questions)} questions")
    lengths = _SourceLengths(road, texts)
    runs = {
        run: {
            question: Retrieved(results, nearest[question] if run == "dense" else None)
            for question, results in found.items()
        }
        for run, found in rankings.items()
    }
    measured = measure(asked, chunks, runs, lengths, limit=road.settings.hard_max_tokens)
    return Experiment(
        questions=tuple(asked),
        measurement=measured,
        rankings=rankings,
        distances=distances,
        chunks=known,
        unasked=unasked,
        texts=embedded.embedded_texts,
        tokens=embedded.embedded_tokens,
    )


def _depth(ranking: Ranking, chunks: Mapping[str, IndexedChunk]) -> int:
    """How many results are kept: DEPTH, or as many as overfill the largest budget."""
    used = 0
    for rank, (chunk, _) in enumerate(ranking, start=1):
        used += chunks[chunk].tokens
        if rank >= DEPTH and used > max(CURVE):
            return rank
    return len(ranking)


class _SourceLengths:
    """Source tokens of a range, by the budget's tokenizer; each text is tokenised once, and when it is needed."""

    def __init__(self, road: Road, texts: Texts) -> None:
        self._tokenizer = road.tokenizer
        self._texts = texts
        self._made: dict[tuple[str, str | None], SourceTokens] = {}

    def __call__(self, doc_id: str, version: str | None, start_char: int, end_char: int) -> int:
        mark = (doc_id, version)
        if mark not in self._made:
            starts = self._tokenizer.encode_offsets(self._texts[mark]).starts
            self._made[mark] = SourceTokens(tuple(starts.tolist()))
        return self._made[mark].count(start_char, end_char)
