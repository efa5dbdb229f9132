"""The sweep that chooses a cut: answered, correct, abandoned and bluffed at each cosine distance (ME-07, GA-02).

The gate keeps at most k chunks, in rank order, of those under the cut (GA-01). Unanswerable questions come in tiers,
which are never pooled: far away they are trivial to refuse, near the corpus they may be refused by chance alone.

References:
    `seeds/000` for the sweep. Risk-coverage: El-Yaniv & Wiener (2010), On the foundations of noise-free selective
    classification; its area: Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
    classifiers. AUROC: Hanley & McNeil (1982), The meaning and use of the area under a ROC curve.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from linkrag_dagster.evaluation.evidence import Mode, recall
from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk

K = 4

ANSWERABLE = "answerable"
"""The tier of answerable questions; the others are named by `Question.unanswerable_kind`."""


@dataclass(frozen=True, slots=True)
class GateCase:
    """One question and what was retrieved for it, before any cut.

    Attributes:
        question_id: the question.
        tier: `answerable`, or the kind of unanswerable question.
        chunks: retrieved, best first by the retriever's own order.
        distances: cosine distance of each to the query.
        evidence: support groups; those of an answerable question are not empty.
    """

    question_id: str
    tier: str
    chunks: tuple[IndexedChunk, ...]
    distances: tuple[float, ...]
    evidence: tuple[tuple[EvidenceSpan, ...], ...] = ()

    def __post_init__(self) -> None:
        if len(self.chunks) != len(self.distances):
            raise ValueError(
                f"question {self.question_id!r}: {len(self.distances)} distances for {len(self.chunks)} chunks"
            )
        if any(math.isnan(distance) for distance in self.distances):
            raise ValueError(
                f"question {self.question_id!r}: a distance is not a number: embed its chunk again"
            )
        if self.tier == ANSWERABLE and not any(self.evidence):
            raise ValueError(
                f"question {self.question_id!r} is answerable but has no evidence: leave it out of the sweep"
            )

    @property
    def nearest(self) -> float:
        """The smallest distance; infinite where nothing was retrieved."""
        return min(self.distances, default=math.inf)

    def kept(self, cut: float | None, k: int) -> tuple[int, ...]:
        """Positions of the chunks that the gate keeps."""
        under = (i for i, distance in enumerate(self.distances) if cut is None or distance < cut)
        return tuple(position for position, _ in zip(under, range(k), strict=False))


@dataclass(frozen=True, slots=True)
class SweepRow:
    """What the gate does at one cut.

    Attributes:
        cut: cosine distance under which a chunk is kept; None = the row without a cut.
        answerable: answerable questions.
        answered: those with something kept.
        correct: those whose kept chunks hold all of their evidence.
        abandoned: those with nothing kept.
        unanswerable: questions by tier.
        bluffed: by tier, those with something kept: an answer where there is none.
    """

    cut: float | None
    answerable: int
    answered: int
    correct: int
    abandoned: int
    unanswerable: Mapping[str, int]
    bluffed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """One point of a risk-coverage curve.

    Attributes:
        distance: questions whose nearest chunk lies no farther are answered.
        coverage: their share of all questions.
        risk: the share of wrong answers among them.
    """

    distance: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """A risk-coverage curve.

    Attributes:
        points: by rising coverage, one a distinct distance.
        area: mean risk over the coverages 1/n, 2/n, … that are reached; 0 is best. Questions of equal distance come
            in any order, so that their mean counts. None where nothing is answered.
    """

    points: tuple[RiskPoint, ...]
    area: float | None


def sweep(
    cases: Sequence[GateCase], cuts: Iterable[float], *, k: int = K, mode: Mode = "contained"
) -> list[SweepRow]:
    """Rows for each cut, by rising cut, and last the row without one.

    Args:
        cases: answerable questions, and unanswerable ones of any tiers.
        cuts: cosine distances; each counts once.
        k: most chunks kept.
        mode: which notion of evidence makes an answer correct.

    Raises:
        ValueError: k under 1, a question twice, or evidence that cannot be matched.
    """
    _checked(cases, k)
    tiers = sorted({case.tier for case in cases} - {ANSWERABLE})
    totals = {tier: sum(case.tier == tier for case in cases) for tier in tiers}
    judged = _Judge(mode)
    rows: list[SweepRow] = []
    for cut in [*sorted(set(cuts)), None]:
        answerable = answered = correct = 0
        bluffed = dict.fromkeys(tiers, 0)
        for case in cases:
            kept = case.kept(cut, k)
            if case.tier != ANSWERABLE:
                bluffed[case.tier] += bool(kept)
                continue
            answerable += 1
            answered += bool(kept)
            correct += judged.correct(case, kept)
        rows.append(SweepRow(cut, answerable, answered, correct, answerable - answered, totals, bluffed))
    return rows


def nearest_distances(cases: Iterable[GateCase]) -> dict[str, list[float]]:
    """Distance of the nearest chunk by tier, rising: the distributions that a cut must part."""
    found: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        found[case.tier].append(case.nearest)
    return {tier: sorted(distances) for tier, distances in sorted(found.items())}


def auroc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float | None:
    """The chance that an answerable question lies nearer to its chunks than an unanswerable one; ties count half.

    Args:
        answerable, unanswerable: nearest distances.

    Returns:
        1 parts them wholly, .5 is chance; None where a side is empty.
    """
    if not answerable or not unanswerable:
        return None
    others = np.sort(np.asarray(unanswerable, dtype=np.float64))
    own = np.asarray(answerable, dtype=np.float64)
    not_farther = np.searchsorted(others, own, side="right")
    nearer = np.searchsorted(others, own, side="left")
    wins = others.size * own.size - (int(not_farther.sum()) + int(nearer.sum())) / 2
    return wins / (others.size * own.size)


def auroc_by_tier(cases: Sequence[GateCase]) -> dict[str, float | None]:
    """AUROC of the nearest distance, answerable questions against each tier on its own."""
    distances = nearest_distances(cases)
    answerable = distances.pop(ANSWERABLE, [])
    return {tier: auroc(answerable, others) for tier, others in distances.items()}


def risk_coverage(
    cases: Sequence[GateCase], tier: str | None = None, *, k: int = K, mode: Mode = "contained"
) -> RiskCoverage:
    """Risk against coverage when questions are answered by rising nearest distance.

    An answer is wrong where the question is unanswerable, or where the first k chunks, without a cut, do not hold all
    of its evidence. A question for which nothing was retrieved is never answered: coverage then stays under 1.

    Args:
        cases: questions of any tiers.
        tier: the tier of unanswerable questions that join the answerable ones; None = none of them.
        k: chunks an answer rests on.
        mode: which notion of evidence makes an answer correct.

    Raises:
        ValueError: k under 1, a question twice, or evidence that cannot be matched.
    """
    _checked(cases, k)
    judged = _Judge(mode)
    outcomes = sorted(
        (case.nearest, case.tier != ANSWERABLE or not judged.correct(case, case.kept(None, k)))
        for case in cases
        if case.tier in (ANSWERABLE, tier)
    )
    points: list[RiskPoint] = []
    risks: list[float] = []
    answered = wrong = 0
    for distance, block in groupby(outcomes, key=lambda outcome: outcome[0]):
        if distance == math.inf:
            break
        errors = [error for _, error in block]
        risks += [(wrong + sum(errors) * i / len(errors)) / (answered + i) for i in range(1, len(errors) + 1)]
        answered += len(errors)
        wrong += sum(errors)
        points.append(RiskPoint(distance, answered / len(outcomes), wrong / answered))
    return RiskCoverage(tuple(points), math.fsum(risks) / len(risks) if risks else None)


class _Judge:
    """Whether kept chunks hold a question's evidence; a sweep asks for the same few selections again and again."""

    def __init__(self, mode: Mode) -> None:
        self._mode: Mode = mode
        self._known: dict[tuple[str, tuple[int, ...]], bool] = {}

    def correct(self, case: GateCase, kept: tuple[int, ...]) -> bool:
        key = (case.question_id, kept)
        if key not in self._known:
            chunks = [case.chunks[position] for position in kept]
            self._known[key] = recall(chunks, case.evidence, self._mode) == 1.0
        return self._known[key]


def _checked(cases: Sequence[GateCase], k: int) -> None:
    if k < 1:
        raise ValueError(f"k is {k}: give 1 or more")
    seen: set[str] = set()
    for case in cases:
        if case.question_id in seen:
            raise ValueError(f"question {case.question_id!r} comes twice: give each question once")
        seen.add(case.question_id)
