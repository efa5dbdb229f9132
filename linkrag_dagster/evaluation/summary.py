"""Means over questions with their intervals (SX-01, GO-04)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkrag_dagster.evaluation.records import Question
from linkrag_dagster.evaluation.statistics import paired_bootstrap, wilson

ALL = "all"
RESAMPLES = 10_000

Values = Mapping[str, Mapping[str, float | None]]
"""Metric → question id → value; None where it is not defined."""


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A metric of one run over a slice of the questions.

    Attributes:
        run: the retriever; `chunks` for facts about the chunks alone.
        slice: which questions.
        metric: the metric.
        value: mean over the questions that have one; None where none has.
        low, high: ends of the 95 % interval; None with fewer than two needles.
        interval: `wilson`, for rates over independent needles, or `bootstrap by needle`; None without one.
        questions: questions in the denominator.
        undefined: questions of the slice for which the metric is not defined.
        needles: different needles among the questions.
    """

    run: str
    slice: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    interval: str | None
    questions: int
    undefined: int
    needles: int


def summarise(
    run: str, values: Values, questions: Sequence[Question], slices: Mapping[str, frozenset[str]]
) -> list[SummaryRow]:
    """One row a slice and metric, in the order given.

    Args:
        run: the run.
        values: of its questions.
        questions: those of the experiment; their needles are the clusters.
        slices: question ids by the slice's name.
    """
    needles = {question.question_id: question.needle_id or question.question_id for question in questions}
    return [
        _row(run, name, metric, {q: found.get(q) for q in needles if q in members}, needles)
        for name, members in slices.items()
        for metric, found in values.items()
    ]


def _row(
    run: str, name: str, metric: str, values: Mapping[str, float | None], needles: Mapping[str, str]
) -> SummaryRow:
    defined = {question: value for question, value in values.items() if value is not None}
    clusters = [needles[question] for question in defined]
    numbers = list(defined.values())
    ends: tuple[float, float] | None = None
    kind: str | None = None
    if len(set(clusters)) > 1:
        if len(set(clusters)) == len(clusters) and all(number in (0.0, 1.0) for number in numbers):
            ends, kind = wilson(int(sum(numbers)), len(numbers)), "wilson"
        else:
            found = paired_bootstrap(numbers, [0.0] * len(numbers), clusters, resamples=RESAMPLES)
            if found.low is not None and found.high is not None:
                ends, kind = (found.low, found.high), "bootstrap by needle"
    return SummaryRow(
        run=run,
        slice=name,
        metric=metric,
        # Of sorted numbers: the order of questions changes no bit.
        value=sum(sorted(numbers)) / len(numbers) if numbers else None,
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        interval=kind,
        questions=len(numbers),
        undefined=len(values) - len(numbers),
        needles=len(set(clusters)),
    )


def phrasing_slices(questions: Sequence[Question]) -> dict[str, frozenset[str]]:
    """All answerable questions, and those of each phrasing."""
    answerable = [question for question in questions if question.groups]
    slices = {ALL: frozenset(question.question_id for question in answerable)}
    for phrasing in sorted({question.phrasing for question in answerable if question.phrasing}):
        slices[f"phrasing={phrasing}"] = frozenset(
            question.question_id for question in answerable if question.phrasing == phrasing
        )
    return slices
