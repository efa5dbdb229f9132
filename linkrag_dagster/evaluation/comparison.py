"""Runs against each other on the same questions, corrected over a family that is declared beforehand (SX-01)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from linkrag_dagster.evaluation.records import Question
from linkrag_dagster.evaluation.statistics import (
    Family,
    PairedBootstrap,
    Verdict,
    equivalence,
    paired_bootstrap,
    paired_randomisation,
    sign_test,
    smallest_detectable_effect,
    verdict,
    wins_and_losses,
)
from linkrag_dagster.evaluation.summary import RESAMPLES, Values

PRIMARY = ("budget_recall@2048", "contained_recall@5", "rr@10")
"""The metrics that are compared: chosen before any result, so that the family is what it says."""
MARGIN = 0.05
"""Differences within this are said to be none, where the interval shows it."""


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """Two runs on the same questions, one metric.

    Attributes:
        metric, run_a, run_b: what is compared.
        needles: needles compared: a needle's phrasings are averaged first, since they are not independent.
        wins, losses, ties: needles where run_a is better, worse, equal.
        difference: mean over needles of run_a minus run_b.
        low, high: its 95 % interval, bootstrap over needles.
        low_by_document, high_by_document: the same over documents.
        p_sign: exact two-sided sign test over needles.
        p_randomisation: sign-flip randomisation over needles.
        p_holm, p_bh: `p_randomisation` corrected over the family.
        smallest_detectable: smallest true difference that would be found with power 0.8 in this family.
        family: comparisons in the family.
        verdict: what may be claimed of run_a: better, worse, indistinguishable, undecided.
    """

    metric: str
    run_a: str
    run_b: str
    needles: int
    wins: int
    losses: int
    ties: int
    difference: float | None
    low: float | None
    high: float | None
    low_by_document: float | None
    high_by_document: float | None
    p_sign: float
    p_randomisation: float | None
    p_holm: float | None
    p_bh: float | None
    smallest_detectable: float | None
    family: int
    verdict: Verdict


def compare(
    runs: Mapping[str, Values],
    questions: Sequence[Question],
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    metrics: Sequence[str] = PRIMARY,
    margin: float = MARGIN,
) -> list[ComparisonRow]:
    """Pairs of runs in every metric: that is the family.

    Args:
        runs: values by run, metric and question.
        questions: those of the experiment; unanswerable ones are passed over.
        pairs: the runs to compare; None: each with each.
        metrics: metrics to compare, declared beforehand.
        margin: the largest difference that does not matter.

    Returns:
        One row a metric and pair, in the order given.
    """
    asked = sorted((q for q in questions if q.groups), key=lambda q: q.question_id)
    needles = [q.needle_id or q.question_id for q in asked]
    documents = [min(span.doc_id for group in q.groups for span in group) for q in asked]
    chosen = list(combinations(runs, 2)) if pairs is None else pairs
    members = [(metric, a, b) for metric in metrics for a, b in chosen]
    tested = {member: _tested(runs, asked, needles, *member) for member in members}
    family = Family("runs", tuple(map(_name, members)))
    corrected = family.correct({_name(member): p for member, (_, p) in tested.items()})
    rows: list[ComparisonRow] = []
    for member, result in zip(members, corrected, strict=True):
        metric, a, b = member
        left, right = _values(runs[a], metric, asked), _values(runs[b], metric, asked)
        interval, p = tested[member]
        by_document = paired_bootstrap(left, right, documents, resamples=RESAMPLES)
        equal = equivalence(left, right, margin, needles, mean="macro", resamples=RESAMPLES)
        counted = wins_and_losses(left, right, needles)
        detectable = smallest_detectable_effect(interval.standard_error, comparisons=len(members))
        rows.append(
            ComparisonRow(
                metric=metric,
                run_a=a,
                run_b=b,
                needles=interval.clusters,
                wins=counted.wins,
                losses=counted.losses,
                ties=counted.ties,
                difference=interval.difference,
                low=interval.low,
                high=interval.high,
                low_by_document=by_document.low,
                high_by_document=by_document.high,
                p_sign=sign_test(counted.wins, counted.losses),
                p_randomisation=p,
                p_holm=result.holm,
                p_bh=result.benjamini_hochberg,
                smallest_detectable=detectable.effect,
                family=len(members),
                verdict=verdict(interval, corrected_p=result.holm, shown_equivalent=equal),
            )
        )
    return rows


def _tested(
    runs: Mapping[str, Values], asked: Sequence[Question], needles: Sequence[str], metric: str, a: str, b: str
) -> tuple[PairedBootstrap, float | None]:
    left, right = _values(runs[a], metric, asked), _values(runs[b], metric, asked)
    interval = paired_bootstrap(left, right, needles, mean="macro", resamples=RESAMPLES)
    return interval, paired_randomisation(left, right, needles)


def _values(run: Values, metric: str, asked: Sequence[Question]) -> list[float | None]:
    return [run[metric].get(question.question_id) for question in asked]


def _name(member: tuple[str, str, str]) -> str:
    return f"{member[0]}: {member[1]} against {member[2]}"
