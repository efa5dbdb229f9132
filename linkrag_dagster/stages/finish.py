"""The end of a build: the commit, its record, and the catalogue (LA-01, LA-02, VE-08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from linkrag_dagster.lake import catalogue
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.activation import NothingToActivate, waiting, waits_for_activation
from linkrag_dagster.stages.runs import run_record

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

PENDING = "pending_run"
"""The fact under which a staged generation keeps what its stages have done so far: it outlives a crash."""


def finish(road: Road, run_id: str, *, activate: bool = False) -> Generation | None:
    """Commit the staged generation if its road is whole, and let the catalogue show what there is.

    Args:
        road: the corpus.
        run_id: names the run in its record.
        activate: commit another model's generation too, where it was declared to wait (VE-07).

    Returns:
        The generation that was committed, or None where nothing was to commit.
    """
    with road.lake.writer(wait=road.wait):
        staged = road.lake.staged()
        committed: Generation | None = None
        held = staged is not None and not activate and waits_for_activation(road, staged)
        if staged is not None and not held and road.is_whole(staged):
            run = _run_row(road, staged, run_id)
            facts = {name: value for name, value in staged.facts.items() if name != PENDING}
            staged = road.lake.write_shards(replace(staged, facts=facts), "runs", {staged.number: run})
            committed = road.lake.publish(staged, run_id)
        if road.lake.shown().tables and not catalogue.is_current(road.lake):
            catalogue.rebuild(road.lake_root)
    return committed


def activate(road: Road, run_id: str) -> Generation:
    """Let the whole generation answer that waits for it.

    Raises:
        NothingToActivate: none waits.
        LockHeld: the corpus is being built.
    """
    with road.lake.writer(wait=road.wait):
        found = finish(road, run_id, activate=True) if waiting(road) is not None else None
        if found is None:
            unfinished = "; an unfinished build is staged: linkrag build" if road.lake.staged() else ""
            raise NothingToActivate(
                f"{road.corpus}: no whole generation waits for its activation{unfinished}"
            )
    return found


def noted(generation: Generation, stage: str, counts: Mapping[str, Any]) -> Generation:
    """The generation with a stage's counts kept for the run's record; counts of resumed stages add up."""
    pending = _pending(generation)
    pending.setdefault("started", datetime.now(UTC).isoformat(timespec="milliseconds"))
    pending["stages"] = {**pending.get("stages", {}), stage: dict(counts)}
    return replace(generation, facts={**generation.facts, PENDING: pending})


def _pending(generation: Generation) -> dict[str, Any]:
    found = generation.facts.get(PENDING)
    return dict(cast("Mapping[str, Any]", found)) if isinstance(found, Mapping) else {}


def _run_row(road: Road, generation: Generation, run_id: str) -> pl.DataFrame:
    pending = _pending(generation)
    started = pending.get("started")
    stages: dict[str, dict[str, Any]] = pending.get("stages", {})
    return run_record(
        road,
        generation,
        run_id,
        before=generation.number - 1,
        plan={name: done.get("reasons", {}) for name, done in stages.items()},
        stages=stages,
        started=datetime.fromisoformat(started) if started else None,
    )
