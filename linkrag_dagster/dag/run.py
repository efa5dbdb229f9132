"""One build as one Dagster run in this process, against a persistent instance (PI-04)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from sqlalchemy.exc import SQLAlchemyError

from linkrag_dagster.dag.assets import corpus_definitions
from linkrag_dagster.dag.sqlite import kept_open
from linkrag_dagster.disk.whole import write_whole
from linkrag_dagster.lake.manifest import LakeError
from linkrag_dagster.stages.road import Road

HOME_VARIABLE = "DAGSTER_HOME"
HOME_FOLDER = ".dagster"
CORPUS_TAG = "linkrag/corpus"
INSTANCE = """# Written by linkrag for its own Dagster instance; yours to change.
telemetry:
  enabled: false
concurrency:
  pools:
    default_limit: 1
    granularity: op
"""
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def home(root: Path) -> Path:
    """The folder of the Dagster instance: `DAGSTER_HOME`, else `.dagster` in the project."""
    declared = os.environ.get(HOME_VARIABLE)
    return Path(declared) if declared else root / HOME_FOLDER


@contextmanager
def instance(root: Path) -> Generator[dg.DagsterInstance]:
    """The project's instance, made at its first use, with telemetry off."""
    folder = home(root)
    if not (folder / "dagster.yaml").exists():
        # Whole or absent: an instance with half of its settings would send telemetry.
        write_whole(folder / "dagster.yaml", "instance", _write_settings)
    try:
        with kept_open(folder), dg.DagsterInstance.from_config(str(folder)) as found:
            yield found
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise LakeError(
            f"{folder}: Dagster's record of runs can't be written or read ({error.__class__.__name__}: "
            f"{str(error).splitlines()[0]}); free space or make it writable, or name another DAGSTER_HOME"
        ) from error


def _write_settings(beside: Path) -> None:
    beside.write_text(INSTANCE, encoding="utf-8")


def _end_dead_runs(found: dg.DagsterInstance, corpus: str) -> None:
    """Mark runs of a killed build as failed: whoever holds the corpus's lock knows that none of them is alive."""
    unfinished = dg.RunsFilter(tags={CORPUS_TAG: corpus}, statuses=[dg.DagsterRunStatus.STARTED])
    for dead in found.get_runs(unfinished):
        found.report_run_failed(dead, "the process of this build ended without a word: it was killed")


def run(road: Road, stages: Sequence[str], source_digest: str) -> bool:
    """Materialise the stages of a corpus in one run; its reports are in `road.reports`.

    Args:
        road: the corpus.
        stages: names, in any order.
        source_digest: data version of the source, reported first, so that UI and daemon agree on what is fresh.

    Returns:
        Whether every stage was committed or had nothing to do.
    """
    # No pool: its slots outlive a killed process, and without a daemon nobody would ever free them.
    definitions = dg.Definitions.merge(
        corpus_definitions(road, pool=None), dg.Definitions(executor=dg.in_process_executor)
    )
    keys = [dg.AssetKey([road.corpus, name]) for name in stages]
    with instance(road.loaded.root) as found:
        _end_dead_runs(found, road.corpus)
        found.report_runless_asset_event(
            dg.AssetMaterialization([road.corpus, "source"], tags={"dagster/data_version": source_digest})
        )
        job = definitions.resolve_implicit_global_asset_job_def()
        result = job.execute_in_process(
            instance=found,
            asset_selection=keys,
            raise_on_error=False,
            run_config=QUIET,
            tags={CORPUS_TAG: road.corpus},
        )
        if any(_was_interrupted(event) for event in result.all_events):
            # Dagster takes Ctrl-C for a failed run; whoever pressed it is told otherwise.
            raise KeyboardInterrupt
    return result.success


def _was_interrupted(event: dg.DagsterEvent) -> bool:
    error = event.job_failure_data.error if event.is_job_failure else None
    return error is not None and error.cls_name in ("DagsterExecutionInterruptedError", "KeyboardInterrupt")
