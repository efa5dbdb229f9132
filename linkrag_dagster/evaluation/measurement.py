"""An experiment measured: rankings in, values, means and comparisons out; pure, whatever made the chunks (SX-02)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkrag_dagster.evaluation.budget import SourceLength
from linkrag_dagster.evaluation.comparison import ComparisonRow, compare
from linkrag_dagster.evaluation.destroyed import Destroyed, destroyed
from linkrag_dagster.evaluation.evidence import by_document
from linkrag_dagster.evaluation.question_metrics import judgements, metric_names, question_metrics
from linkrag_dagster.evaluation.records import IndexedChunk, Question
from linkrag_dagster.evaluation.summary import ALL, SummaryRow, phrasing_slices, summarise

CHUNKS_RUN = "chunks"
"""The run of facts about the chunks themselves: no retriever is in them."""
DESTROYED, OVERLONG = "destroyed", "overlong"
CHUNK_METRICS = (DESTROYED, OVERLONG)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one run returned for one question.

    Attributes:
        ranking: chunk ids with scores, best first, as deep as the deepest metric needs.
        nearest: cosine distance of the nearest chunk; None where no vector was asked.
    """

    ranking: Sequence[tuple[str, float]]
    nearest: float | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """The results of an experiment.

    Attributes:
        values: run → metric → question id → value.
        summary: means with intervals, by run and slice.
        comparisons: pairs of runs, corrected over their family.
        judged: grades of chunks by question, those without one left out.
        destroyed: what the chunks can no longer answer.
    """

    values: Mapping[str, Mapping[str, Mapping[str, float | None]]]
    summary: tuple[SummaryRow, ...]
    comparisons: tuple[ComparisonRow, ...]
    judged: Mapping[str, Mapping[str, int]]
    destroyed: Destroyed


def measure(
    questions: Sequence[Question],
    chunks: Sequence[IndexedChunk],
    runs: Mapping[str, Mapping[str, Retrieved]],
    source_length: SourceLength,
    *,
    limit: int,
) -> Measurement:
    """Measure runs over the same chunks and questions.

    Args:
        questions: with located gold; the order changes nothing.
        chunks: all that could be found, with their lengths in tokens.
        runs: run → question id → what it returned.
        source_length: source tokens of a range; also the length of evidence against `limit`.
        limit: most tokens that a chunk's own words may have: longer evidence is counted apart (ME-01).

    Raises:
        ValueError: a run without one of the questions, or a ranking with an unknown chunk.
    """
    asked = sorted(questions, key=lambda question: question.question_id)
    known = {chunk.chunk_id: chunk for chunk in chunks}
    documents = by_document(chunks)
    judged = {question.question_id: judgements(question, documents) for question in asked}
    values: dict[str, dict[str, dict[str, float | None]]] = {}
    for run, found in runs.items():
        values[run] = {metric: {} for metric in metric_names()}
        for question in asked:
            ranked, nearest = _ranked(run, question, found, known)
            row = question_metrics(question, ranked, judged[question.question_id], source_length, nearest)
            for metric, value in row.items():
                values[run][metric][question.question_id] = value
    lost = destroyed(
        chunks,
        asked,
        limit=limit,
        length=lambda span: source_length(span.doc_id, span.version, span.start_char, span.end_char),
    )
    slices = phrasing_slices(asked)
    # Unanswerable questions have no evidence: of them only distances are known.
    kinds = {f"unanswerable={q.unanswerable_kind}" for q in asked if not q.answerable}
    refused = {
        kind: frozenset(q.question_id for q in asked if f"unanswerable={q.unanswerable_kind}" == kind)
        for kind in sorted(kinds)
    }
    summary: list[SummaryRow] = []
    for run, found in values.items():
        summary += summarise(run, found, asked, slices)
        summary += summarise(run, {m: v for m, v in found.items() if m == "nearest_distance"}, asked, refused)
    compared = compare(values, asked)
    facts, representatives = _chunk_values(asked, lost)
    # A fact about a needle, not about how it is asked: one question a needle stands for all.
    summary += summarise(CHUNKS_RUN, facts, representatives, {ALL: slices[ALL]})
    return Measurement(
        values={**values, CHUNKS_RUN: facts},
        summary=tuple(summary),
        comparisons=tuple(compared),
        judged=judged,
        destroyed=lost,
    )


def _ranked(
    run: str, question: Question, found: Mapping[str, Retrieved], known: Mapping[str, IndexedChunk]
) -> tuple[list[IndexedChunk], float | None]:
    retrieved = found.get(question.question_id)
    if retrieved is None:
        raise ValueError(f"run {run} has no ranking for question {question.question_id!r}: ask it, too")
    try:
        return [known[chunk] for chunk, _ in retrieved.ranking], retrieved.nearest
    except KeyError as error:
        raise ValueError(
            f"run {run} returned chunk {error} for {question.question_id!r}, which is none of the chunks: "
            "rank and measure the same index"
        ) from error


def _chunk_values(
    asked: Sequence[Question], lost: Destroyed
) -> tuple[dict[str, dict[str, float | None]], list[Question]]:
    """Destroyed and overlong by question, with one question a needle."""
    gone, long = set(lost.destroyed_ids), set(lost.overlong_ids)
    facts: dict[str, dict[str, float | None]] = {metric: {} for metric in CHUNK_METRICS}
    representatives: dict[str, Question] = {}
    for question in asked:
        if not question.groups:
            continue
        needle = question.needle_id or question.question_id
        representatives.setdefault(needle, question)
        facts[OVERLONG][question.question_id] = float(needle in long)
        facts[DESTROYED][question.question_id] = None if needle in long else float(needle in gone)
    return facts, list(representatives.values())
