"""The way back: an earlier generation's tables become current again, in one swap of the manifest (VE-07, LA-01).

They become the content of a new generation: numbers only grow, what was current is kept, and the record of runs goes
on. What an unfinished build had staged is dropped; the vectors that it made stay in the memo.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from linkrag_dagster.declaration import DeclarationError
from linkrag_dagster.lake import catalogue
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation, LakeError
from linkrag_dagster.sources.errors import SourceError
from linkrag_dagster.stages.documents import EmptySource
from linkrag_dagster.stages.plan import plan_road
from linkrag_dagster.stages.runs import ROLL_BACK, run_record

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road


class NoSuchGeneration(Exception):
    """The corpus does not keep that generation; the message names those that it does."""


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A roll-back.

    Attributes:
        before: the generation that was current.
        to: the earlier one whose tables are current again.
        now: the new current generation.
        dropped: whether an unfinished build was dropped; the vectors that it made are kept in the memo.
    """

    before: Generation
    to: Generation
    now: Generation
    dropped: bool


def roll_back(road: Road, run_id: str, number: int | None = None, reason: str = "") -> RolledBack:
    """Make an earlier generation's tables current again, in one swap, and let the catalogue show them.

    Args:
        road: the corpus.
        run_id: names the roll-back in the record of runs.
        number: the generation; None: the one before the current, or before the one that was rolled back to.
        reason: for the record.

    Raises:
        NoSuchGeneration: it is not kept, or it is the current one.
        LakeError: one of its files is missing or damaged; nothing was changed.
        LockHeld: the corpus is being built.
    """
    with road.lake.writer(wait=road.wait):
        committed = road.lake.committed()
        before = road.lake.current()
        to = _earlier(road, committed, number)
        _check_files(road.lake, to)
        dropped = road.lake.staged() is not None
        runs = before.tables.get("runs", {})
        now = replace(
            to, number=before.number + 1, run_id="", committed="", tables={**to.tables, "runs": runs}
        )
        plan = {ROLL_BACK: {"from": before.number, "to": to.number, "reason": reason}}
        record = run_record(road, now, run_id, before=before.number, plan=plan)
        now = road.lake.publish(road.lake.write_shards(now, "runs", {now.number: record}), run_id)
        catalogue.rebuild(road.lake_root)
    return RolledBack(before, to, now, dropped)


def _earlier(road: Road, committed: list[Generation], number: int | None) -> Generation:
    """The generation that is meant."""
    *earlier, current = committed or [Generation()]
    kept = {generation.number: generation for generation in earlier}
    names = f"kept beside the current one: {', '.join(str(n) for n in kept) or 'none'}"
    if number is None:
        below = rolled_back_to(road.lake, current) or current.number
        number = max((n for n in kept if n < below), default=None)
        if number is None:
            further = f"; name one: linkrag rollback {road.corpus} GENERATION" if kept else ""
            raise NoSuchGeneration(
                f"{road.corpus}: no generation before {below} is kept; {names}{further}"
                if current.number
                else f"{road.corpus}: nothing has been built yet: linkrag build {road.corpus}"
            )
    if number in kept:
        return kept[number]
    if number == current.number:
        raise NoSuchGeneration(f"{road.corpus}: generation {number} is the current one")
    raise NoSuchGeneration(f"{road.corpus}: generation {number} is not kept; {names}")


def rolled_back_to(lake: CorpusLake, generation: Generation) -> int | None:
    """The number of the generation that a roll-back made this one of; None where a build made it."""
    runs = lake.read(generation, "runs", columns=["generation_after", "plan"])
    for after, plan in runs.iter_rows():
        found: dict[str, Any] = json.loads(plan).get(ROLL_BACK, {})
        if after == generation.number and found:
            return int(found["to"])
    return None


def _check_files(lake: CorpusLake, generation: Generation) -> None:
    for table, shards in generation.tables.items():
        for file in shards.values():
            path = lake.folder / file.path
            try:
                rows = pq.read_metadata(path).num_rows  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            except (OSError, ValueError) as error:
                raise LakeError(
                    f"{path}: of generation {generation.number}, table {table}, is missing or damaged ({error}); "
                    "nothing was changed: take another generation"
                ) from error
            if rows != file.rows:
                raise LakeError(
                    f"{path}: of generation {generation.number} has {rows} rows, {file.rows} were written; "
                    "nothing was changed: take another generation"
                )


def next_build(road: Road) -> tuple[dict[str, dict[str, int]], str]:
    """What a build would do now, or why that can't be told: the declaration may ask for what was rolled back.

    Returns:
        Rows by reason, by stage; and the problem, "" where there is none.
    """
    try:
        plan = plan_road(road, road.stages)
    except (DeclarationError, EmptySource, SourceError) as error:
        return {}, str(error)
    return {table: dict(stage.reasons) for table, stage in plan.stages.items() if stage.reasons}, ""
