"""A stage whose rows are about the whole corpus: one unit, all of its rows made together (SX-02)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, check_schema
from linkrag_dagster.contracts.rows import content_hashes
from linkrag_dagster.lake.lake import UNITS_SCHEMA
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.commit import idle_report, merge_units, stage_result
from linkrag_dagster.stages.ledger import WHOLE, plan_documents, read_ledger, wanted_whole
from linkrag_dagster.stages.stage import Progress, Refused, Stage, StageReport
from linkrag_dagster.versions.spec import digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

ONLY_SHARD = 0


def materialise_whole(road: Road, stage: Stage, progress: Progress) -> StageReport:
    """Bring a stage over the whole corpus up to date with its staged inputs, and stage the result.

    Raises:
        Refused: when a contract refuses the commit; nothing is staged.
        LockHeld: when another process builds this corpus.
        LakeError: when the lake can't be read.
    """
    started = time.monotonic()
    with road.lake.writer(wait=road.wait):
        generation = road.lake.next_generation()
        ledger = read_ledger(road, generation)
        documents = road.documents(generation)
        plan = plan_documents(road, stage, documents, ledger, {})
        if plan.idle:
            return idle_report(road, stage, generation, ledger, plan, time.monotonic() - started)
        report = StageReport(table=stage.name)
        frames = {table: stage.contract(road, table).empty() for table in stage.tables}
        if plan.todo:
            computed = stage.compute(road, generation, plan.todo, progress)
            frames = {
                table: computed.frames[table].select(stage.contract(road, table).polars.names())
                for table in stage.tables
            }
            report = replace(report, texts=computed.texts, tokens=computed.tokens)
        checks = _checks(road, stage, generation, frames)
        report = replace(report, checks=tuple(checks))
        broken = next((check.violations[0] for check in checks if check.violations), None)
        if broken is not None:
            words = f"breaks {broken.rule}: {broken.message}; nothing was committed"
            raise Refused(replace(report, refused=f"{road.corpus}/{stage.name}: {words}"))
        counts = _counted(road, stage, generation, frames, next(iter(plan.reasons.values()), ""))
        for table, frame in frames.items():
            ordered = frame.sort(list(stage.contract(road, table).key))
            generation = road.lake.write_shards(generation, table, {ONLY_SHARD: ordered})
        wanted = wanted_whole(road, stage, documents, ledger, unsettled=False)
        units = [
            {
                "stage": stage.name,
                "doc_key": WHOLE,
                "spec": want.spec,
                "inputs": want.inputs or "",
                "content_hash": _content(road, stage, frames),
                "rows": frames[stage.tables[0]].height,
            }
            for want in wanted.values()
        ]
        frame = pl.DataFrame(units, schema=UNITS_SCHEMA)
        generation = merge_units(road, generation, frame, [stage.name], {WHOLE})
        return stage_result(road, stage, generation, replace(report, **counts), started)


def _checks(
    road: Road, stage: Stage, generation: Generation, frames: Mapping[str, pl.DataFrame]
) -> list[CheckResult]:
    return [
        *(check_schema(stage.contract(road, table), frame) for table, frame in frames.items()),
        *stage.checks(road, generation, frames, frozenset({WHOLE})),
    ]


def _counted(
    road: Road, stage: Stage, generation: Generation, frames: Mapping[str, pl.DataFrame], reason: str
) -> dict[str, object]:
    table = stage.tables[0]
    key = list(stage.contract(road, table).key)
    old = set(road.lake.read(generation, table, columns=key).iter_rows())
    now = set(frames[table].select(key).iter_rows())
    return {
        "new": len(now - old),
        "stale": len(now & old),
        "removed": len(old - now),
        "reasons": {reason: len(now | old)} if now | old else {},
    }


def _content(road: Road, stage: Stage, frames: Mapping[str, pl.DataFrame]) -> str:
    hashes = [
        mark for table in stage.tables for mark in content_hashes(stage.contract(road, table), frames[table])
    ]
    return digest("unit", *sorted(hashes))
