"""Answer-destroyed: evidence that no single chunk of an index holds, the ceiling of contained recall (ME-01)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from linkrag_dagster.evaluation.evidence import ANY, by_document, grades, recall, support_groups
from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk, Question


@dataclass(frozen=True, slots=True)
class Destroyed:
    """What an index can no longer answer with single chunks.

    A needle is a fact with its evidence; its phrasings count once. It is destroyed where no support group has each of
    its spans in some single chunk. It is overlong where each group has a span longer than the limit: no chunk could
    hold it, and it is counted apart.

    Attributes:
        needles: needles that are not overlong.
        destroyed: those of them that are destroyed.
        overlong: needles counted apart.
        overlong_destroyed: those of them that are destroyed (a chunk may exceed its limit).
        spans: required spans of all needles, distinct, not longer than the limit.
        spans_destroyed: those of them that no single chunk holds.
        ceiling: mean over the questions with evidence of the best contained recall, overlong ones included; None
            without such questions.
        destroyed_ids: needles of `destroyed`, sorted.
        overlong_ids: needles of `overlong`, sorted.
    """

    needles: int
    destroyed: int
    overlong: int
    overlong_destroyed: int
    spans: int
    spans_destroyed: int
    ceiling: float | None
    destroyed_ids: tuple[str, ...]
    overlong_ids: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """Destroyed needles over needles; None without needles."""
        return self.destroyed / self.needles if self.needles else None

    @property
    def span_share(self) -> float | None:
        """Destroyed spans over spans; None without spans."""
        return self.spans_destroyed / self.spans if self.spans else None


def destroyed(
    chunks: Iterable[IndexedChunk],
    questions: Sequence[Question],
    *,
    limit: int | None = None,
    length: Callable[[EvidenceSpan], int] | None = None,
) -> Destroyed:
    """Count the needles that an index destroys (`seeds/000`; ME-01). The order of questions and chunks changes nothing.

    Args:
        chunks: all chunks of the index.
        questions: unanswerable ones, and those without evidence, are passed over.
        limit: the chunk limit; None = nothing is overlong.
        length: length of a span in the limit's unit.

    Raises:
        ValueError: a limit without a measure of length, or the other way round.
    """
    if (limit is None) != (length is None):
        raise ValueError("give limit and length together: a limit says nothing without its unit")

    def too_long(span: EvidenceSpan) -> bool:
        return limit is not None and length is not None and length(span) > limit

    documents = by_document(chunks)
    best: dict[tuple[str, tuple[tuple[EvidenceSpan, ...], ...]], float] = {}
    of_questions: list[float] = []
    for question in questions:
        groups = support_groups(question.groups)
        if not groups:
            continue
        needle = (question.needle_id or question.question_id, groups)
        if needle not in best:
            best[needle] = recall(_of_documents(documents, groups), groups) or 0.0
        of_questions.append(best[needle])
    overlong: list[tuple[str, float]] = []
    fitting: list[tuple[str, float]] = []
    for (name, groups), value in best.items():
        place = overlong if all(any(map(too_long, group)) for group in groups) else fitting
        place.append((name, value))
    spans = {span for _, groups in best for group in groups for span in group if not too_long(span)}
    lost = [span for span in spans if not any(grades(_of_documents(documents, ((span,),)), [span]))]
    return Destroyed(
        needles=len(fitting),
        destroyed=sum(value < 1 for _, value in fitting),
        overlong=len(overlong),
        overlong_destroyed=sum(value < 1 for _, value in overlong),
        spans=len(spans),
        spans_destroyed=len(lost),
        ceiling=sum(sorted(of_questions)) / len(of_questions) if of_questions else None,
        destroyed_ids=tuple(sorted(name for name, value in fitting if value < 1)),
        overlong_ids=tuple(sorted(name for name, _ in overlong)),
    )


def _of_documents(
    documents: dict[str, list[IndexedChunk]], groups: Sequence[Sequence[EvidenceSpan]]
) -> list[IndexedChunk]:
    names = sorted({span.doc_id for group in groups for span in group})
    if ANY in names or ANY in documents:
        names = sorted(documents)
    return [chunk for name in names for chunk in documents.get(name, ())]
