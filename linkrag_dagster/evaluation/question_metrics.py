"""Every metric of one ranking for one question: what the mean of a run is made of (ME-02, ME-03).

| metric | what it is |
| --- | --- |
| `contained_recall@k`, `covered_recall@k` | share of required spans that the first k chunks hold, alone or together |
| `rr@10` | reciprocal rank of the first chunk that holds a required span whole; its mean is MRR |
| `ndcg@10` | nDCG of the chunks' grades, against the best order of the strategy's own chunks |
| `new_evidence_ndcg@10` | nDCG of evidence not yet returned, against all of it at rank 1: compares strategies |
| `precision@5` | share of the first five chunks that hold a required span whole |
| `budget_recall@B` | covered recall of the whole chunks that fit B tokens in rank order, to the first that does not |
| `budget_recall_skip@B` | the same, passing over chunks that do not fit |
| `evidence_share@B`, `duplicate_share@B` | evidence, and source handed twice, in all that is handed within B tokens |
| `nearest_distance` | cosine distance of the nearest chunk, for unanswerable questions too |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linkrag_dagster.evaluation.budget import BUDGET, CURVE, SourceLength, under_budget
from linkrag_dagster.evaluation.evidence import qrels, recall
from linkrag_dagster.evaluation.ranking import mrr, ndcg, ndcg_of_new_evidence, precision
from linkrag_dagster.evaluation.records import IndexedChunk, Question

RECALL_DEPTHS = (1, 4, 5, 8, 10, 20)
RANK_DEPTH = 10
PRECISION_DEPTH = 5
NEAREST = "nearest_distance"


def metric_names() -> tuple[str, ...]:
    """The metrics of a run, in the order of the table above."""
    return (
        *(f"contained_recall@{k}" for k in RECALL_DEPTHS),
        *(f"covered_recall@{k}" for k in RECALL_DEPTHS),
        f"rr@{RANK_DEPTH}",
        f"ndcg@{RANK_DEPTH}",
        f"new_evidence_ndcg@{RANK_DEPTH}",
        f"precision@{PRECISION_DEPTH}",
        *(f"budget_recall@{budget}" for budget in CURVE),
        f"budget_recall_skip@{BUDGET}",
        f"evidence_share@{BUDGET}",
        f"duplicate_share@{BUDGET}",
        NEAREST,
    )


def question_metrics(
    question: Question,
    ranked: Sequence[IndexedChunk],
    judged: Mapping[str, int],
    source_length: SourceLength,
    nearest: float | None = None,
) -> dict[str, float | None]:
    """The metrics of one ranking for one question.

    Args:
        question: with its gold; all but `nearest_distance` is None without it (GO-04).
        ranked: chunks, best first, as deep as the deepest metric needs.
        judged: grades of all chunks of the index that have one (`evidence.qrels`).
        source_length: source tokens of a range.
        nearest: cosine distance of the nearest chunk.

    Returns:
        By name, in the order of `metric_names`.

    Raises:
        ValueError: a chunk without a length in tokens.
    """
    values: dict[str, float | None] = dict.fromkeys(metric_names())
    values[NEAREST] = nearest
    groups = question.groups
    if not groups:
        return values
    ids = [chunk.chunk_id for chunk in ranked]
    for k in RECALL_DEPTHS:
        values[f"contained_recall@{k}"] = recall(ranked[:k], groups, "contained")
        values[f"covered_recall@{k}"] = recall(ranked[:k], groups, "covered")
    values[f"rr@{RANK_DEPTH}"] = mrr(ids, judged, RANK_DEPTH) if judged else 0.0
    values[f"ndcg@{RANK_DEPTH}"] = ndcg(ids, judged, RANK_DEPTH) if judged else 0.0
    values[f"new_evidence_ndcg@{RANK_DEPTH}"] = ndcg_of_new_evidence(ranked, groups, RANK_DEPTH)
    values[f"precision@{PRECISION_DEPTH}"] = precision(ids, judged, PRECISION_DEPTH)
    for budget in CURVE:
        handed = under_budget(ranked, groups, budget, source_length=source_length)
        values[f"budget_recall@{budget}"] = handed.covered
        if budget == BUDGET:
            values[f"evidence_share@{BUDGET}"] = handed.evidence_share
            values[f"duplicate_share@{BUDGET}"] = handed.duplicate_share
    skipped = under_budget(ranked, groups, BUDGET, policy="skip", source_length=source_length)
    values[f"budget_recall_skip@{BUDGET}"] = skipped.covered
    return values


def judgements(question: Question, documents: Mapping[str, Sequence[IndexedChunk]]) -> dict[str, int]:
    """Grades of the chunks of a question's documents, by chunk id; those without one have grade 0 (GO-03).

    Args:
        question: with its gold.
        documents: all chunks of the index, by document (`evidence.by_document`).
    """
    names = sorted({span.doc_id for group in question.groups for span in group})
    return qrels([chunk for name in names for chunk in documents.get(name, ())], question.groups)
