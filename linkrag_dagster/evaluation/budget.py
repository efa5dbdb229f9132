"""Evidence under a budget: what a reader gets who is handed so many tokens or characters (ME-03).

Everything handed counts: header, neighbour context and content. Two named policies:

    stop   whole chunks in rank order until the next does not fit (seeds/004);
    skip   whole chunks in rank order, passing over those that do not fit (seeds/002, CS-01).

Neither truncates or drops repeated text: what is repeated is paid for, and reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from linkrag_dagster.evaluation.evidence import EvidenceLike, matched, recall, support_groups
from linkrag_dagster.evaluation.records import IndexedChunk
from linkrag_dagster.evaluation.spans import Spans, intersection, union

Policy = Literal["stop", "skip"]
Unit = Literal["tokens", "characters"]

SourceLength: TypeAlias = Callable[[str, str | None, int, int], int]
"""Length of a source range `(doc_id, version, start_char, end_char)`; lengths of adjacent ranges must add up."""

BUDGET = 2048
CURVE = (256, 512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True, slots=True)
class BudgetScores:
    """One question under one budget.

    Attributes:
        budget, unit, policy: as asked.
        used: what the selected chunks cost, headers and context included.
        selected: their ranks, from 1.
        contained, covered: Evidence Recall of the selected chunks; None for a question without evidence.
        evidence: source units of evidence among what was handed, each counted once, partly returned spans included.
        unique_source, duplicate_source: source units handed for the first time, and again; both without headers.
    """

    budget: int
    unit: Unit
    policy: Policy
    used: int
    selected: tuple[int, ...]
    contained: float | None
    covered: float | None
    evidence: int
    unique_source: int
    duplicate_source: int

    @property
    def evidence_share(self) -> float | None:
        """Evidence over everything handed; None where nothing was, or the question has no evidence."""
        return self.evidence / self.used if self.used and self.contained is not None else None

    @property
    def duplicate_share(self) -> float | None:
        """Source handed again, over everything handed; None where nothing was."""
        return self.duplicate_source / self.used if self.used else None


def code_points(doc_id: str, version: str | None, start_char: int, end_char: int) -> int:
    """The measure of a budget in characters."""
    return end_char - start_char


def select(
    ranked: Sequence[IndexedChunk], budget: int, *, policy: Policy = "stop", unit: Unit = "tokens"
) -> list[int]:
    """The chunks that a budget admits.

    Args:
        ranked: best first.
        budget: 1 or more, in `unit`.
        policy: `stop` or `skip`.
        unit: which of a chunk's lengths is paid.

    Returns:
        Positions in `ranked`, from 0, rising.

    Raises:
        ValueError: a budget under 1, another policy or unit, or a chunk without a length.
    """
    if budget < 1:
        raise ValueError(f"the budget is {budget} {unit}: give 1 or more")
    if policy not in get_args(Policy) or unit not in get_args(Unit):
        raise ValueError(f"policy {policy!r}, unit {unit!r}: give stop or skip, and tokens or characters")
    chosen: list[int] = []
    left = budget
    for position, chunk in enumerate(ranked):
        cost = chunk.tokens if unit == "tokens" else chunk.characters
        if cost < 1:
            raise ValueError(f"chunk {chunk.chunk_id!r} has {cost} {unit}: count all that a reader is handed")
        if cost <= left:
            chosen.append(position)
            left -= cost
        elif policy == "stop":
            break
    return chosen


def under_budget(
    ranked: Sequence[IndexedChunk],
    evidence: EvidenceLike,
    budget: int = BUDGET,
    *,
    policy: Policy = "stop",
    unit: Unit = "tokens",
    source_length: SourceLength | None = None,
) -> BudgetScores:
    """Score one question under a budget (`seeds/002`, `seeds/004`; ME-03).

    Args:
        ranked: best first.
        evidence: spans, or groups of spans; every group's spans are evidence to `evidence_share`.
        budget: in `unit`.
        policy: `stop` or `skip`.
        unit: `tokens` (of the experiment's tokenizer) or `characters`.
        source_length: measures source ranges in `unit` (`axes.SourceTokens` counts tokens); characters need none.

    Raises:
        ValueError: tokens without `source_length`, and as `select` and `evidence.recall`.
    """
    if source_length is None:
        if unit == "tokens":
            raise ValueError("a budget in tokens needs source_length: the source tokens of a range")
        source_length = code_points
    chosen = select(ranked, budget, policy=policy, unit=unit)
    chunks = [ranked[position] for position in chosen]
    returned: dict[tuple[str, str | None], list[tuple[int, int]]] = defaultdict(list)
    wanted: dict[tuple[str, str | None], set[tuple[int, int]]] = defaultdict(set)
    total = 0
    for chunk, spans in matched(chunks, support_groups(evidence)):
        own = union(chunk.spans)
        total += _length(chunk.doc_id, chunk.version, own, source_length)
        returned[chunk.doc_id, chunk.version] += own
        wanted[chunk.doc_id, chunk.version] |= {(span.start_char, span.end_char) for span in spans}
    unique = found = 0
    for (doc_id, version), spans in returned.items():
        once = union(spans)
        unique += _length(doc_id, version, once, source_length)
        common = intersection(once, union(wanted[doc_id, version]))
        found += _length(doc_id, version, common, source_length)
    return BudgetScores(
        budget=budget,
        unit=unit,
        policy=policy,
        used=sum(chunk.tokens if unit == "tokens" else chunk.characters for chunk in chunks),
        selected=tuple(position + 1 for position in chosen),
        contained=recall(chunks, evidence, "contained"),
        covered=recall(chunks, evidence, "covered"),
        evidence=found,
        unique_source=unique,
        duplicate_source=total - unique,
    )


def budget_curve(
    ranked: Sequence[IndexedChunk],
    evidence: EvidenceLike,
    budgets: Iterable[int] = CURVE,
    *,
    policy: Policy = "stop",
    unit: Unit = "tokens",
    source_length: SourceLength | None = None,
) -> list[BudgetScores]:
    """`under_budget` for each budget, in the order given."""
    return [
        under_budget(ranked, evidence, budget, policy=policy, unit=unit, source_length=source_length)
        for budget in budgets
    ]


def _length(doc_id: str, version: str | None, spans: Spans, source_length: SourceLength) -> int:
    return sum(source_length(doc_id, version, start, end) for start, end in spans)
