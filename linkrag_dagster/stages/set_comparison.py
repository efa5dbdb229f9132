"""Chunkers in one experiment: ours, the strategies for comparison, and peers, on the same questions (SX-02).

All share documents, encoder, analyzer, retrievers, k and budgets, and differ in their chunks alone. Each result is kept
by its fingerprint, so that a second run computes nothing. Correctness gates come first: a chunker that loses source
without a record is shown, and compared with none (ME-05). The family of comparisons is declared by the call, before any
result is there: each of ours with each peer, by every retriever, in one metric (SX-01).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from pydantic import ValidationError

from linkrag_dagster.choices.strategies import takes
from linkrag_dagster.evaluation.comparison import ComparisonRow, compare
from linkrag_dagster.evaluation.gates import Capabilities
from linkrag_dagster.peers import PEERS, PeerMissing, Size, UnknownPeer, load_peer
from linkrag_dagster.stages.experiment import RUNS
from linkrag_dagster.stages.set_chunks import PeerChunker, SetChunker, SetError, peer_tools
from linkrag_dagster.stages.set_sources import SetSource, folder_set
from linkrag_dagster.stages.sets import SetResult, asked_questions, evaluate_set, values_of
from linkrag_dagster.stages.stage import Progress

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

OURS = ("pack", "semantic_depth_window")
"""Strategies that peers are compared with."""
STRATEGIES = (*OURS, "fixed", "recursive")
"""What is measured where nothing else is asked for."""
COMPARED_METRIC = "budget_recall@2048"
"""The metric of the comparisons: the share of evidence that 2,048 tokens hold, whatever a chunk's size (ME-03)."""
SHOWN = (
    "contained_recall@1",
    "contained_recall@5",
    "contained_recall@10",
    "rr@10",
    COMPARED_METRIC,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its 95 % interval."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Contender:
    """A chunker and what it gave.

    Attributes:
        label: as it was asked for: a name, and its size where one was given.
        kind: `ours`, `comparison` or `peer`.
        size: tokens or code points (`512c`) of a chunk at most.
        fingerprint, cached: of its result.
        facts: counts: chunks, tokens, destroyed needles, what the gates found.
        destroyed: share of needles that no single chunk holds.
        figures: retriever → metric → mean.
        gates: counts of the gates: `correctness` and `capabilities` (ME-05).
    """

    label: str
    kind: str
    size: str
    fingerprint: str
    cached: bool
    facts: Mapping[str, int]
    destroyed: Figure
    figures: Mapping[str, Mapping[str, Figure]]
    gates: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])

    @property
    def passed(self) -> bool:
        """Whether the correctness gates let it be compared."""
        return not self.facts["documents_failing_gates"]

    @property
    def capabilities(self) -> dict[str, float | None]:
        """Shares of the capability gates, which a weak baseline may fail; None where there is nothing to count."""
        return Capabilities(**self.gates.get("capabilities", {})).shares

    @property
    def accounted(self) -> float | None:
        """The share of the source that its chunks hold, or a record tells of; None without source."""
        counts = self.gates.get("correctness", {})
        held = counts.get("covered", 0) + counts.get("declared", 0)
        return held / counts["source"] if counts.get("source") else None

    @property
    def mean_tokens(self) -> float:
        """Tokens of a chunk as a reader is handed it, header included."""
        return self.facts["chunk_tokens"] / max(1, self.facts["chunks"])


@dataclass(frozen=True, slots=True)
class SetComparison:
    """Chunkers compared on one set.

    Attributes:
        name: the set's.
        questions: asked, with evidence.
        contenders: in the order they were asked for.
        best: retriever → label of the peer with the highest mean of `COMPARED_METRIC`, among those that passed.
        comparisons: the whole family: ours against peers, by retriever; runs are named `RETRIEVER LABEL`.
        missing: peers whose library is not installed, with what to do.
    """

    name: str
    questions: int
    contenders: tuple[Contender, ...]
    best: Mapping[str, str]
    comparisons: tuple[ComparisonRow, ...]
    missing: Mapping[str, str]

    @property
    def with_best(self) -> tuple[ComparisonRow, ...]:
        """The comparisons of ours with the best peer, corrected over the whole family."""
        return tuple(
            row
            for row in self.comparisons
            for run, _, peer in [row.run_b.partition(" ")]
            if self.best.get(run) == peer
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    label: str
    name: str
    size: Size


def compare_set(
    road: Road,
    source: Path | SetSource,
    progress: Progress,
    *,
    strategies: Sequence[str] = STRATEGIES,
    peers: Sequence[str] | None = None,
    size: str | None = None,
) -> SetComparison:
    """Measure chunkers on a set and compare ours with the peers.

    Args:
        road: settings, encoder, analyzer and memo of all of them.
        source: the set, as for `evaluate_set`.
        progress: told in lines.
        strategies: names of strategies, each with a size after a colon where it has one of its own: `fixed:512c`.
        peers: likewise of `PEERS`; None: all that are installed.
        size: longest chunk of all that say nothing else, `128` tokens or `512c` code points; None: the corpus's
            `max_tokens`.

    Raises:
        SetError: a strategy that does not exist, sizes that cannot be, no such set.
        UnknownPeer: a peer or a size that does not exist.
        PeerMissing: a peer that was asked for by name is not installed.
        PeerFailed, GoldError, ModelError, OSError: as `evaluate_set`.
    """
    usual = Size.of(size) if size else Size(road.settings.max_tokens)
    ours = [_asked(written, usual) for written in dict.fromkeys(strategies)]
    theirs = [_asked(written, usual) for written in dict.fromkeys(PEERS if peers is None else peers)]
    tools = peer_tools(road, progress)
    # What can't be is said before anything is computed.
    roads = {
        one.label: road_with(road, one.name, one.size if one.size != _declared(road) else None)
        for one in ours
    }
    loaded: dict[str, SetChunker] = {}
    missing: dict[str, str] = {}
    for one in theirs:
        try:
            loaded[one.label] = PeerChunker(road, load_peer(one.name, one.size, tools), one.size)
        except PeerMissing as error:
            if peers is not None:
                raise
            missing[one.name] = str(error)
    chosen = folder_set(source) if isinstance(source, Path) else source
    results: dict[str, SetResult] = {}
    kinds: dict[str, tuple[str, str]] = {}
    for one in ours:
        results[one.label] = evaluate_set(
            roads[one.label], chosen, _named(progress, one.label), compared=True
        )
        kinds[one.label] = ("ours" if one.name in OURS else "comparison", str(one.size))
    for one in theirs:
        if one.label in loaded:
            told = _named(progress, one.label)
            results[one.label] = evaluate_set(road, chosen, told, loaded[one.label], compared=True)
            kinds[one.label] = ("peer", str(one.size))
    contenders = tuple(_contender(label, *kinds[label], result) for label, result in results.items())
    return _compared(chosen.name, contenders, results, missing)


def road_with(road: Road, strategy: str, size: Size | None = None) -> Road:
    """The same road with another strategy, and another longest chunk.

    Args:
        road: the declared one; settings that the other strategy has not stay behind.
        strategy: one of those that a declaration may name.
        size: of strategies that cut by size in any unit; of the others in tokens alone; None: as declared.

    Raises:
        SetError: no such strategy, or a size that it cannot have.
    """
    from linkrag_dagster.stages.road import Road

    declared = road.declaration.chunking
    changes: dict[str, object] = {"strategy": strategy}
    if size is not None and size.in_tokens:
        changes |= {"max_tokens": size.amount, "size": None, "unit": None}
        if declared.min_candidate_tokens is not None:
            changes["min_candidate_tokens"] = min(declared.min_candidate_tokens, size.amount)
    elif size is not None:
        changes |= {"size": size.amount, "unit": "chars"}
    own = {**declared.model_dump(exclude_unset=True), **changes}
    given = {name: value for name, value in own.items() if takes(strategy, name)}
    try:
        chunking = type(declared).model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "chunking"
        raise SetError(f"strategy {strategy!r}: {field}: {first['msg']}") from error
    if size is not None and not size.in_tokens and not takes(strategy, "size"):
        raise SetError(
            f"strategy {strategy!r} counts tokens: give it a size such as {road.settings.max_tokens}"
        )
    made = road.declaration.model_copy(update={"chunking": chunking})
    return Road(replace(road.loaded, declaration=made), lake=road.lake_root)


def _declared(road: Road) -> Size:
    return Size(road.settings.max_tokens)


def _asked(written: str, usual: Size) -> _Asked:
    name, colon, size = written.partition(":")
    if not name:
        raise UnknownPeer(f"{written!r} names no chunker")
    return _Asked(written, name, Size.of(size) if colon else usual)


def _named(progress: Progress, label: str) -> Progress:
    return lambda line: progress(f"{label}: {line}")


def _contender(label: str, kind: str, size: str, result: SetResult) -> Contender:
    rows = result.frames["evaluation"].filter(pl.col("slice") == "all")
    cells = {
        (run, metric): Figure(value, low, high)
        for run, metric, value, low, high in rows.select("run", "metric", "value", "low", "high").iter_rows()
    }
    return Contender(
        label=label,
        kind=kind,
        size=size,
        fingerprint=result.fingerprint,
        cached=result.cached,
        facts=result.facts,
        destroyed=cells["chunks", "destroyed"],
        figures={run: {metric: cells[run, metric] for metric in SHOWN} for run in RUNS},
        gates=result.gates,
    )


def _compared(
    name: str,
    contenders: tuple[Contender, ...],
    results: Mapping[str, SetResult],
    missing: Mapping[str, str],
) -> SetComparison:
    sound = [c for c in contenders if c.passed]
    ours = [c.label for c in sound if c.kind == "ours"]
    peers = [c for c in sound if c.kind == "peer"]
    best: dict[str, str] = {}
    for run in RUNS:
        means = [(c.figures[run][COMPARED_METRIC].value, c.label) for c in peers]
        known = [(value, label) for value, label in means if value is not None]
        if known:
            best[run] = max(known, key=lambda pair: pair[0])[1]
    questions = asked_questions([result.frames["evaluation_questions"] for result in results.values()])
    found = {label: values_of(results[label]) for label in (*ours, *(c.label for c in peers))}
    values = {f"{run} {label}": by_run[run] for label, by_run in found.items() for run in RUNS}
    pairs = [(f"{run} {own}", f"{run} {peer.label}") for run in RUNS for own in ours for peer in peers]
    rows = compare(values, questions, pairs=pairs, metrics=(COMPARED_METRIC,)) if pairs else []
    return SetComparison(name, len(questions), contenders, best, tuple(rows), missing)
