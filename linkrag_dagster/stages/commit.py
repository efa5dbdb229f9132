"""What every stage does, once: plan → compute → check → stage the result (CO-02, CO-03, LA-01)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation, check_schema
from linkrag_dagster.contracts.columns import Contract
from linkrag_dagster.contracts.rows import content_hashes
from linkrag_dagster.lake.lake import UNITS, UNITS_SCHEMA, shard_of
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.failures import (
    failed_by_contract,
    mended_documents,
    only_warned,
    record_failures,
    refusal,
)
from linkrag_dagster.stages.finish import noted
from linkrag_dagster.stages.ledger import Ledger, plan_documents, read_ledger, wanted_units
from linkrag_dagster.stages.stage import (
    READS_BYTES,
    Computed,
    DocumentFailure,
    Progress,
    Refused,
    Stage,
    StageReport,
)
from linkrag_dagster.versions.planner import GONE, StagePlan, Unit, Wanted
from linkrag_dagster.versions.spec import digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road


def promises(road: Road, stage: Stage) -> list[CheckResult]:
    """Every check of a stage, over no rows: what it promises, whether or not it has anything to do today."""
    empty = {table: stage.contract(road, table).empty() for table in stage.tables}
    return [
        *(check_schema(stage.contract(road, table), frame) for table, frame in empty.items()),
        *_unique_elsewhere(road, stage, Generation(), empty, frozenset()),
        *stage.checks(road, Generation(), empty, frozenset()),
    ]


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
        mended = mended_documents(road, stage, documents, ledger, plan)
        if plan.idle and not mended:
            return idle_report(road, stage, generation, ledger, plan, time.monotonic() - started)
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
    wanted = wanted or wanted_units(road, stage, {key: documents[key] for key in plan.todo}, ledger, {})
    if stage.name == READS_BYTES:
        # Which spec applies is known now: what was planned with may be the other one.
        wanted = {
            key: replace(
                one, spec=road.spec(stage, documents[key], narrow=key in computed.narrow).fingerprint
            )
            for key, one in wanted.items()
        }
    failures = list(computed.failures)
    tried = set(plan.todo) - {f.doc_key for f in failures}
    frames = _stamped(road, stage, computed.frames, wanted)
    checks = [
        *(check_schema(stage.contract(road, table), frames[table]) for table in stage.tables),
        *_unique_elsewhere(road, stage, generation, frames, set(plan.todo) | set(plan.removed)),
        *stage.checks(road, generation, frames, tried),
    ]
    warned = only_warned(road)
    broken = failed_by_contract(checks, warned)
    failures += [f for f in broken.values() if f.doc_key in tried]
    nameless = [v for check in checks for v in check.violations if not v.doc_key and v.rule not in warned]
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
    refused = refusal(road, nameless, {f.doc_key for f in failures}, documents, ledger)
    if refused:
        raise Refused(replace(report, refused=f"{road.corpus}/{stage.name}: {refused}"))

    changed = done | set(plan.removed)
    counts = _count_rows(road, stage, generation, frames, plan, changed)
    for table in stage.tables:
        generation = _merge(road, generation, table, stage.contract(road, table), frames[table], changed)
    generation = _restore(road, generation, bad)
    generation = _record_units(road, stage, generation, frames, done, set(plan.removed), wanted)
    generation = record_failures(road, stage, generation, ledger, documents, failures, done | mended)
    return stage_result(road, stage, generation, replace(report, **counts), started)


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
        if "doc_key" in rules.key or "doc_key" not in rules.polars or not key:
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
    stored = road.lake.read(generation, table, columns=columns, doc_keys=changed)
    old = {tuple(row[k] for k in key): row["fingerprint"] for row in stored.iter_rows(named=True)}
    retry = set(plan.retry)
    new = stale = retried = same = 0
    gone = stored.filter(pl.col("doc_key").is_in(plan.removed)).height
    reasons: dict[str, int] = {GONE: gone} if gone else {}
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
    for stage in road.document_stages:
        for table in stage.tables:
            rules = stage.contract(road, table)
            rows = road.lake.read_as_stored(current, table, failed)
            if rows.is_empty():
                rows = rules.empty()
            elif rows.schema != rules.polars:
                # Rows of other columns (vectors of another model) can't stand beside today's: they are made anew.
                rows = rules.empty()
                unlike.add(stage.name)
            generation = _merge(road, generation, table, rules, rows, failed)
    names = [stage.name for stage in road.document_stages]
    alike = pl.col("stage").is_in([name for name in names if name not in unlike])
    units = road.lake.read(current, UNITS, doc_keys=failed, where=alike)
    return merge_units(road, generation, units, names, failed)


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
    return merge_units(road, generation, units, [stage.name], done | removed)


def merge_units(
    road: Road, generation: Generation, units: pl.DataFrame, stages: Sequence[str], keys: Set[str]
) -> Generation:
    """Replace the ledger's entries of some documents at some stages."""
    shards = _by_shard(generation, keys)
    written: dict[int, pl.DataFrame] = {}
    for shard, mine in shards.items():
        theirs = pl.col("doc_key").is_in(mine) & pl.col("stage").is_in(list(stages))
        kept = road.lake.read_shard(generation, UNITS, shard, UNITS_SCHEMA).filter(~theirs)
        fresh = units.filter(pl.col("doc_key").is_in(mine))
        written[shard] = pl.concat([kept, fresh]).sort("stage", "doc_key")
    return road.lake.write_shards(generation, UNITS, written)


def stage_result(
    road: Road, stage: Stage, generation: Generation, report: StageReport, started: float
) -> StageReport:
    """Stage a generation whose rows and units are written, with what its readers and its run's record must know."""
    generation = _with_facts(road, stage, generation, read_ledger(road, generation))
    report = replace(
        report,
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


def idle_report(
    road: Road, stage: Stage, generation: Generation, ledger: Ledger, plan: StagePlan, seconds: float
) -> StageReport:
    """The report of a stage that had nothing to do."""
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
