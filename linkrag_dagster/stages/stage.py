"""What every stage does, once: plan → compute → check → stage (PI-03, CO-02, CO-03, FA-01).

A stage file says only what is its own: its tables, its inputs, its spec, and the function from rows to rows. The unit
of work is a document; the grain of a row's fingerprint is the document too, but for the stages that say otherwise
(`row_grain`), where a recomputed row that stayed what it was counts as unchanged.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation, check_schema
from linkrag_dagster.contracts.rows import content_hashes
from linkrag_dagster.contracts.tables import Contract, contract
from linkrag_dagster.lake.lake import UNITS, UNITS_SCHEMA, shard_of
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.finish import noted
from linkrag_dagster.versions.planner import StagePlan, Unit, Wanted, attempt_of, plan_stage
from linkrag_dagster.versions.spec import StageSpec, canonical_json, digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

SHARE_COUNTED_FROM = 10
"""Documents from which on the declared share of failures is looked at (CO-03)."""

FIRST = "raw_documents"
READS_BYTES = "extracted_text"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DocumentFailure:
    """One document that a stage could not do.

    Attributes:
        doc_key: the document.
        kind: the failure's kind (FA-01, XT-11).
        message: what happened and what to do next.
        retryable: whether the same input may pass another time.
        cases: failing cases of a contract, capped.
        transient: True where the next build should look again although nothing changed (a source that moved under
            the build's hands).
    """

    doc_key: str
    kind: str
    message: str
    retryable: bool = False
    cases: tuple[Mapping[str, str], ...] = ()
    transient: bool = False


@dataclass(frozen=True, slots=True)
class Computed:
    """What a stage computed for the documents it was asked for.

    Attributes:
        frames: rows by table, without stamps; a document without rows is simply absent.
        failures: documents that failed; they have no rows in `frames`.
        texts: texts given to a model.
        tokens: tokens given to a model.
    """

    frames: Mapping[str, pl.DataFrame]
    failures: Sequence[DocumentFailure] = ()
    texts: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class StageReport:
    """What became of a stage: counts of rows in its counted table, by primary key.

    Attributes:
        table: the stage.
        new, stale, retried, unchanged, removed: rows.
        failed: documents that have failed at this stage, now or before.
        rows: rows there are now.
        seconds: time it took.
        reasons: rows by reason, most first.
        checks: outcomes of its contracts, before documents were failed for them.
        failures: documents that failed in this run.
        refused: why nothing was committed; "" where it was.
        data_version: hash over the content of all its rows.
        texts, tokens: given to a model.
    """

    table: str
    new: int = 0
    stale: int = 0
    retried: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: int = 0
    rows: int = 0
    seconds: float = 0.0
    reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    checks: tuple[CheckResult, ...] = ()
    failures: tuple[DocumentFailure, ...] = ()
    refused: str = ""
    data_version: str = ""
    texts: int = 0
    tokens: int = 0

    def counts(self) -> dict[str, int | float]:
        """The numbers that `linkrag build --json` prints for the stage."""
        return {
            "new": self.new,
            "stale": self.stale,
            "retried": self.retried,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "failed": self.failed,
            "rows": self.rows,
            "seconds": round(self.seconds, 3),
        }


class Refused(Exception):
    """A contract or the share of failures refuses the commit of a stage; `report` says why (CO-02, CO-03)."""

    def __init__(self, report: StageReport) -> None:
        super().__init__(report.refused)
        self.report = report


class Stage(ABC):
    """A stage of the road: table in, table out.

    Attributes:
        name: the asset's and stage's name.
        tables: the tables it writes; the first is the one whose rows are counted.
        inputs: stages whose content its own derives from.
        row_grain: True where rows carry fingerprints of their own.
        reads_documents: True for the first stage that can fail a document whose bytes may be bad.
    """

    name: str
    tables: tuple[str, ...]
    inputs: tuple[str, ...]
    description: str
    row_grain: bool = False

    @abstractmethod
    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        """The spec that applies to a document, given its `raw_documents` row."""

    @abstractmethod
    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        """Rows of the documents `keys`, from the staged rows of the inputs."""

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        """Contracts beyond the schema's, over the candidate rows of the documents `keys`."""
        del road, generation, frames, keys
        return ()

    def contract(self, road: Road, table: str) -> Contract:
        """The contract of one of its tables."""
        del road
        return contract(table)

    def facts(self, road: Road) -> Mapping[str, object]:
        """Facts that readers of the generation need (`Generation.facts`)."""
        del road
        return {}


def promises(road: Road, stage: Stage) -> list[CheckResult]:
    """Every check of a stage, over no rows: what it promises, whether or not it has anything to do today."""
    empty = {table: stage.contract(road, table).empty() for table in stage.tables}
    return [
        *(check_schema(stage.contract(road, table), frame) for table, frame in empty.items()),
        *_unique_elsewhere(road, stage, Generation(), empty, frozenset()),
        *stage.checks(road, Generation(), empty, frozenset()),
    ]


# -- planning --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the lake says, as the planner sees it.

    Attributes:
        units: units by stage and document.
        specs: specs as plain data by fingerprint.
        failures: rows of the table `failures`, by document.
    """

    units: Mapping[str, Mapping[str, Unit]]
    specs: Mapping[str, Mapping[str, object]]
    failures: Mapping[str, Mapping[str, Any]]


def read_ledger(road: Road, generation: Generation) -> Ledger:
    """The units and failures of a generation."""
    units: dict[str, dict[str, Unit]] = {}
    for stage, *values in road.lake.read(generation, UNITS).iter_rows():
        units.setdefault(stage, {})[values[0]] = Unit(*values)
    failures = {row["doc_key"]: row for row in road.lake.read(generation, "failures").iter_rows(named=True)}
    return Ledger(units, generation.specs, failures)


def wanted_units(
    road: Road,
    stage: Stage,
    documents: Mapping[str, Mapping[str, Any]],
    ledger: Ledger,
    pending: Mapping[str, Set[str]],
) -> dict[str, Wanted]:
    """The units that a stage should have: those whose inputs exist, or will (`pending`, by stage)."""
    wanted: dict[str, Wanted] = {}
    for key, document in documents.items():
        hashes: list[str] = []
        waits = False
        for name in stage.inputs:
            if key in pending.get(name, frozenset()):
                waits = True
            elif key in ledger.units.get(name, {}):
                hashes.append(ledger.units[name][key].content_hash)
            else:
                break
        else:
            wanted[key] = Wanted(
                key, road.spec(stage, document).fingerprint, None if waits else digest("inputs", *hashes)
            )
    return wanted


def blocked_by_failure(
    road: Road, stage: Stage, documents: Mapping[str, Mapping[str, Any]], ledger: Ledger
) -> tuple[set[str], set[str]]:
    """Documents whose recorded failure forbids computing them at `stage`, and those to be tried again (FA-01).

    A failure at a stage holds back the stages that it derives from: the document keeps its last good rows in all of
    them, so that text and chunks stay of one piece. Stages that derive from it go on from those rows.
    """
    failed: set[str] = set()
    retry: set[str] = set()
    for key, failure in ledger.failures.items():
        if key not in documents or stage.name not in road.held_back_by(failure["stage"]):
            continue
        if failure["stage"] == FIRST:
            failed.add(key)
        elif failure["retry"]:
            retry.add(key)
        elif road.attempt(documents[key], failure["stage"]) == failure["fingerprint"]:
            failed.add(key)
    return failed, retry


def plan_documents(
    road: Road,
    stage: Stage,
    documents: Mapping[str, Mapping[str, Any]],
    ledger: Ledger,
    pending: Mapping[str, Set[str]],
) -> StagePlan:
    """The plan of a stage after `raw_documents`."""
    failed, retry = blocked_by_failure(road, stage, documents, ledger)
    return plan_stage(
        wanted_units(road, stage, documents, ledger, pending),
        ledger.units.get(stage.name, {}),
        {**ledger.specs, **road.known_specs()},
        failed=failed,
        retry=retry,
    )


# -- running ---------------------------------------------------------------------------------------------------


def materialise(road: Road, stage: Stage, progress: Progress) -> StageReport:
    """Bring one stage up to date with its staged inputs, and stage the result.

    Raises:
        Refused: when a contract, or the share of failed documents, refuses the commit; nothing is staged.
        LockHeld: when another process builds this corpus.
        LakeError: when the lake can't be read.
    """
    started = time.monotonic()
    with road.lake.writer(wait=road.wait):
        generation = road.lake.next_generation()
        ledger = read_ledger(road, generation)
        documents = road.documents(generation)
        plan = plan_documents(road, stage, documents, ledger, {})
        mended = _mended(road, stage, documents, ledger, plan)
        if plan.idle and not mended:
            return _idle_report(road, stage, generation, ledger, plan, time.monotonic() - started)
        computed = stage.compute(road, generation, plan.todo, progress)
        return commit(road, stage, generation, ledger, documents, plan, computed, mended, started)


def commit(
    road: Road,
    stage: Stage,
    generation: Generation,
    ledger: Ledger,
    documents: Mapping[str, Mapping[str, Any]],
    plan: StagePlan,
    computed: Computed,
    mended: Set[str],
    started: float,
    wanted: Mapping[str, Wanted] | None = None,
    besides: Sequence[DocumentFailure] = (),
) -> StageReport:
    """Check the candidate rows, fail the documents that break a contract, and stage the rest.

    Args:
        besides: failures to record although the documents' rows are committed (a source that can't be used).
    """
    wanted = wanted or wanted_units(road, stage, documents, ledger, {})
    failures = list(computed.failures)
    tried = set(plan.todo) - {f.doc_key for f in failures}
    frames = _stamped(road, stage, computed.frames, wanted)
    checks = [
        *(check_schema(stage.contract(road, table), frames[table]) for table in stage.tables),
        *_unique_elsewhere(road, stage, generation, frames, set(plan.todo) | set(plan.removed)),
        *stage.checks(road, generation, frames, tried),
    ]
    broken = _failed_by_contract(checks)
    failures += [f for f in broken.values() if f.doc_key in tried]
    nameless = [v for check in checks for v in check.violations if not v.doc_key]
    bad = {f.doc_key for f in failures}
    failures += besides
    frames = {table: frame.filter(~pl.col("doc_key").is_in(list(bad))) for table, frame in frames.items()}
    done = tried - bad
    failed_now = bad | set(plan.failed)
    report = StageReport(
        table=stage.name,
        checks=tuple(checks),
        failures=tuple(failures),
        failed=len(failed_now),
        texts=computed.texts,
        tokens=computed.tokens,
    )
    refusal = _refusal(road, nameless, {f.doc_key for f in failures}, documents, ledger)
    if refusal:
        raise Refused(replace(report, refused=f"{road.corpus}/{stage.name}: {refusal}"))

    changed = done | set(plan.removed)
    counts = _count_rows(road, stage, generation, frames, plan, changed)
    for table in stage.tables:
        generation = _merge(road, generation, table, stage.contract(road, table), frames[table], changed)
    generation = _restore(road, generation, bad)
    generation = _record_units(road, stage, generation, frames, done, set(plan.removed), wanted)
    generation = _record_failures(road, stage, generation, ledger, documents, failures, done | mended)
    ledger = read_ledger(road, generation)
    generation = _with_facts(road, stage, generation, ledger)
    report = replace(
        report,
        **counts,
        rows=generation.rows(stage.tables[0]),
        seconds=time.monotonic() - started,
        data_version=generation.data_versions[stage.name],
    )
    done_so_far = {
        **report.counts(),
        "reasons": report.reasons,
        "texts": report.texts,
        "tokens": report.tokens,
    }
    road.lake.stage(noted(generation, stage.name, done_so_far))
    return report


def _mended(
    road: Road, stage: Stage, documents: Mapping[str, Mapping[str, Any]], ledger: Ledger, plan: StagePlan
) -> set[str]:
    """Documents whose recorded failure at this stage no longer holds: their rows are right again, or they are gone."""
    held = {key for key, failure in ledger.failures.items() if failure["stage"] == stage.name}
    return {key for key in held if key in plan.unchanged or key not in documents}


def _stamped(
    road: Road, stage: Stage, frames: Mapping[str, pl.DataFrame], wanted: Mapping[str, Wanted]
) -> dict[str, pl.DataFrame]:
    """The candidate rows with fingerprint and content hash, in the contract's column order."""
    stamped: dict[str, pl.DataFrame] = {}
    units = {key: Unit(key, want.spec, want.inputs or "", "", 0).fingerprint for key, want in wanted.items()}
    for table in stage.tables:
        rules = stage.contract(road, table)
        frame = frames.get(table, rules.empty().drop("fingerprint", "content_hash", strict=False))
        if "content_hash" in rules.polars and "content_hash" not in frame.columns:
            hashes = pl.Series("content_hash", content_hashes(rules, frame), dtype=pl.String)
            frame = frame.with_columns(hashes)
        if "fingerprint" in rules.polars and "fingerprint" not in frame.columns:
            marks = [units.get(key, "") for key in frame["doc_key"].to_list()]
            frame = frame.with_columns(pl.Series("fingerprint", marks, dtype=pl.String))
        stamped[table] = frame.select(rules.polars.names())
    return stamped


def _unique_elsewhere(
    road: Road, stage: Stage, generation: Generation, frames: Mapping[str, pl.DataFrame], replaced: Set[str]
) -> Iterable[CheckResult]:
    """Keys that do not name the document must not occur in rows that stay (CO-02)."""
    for table in stage.tables:
        rules = stage.contract(road, table)
        key = [name for name in rules.key if name != "doc_key"]
        if "doc_key" in rules.key or not key:
            continue
        kept = road.lake.read(
            generation, table, columns=["doc_key", *key], where=~pl.col("doc_key").is_in(list(replaced))
        )
        twice = frames[table].select("doc_key", *key).join(kept.select(key), on=key, how="semi")
        yield CheckResult(
            name=f"{table}_key_unique",
            rules=("CO-02",),
            description=f"No key of {table} occurs in another document's rows.",
            rows=frames[table].height,
            violations=tuple(
                Violation("CO-02", row["doc_key"], f"{[row[k] for k in key]} is another document's key too")
                for row in twice.iter_rows(named=True)
            ),
        )


def _failed_by_contract(checks: Sequence[CheckResult]) -> dict[str, DocumentFailure]:
    by_document: dict[str, list[Violation]] = {}
    for check in checks:
        for violation in check.violations:
            if violation.doc_key:
                by_document.setdefault(violation.doc_key, []).append(violation)
    return {
        key: DocumentFailure(
            key,
            "contract",
            f"breaks {', '.join(sorted({v.rule for v in broken}))}: {broken[0].message[:300]}; "
            "see the failure's cases, mend the document or the settings, and build again",
            cases=tuple(CheckResult("", (), "", 0, tuple(broken)).cases()),
        )
        for key, broken in by_document.items()
    }


def _refusal(
    road: Road,
    nameless: Sequence[Violation],
    bad: Set[str],
    documents: Mapping[str, Mapping[str, Any]],
    ledger: Ledger,
) -> str:
    if nameless:
        return f"breaks {nameless[0].rule}: {nameless[0].message}; nothing was committed"
    failed = len(bad | (ledger.failures.keys() & documents.keys()))
    allowed = road.declaration.limits.failed_documents
    if bad and len(documents) >= SHARE_COUNTED_FROM and failed > allowed * len(documents):
        return (
            f"{failed} of {len(documents)} documents failed, above limits.failed_documents ({allowed:g}); "
            "nothing was committed: mend the documents, exclude them, or raise the limit"
        )
    return ""


def _count_rows(
    road: Road,
    stage: Stage,
    generation: Generation,
    frames: Mapping[str, pl.DataFrame],
    plan: StagePlan,
    changed: Set[str],
) -> dict[str, Any]:
    """Rows by primary key: what came, went, was recomputed, stayed (VE-05)."""
    table = stage.tables[0]
    key = list(stage.contract(road, table).key)
    columns = list(dict.fromkeys(["doc_key", *key, "fingerprint"]))
    old = {
        tuple(row[k] for k in key): row["fingerprint"]
        for row in road.lake.read(generation, table, columns=columns, doc_keys=changed).iter_rows(named=True)
    }
    retry = set(plan.retry)
    new = stale = retried = same = 0
    reasons: dict[str, int] = {}
    kept: set[tuple[Any, ...]] = set()
    for row in frames[table].select(columns).iter_rows(named=True):
        mark = tuple(row[k] for k in key)
        kept.add(mark)
        if stage.row_grain and old.get(mark) == row["fingerprint"]:
            same += 1
            continue
        if row["doc_key"] in retry:
            retried += 1
        elif mark in old:
            stale += 1
        else:
            new += 1
        reason = plan.reasons.get(row["doc_key"], "")
        reasons[reason] = reasons.get(reason, 0) + 1
    removed = len(old.keys() - kept)
    untouched = generation.rows(table) - len(old)
    return {
        "new": new,
        "stale": stale,
        "retried": retried,
        "unchanged": untouched + same,
        "removed": removed,
        "reasons": dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
    }


def _merge(
    road: Road, generation: Generation, table: str, rules: Contract, rows: pl.DataFrame, changed: Set[str]
) -> Generation:
    """Replace the rows of the changed documents, in their shards alone."""
    shards = _by_shard(generation, changed)
    if not shards:
        return generation
    home = pl.Series(
        "shard", [shard_of(k, generation.shards) for k in rows["doc_key"].to_list()], dtype=pl.Int64
    )
    parts = rows.with_columns(home)
    written: dict[int, pl.DataFrame] = {}
    for shard, keys in shards.items():
        fresh = parts.filter(pl.col("shard") == shard).drop("shard")
        kept = road.lake.read_shard(generation, table, shard, rules.polars, without=keys)
        if fresh.is_empty() and kept.height == _rows_in(generation, table, shard):
            continue
        written[shard] = pl.concat([kept, fresh]).sort(list(rules.key))
    return road.lake.write_shards(generation, table, written)


def _by_shard(generation: Generation, keys: Iterable[str]) -> dict[int, list[str]]:
    shards: dict[int, list[str]] = {}
    for key in keys:
        shards.setdefault(shard_of(key, generation.shards), []).append(key)
    return shards


def _rows_in(generation: Generation, table: str, shard: int) -> int:
    file = generation.tables.get(table, {}).get(shard)
    return file.rows if file else 0


def _restore(road: Road, generation: Generation, failed: Set[str]) -> Generation:
    """Give failed documents back what they had in the current generation, in every stage after the source (FA-01).

    Text and chunks of a document stay of one piece; one that never was whole has no rows but that of its source.
    """
    if not failed:
        return generation
    current = road.lake.current()
    unlike: set[str] = set()
    for stage in road.after_source:
        for table in stage.tables:
            rules = stage.contract(road, table)
            rows = road.lake.read_as_stored(current, table, failed)
            if rows.schema != rules.polars:
                # Rows of other columns (vectors of another model) can't stand beside today's: they are made anew.
                rows = rules.empty()
                unlike.add(stage.name)
            generation = _merge(road, generation, table, rules, rows, failed)
    names = [stage.name for stage in road.after_source]
    alike = pl.col("stage").is_in([name for name in names if name not in unlike])
    units = road.lake.read(current, UNITS, doc_keys=failed, where=alike)
    return _merge_units(road, generation, units, names, failed)


def _record_units(
    road: Road,
    stage: Stage,
    generation: Generation,
    frames: Mapping[str, pl.DataFrame],
    done: Set[str],
    removed: Set[str],
    wanted: Mapping[str, Wanted],
) -> Generation:
    """The ledger's entries, written after the rows they speak of."""
    hashes: dict[str, list[str]] = {}
    counted = frames[stage.tables[0]]
    for key, value in counted.select("doc_key", "content_hash").iter_rows():
        hashes.setdefault(key, []).append(value)
    rows = [
        {
            "stage": stage.name,
            "doc_key": key,
            "spec": wanted[key].spec,
            "inputs": wanted[key].inputs or "",
            "content_hash": digest("unit", *sorted(hashes.get(key, []))),
            "rows": len(hashes.get(key, [])),
        }
        for key in sorted(done)
    ]
    units = pl.DataFrame(rows, schema=UNITS_SCHEMA)
    return _merge_units(road, generation, units, [stage.name], done | removed)


def _merge_units(
    road: Road, generation: Generation, units: pl.DataFrame, stages: Sequence[str], keys: Set[str]
) -> Generation:
    shards = _by_shard(generation, keys)
    written: dict[int, pl.DataFrame] = {}
    for shard, mine in shards.items():
        theirs = pl.col("doc_key").is_in(mine) & pl.col("stage").is_in(list(stages))
        kept = road.lake.read_shard(generation, UNITS, shard, UNITS_SCHEMA).filter(~theirs)
        fresh = units.filter(pl.col("doc_key").is_in(mine))
        written[shard] = pl.concat([kept, fresh]).sort("stage", "doc_key")
    return road.lake.write_shards(generation, UNITS, written)


def _record_failures(
    road: Road,
    stage: Stage,
    generation: Generation,
    ledger: Ledger,
    documents: Mapping[str, Mapping[str, Any]],
    failures: Sequence[DocumentFailure],
    healed: Set[str],
) -> Generation:
    """One failure a document: this stage's replaces an earlier one; what passed, or is gone, has none here."""
    rules = contract("failures")
    rows = {
        key: dict(row)
        for key, row in ledger.failures.items()
        if key in documents and not (row["stage"] == stage.name and key in healed)
    }
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for failure in failures:
        document = documents[failure.doc_key]
        before = rows.get(failure.doc_key)
        again = before is not None and before["stage"] == stage.name
        rows[failure.doc_key] = {
            "doc_key": failure.doc_key,
            "doc_id": document["doc_id"],
            "doc_name": document["doc_name"],
            "stage": stage.name,
            "fingerprint": "" if failure.transient else road.attempt(document, stage.name),
            "kind": failure.kind,
            "message": failure.message,
            "cases": json.dumps(failure.cases, ensure_ascii=False) if failure.cases else None,
            "attempts": before["attempts"] + 1 if before and again else 1,
            "first_seen": before["first_seen"] if before and again else now,
            "last_seen": now,
            "retryable": failure.retryable,
            "retry": False,
        }
    if rows == ledger.failures:
        return generation
    frame = pl.DataFrame(list(rows.values()), schema=rules.polars).sort("doc_key")
    # Failures are few: one file holds them all.
    return road.lake.write_shards(generation, "failures", {0: frame})


def _with_facts(road: Road, stage: Stage, generation: Generation, ledger: Ledger) -> Generation:
    """Data version of the stage, the specs that its units name, and what readers must know."""
    mine = ledger.units.get(stage.name, {})
    version = digest("table", *(part for key in sorted(mine) for part in (key, mine[key].content_hash)))
    used = {unit.spec for units in ledger.units.values() for unit in units.values()}
    specs = {**generation.specs, **road.known_specs()}
    return replace(
        generation,
        data_versions={**generation.data_versions, stage.name: version},
        specs={name: specs[name] for name in sorted(used) if name in specs},
        facts={**generation.facts, **stage.facts(road)},
    )


def _idle_report(
    road: Road, stage: Stage, generation: Generation, ledger: Ledger, plan: StagePlan, seconds: float
) -> StageReport:
    rows = generation.rows(stage.tables[0])
    failed = sum(1 for failure in ledger.failures.values() if failure["stage"] == stage.name)
    return StageReport(
        table=stage.name,
        unchanged=rows,
        failed=failed,
        rows=rows,
        seconds=seconds,
        data_version=generation.data_versions.get(stage.name, ""),
    )


def attempt_fingerprint(sha256: str, specs: Sequence[StageSpec]) -> str:
    """Fingerprint of an attempt on a document's bytes by a row of stages."""
    return attempt_of(sha256, *(canonical_json(spec.as_dict()) for spec in specs))
