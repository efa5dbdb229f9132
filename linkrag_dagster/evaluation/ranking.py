"""Ranking metrics of one question: nDCG, MRR, recall, precision at k (ME-02).

A ranking is a list of ids, best first; `qrels` gives judged ids their grade: 2, 1, or 0 for not relevant. What is not
judged is not relevant. Values are None where the denominator is empty, so that they stay out of means (GO-04).

An id that comes again in a ranking keeps its place and gains nothing there: a repeated result is wasted, not refused.

References:
    nDCG: Järvelin & Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques; gain 2^rel - 1 of Burges et
    al. (2005), Learning to rank using gradient descent. MRR: Voorhees (1999), The TREC-8 question answering track
    report. Recall and precision: Manning, Raghavan & Schütze (2008), Introduction to information retrieval, chapter 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from linkrag_dagster.evaluation.evidence import (
    ChunkLike,
    EvidenceLike,
    Mode,
    newly_held,
    support_groups,
)


def rank_by_score(scores: Mapping[str, float]) -> list[str]:
    """Ids by falling score; ties by rising id, so that a ranking never hangs on the order of insertion."""
    return sorted(scores, key=lambda item: (-scores[item], item))


def ndcg(ranked: Sequence[str], qrels: Mapping[str, int], k: int = 10) -> float | None:
    """nDCG@k with gain 2^rel - 1 and discount log2(rank + 1).

    The ideal ranking is made of `qrels`: two strategies with chunks of their own have ideals of their own and cannot be
    compared by it; `ndcg_of_new_evidence` can.

    Returns:
        From 0 to 1; None where nothing is relevant.

    Raises:
        ValueError: k under 1.
    """
    ideal = _discounted(_gain(grade) for grade in sorted(qrels.values(), reverse=True)[: _depth(k)])
    found = _discounted(_gain(grade) for grade in _grades(ranked, qrels, k))
    return found / ideal if ideal else None


def mrr(ranked: Sequence[str], qrels: Mapping[str, int], k: int = 10) -> float | None:
    """Reciprocal rank of the first relevant result among the first k; 0.0 where there is none there.

    Its mean over questions is MRR@k.

    Returns:
        From 0 to 1; None where nothing is relevant.

    Raises:
        ValueError: k under 1.
    """
    grades = _grades(ranked, qrels, k)
    if not _relevant(qrels):
        return None
    return next((1.0 / rank for rank, grade in enumerate(grades, start=1) if grade > 0), 0.0)


def recall(ranked: Sequence[str], qrels: Mapping[str, int], k: int) -> float | None:
    """The share of the relevant ids that are among the first k. For shares of evidence, see `evidence.recall`.

    Returns:
        From 0 to 1; None where nothing is relevant.

    Raises:
        ValueError: k under 1.
    """
    hits, relevant = _hits(ranked, qrels, k), _relevant(qrels)
    return hits / relevant if relevant else None


def precision(
    ranked: Sequence[str], qrels: Mapping[str, int], k: int = 5, *, of_retrieved: bool = False
) -> float | None:
    """The share of relevant results among the first k.

    Args:
        ranked: ids, best first.
        qrels: grades of the judged ids.
        k: how many count.
        of_retrieved: divide by the results there are, where fewer than k; else always by k.

    Returns:
        From 0 to 1, and 0.0 where nothing is relevant; None with `of_retrieved` where nothing is retrieved.

    Raises:
        ValueError: k under 1.
    """
    hits = _hits(ranked, qrels, k)
    places = min(k, len(ranked)) if of_retrieved else k
    return hits / places if places else None


def unjudged(ranked: Sequence[str], qrels: Mapping[str, int], k: int) -> float | None:
    """The share of the first k results that no one judged: how far the other values are guesses.

    Of the results there are, where fewer than k; None where nothing is retrieved.

    Raises:
        ValueError: k under 1.
    """
    first = ranked[: _depth(k)]
    return sum(item not in qrels for item in first) / len(first) if first else None


def ndcg_of_new_evidence(
    ranked: Sequence[ChunkLike], evidence: EvidenceLike, k: int = 10, mode: Mode = "contained"
) -> float | None:
    """nDCG@k in units of evidence: the one that compares strategies (ME-02).

    At each rank the gain is the number of required spans held for the first time, by that chunk alone (`contained`) or
    joined to those above it (`covered`); the ideal returns all of them at rank 1, whatever the strategy's chunks. With
    alternative groups, the best group counts. Gain by novelty: Clarke et al. (2008), Novelty and diversity in
    information retrieval evaluation.

    Args:
        ranked: chunks, best first, as `evidence.recall` takes them.
        evidence: spans, or groups of spans.
        k: how many count.
        mode: `contained` or `covered`.

    Returns:
        From 0 to 1; None for a question without evidence.

    Raises:
        ValueError: k under 1, and as `evidence.recall`.
    """
    held = newly_held(ranked[: _depth(k)], evidence, mode)
    return max(
        (
            _discounted(sum(span in spans for span in group) for spans in held) / len(group)
            for group in support_groups(evidence)
        ),
        default=None,
    )


def _depth(k: int) -> int:
    if k < 1:
        raise ValueError(f"k is {k}: give 1 or more")
    return k


def _grades(ranked: Sequence[str], qrels: Mapping[str, int], k: int) -> list[int]:
    """Grades of the first k results, 0 for one that came before."""
    seen: set[str] = set()
    found: list[int] = []
    for item in ranked[: _depth(k)]:
        found.append(0 if item in seen else qrels.get(item, 0))
        seen.add(item)
    return found


def _hits(ranked: Sequence[str], qrels: Mapping[str, int], k: int) -> int:
    return sum(grade > 0 for grade in _grades(ranked, qrels, k))


def _relevant(qrels: Mapping[str, int]) -> int:
    return sum(grade > 0 for grade in qrels.values())


def _gain(grade: int) -> float:
    return 2.0**grade - 1.0 if grade > 0 else 0.0


def _discounted(gains: Iterable[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
