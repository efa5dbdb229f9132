"""The end of a build: the commit, its record, and the catalogue (LA-01, LA-02, VE-08)."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.lake import catalogue
from linkrag_dagster.lake.manifest import Generation

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

PENDING = "pending_run"
"""The fact under which a staged generation keeps what its stages have done so far: it outlives a crash."""
LIBRARIES = (
    "dagster",
    "duckdb",
    "markdown-it-py",
    "numpy",
    "pandera",
    "polars",
    "pyarrow",
    "pymupdf",
    "quicktok-v1",
    "sentence-transformers",
    "sentencex",
    "tokenizers",
    "torch",
)


def finish(road: Road, run_id: str) -> Generation | None:
    """Commit the staged generation if its road is whole, and let the catalogue show what there is.

    Returns:
        The generation that was committed, or None where nothing was to commit.
    """
    with road.lake.writer(wait=road.wait):
        staged = road.lake.staged()
        committed: Generation | None = None
        if staged is not None and road.is_whole(staged):
            run = _run_row(road, staged, run_id)
            facts = {name: value for name, value in staged.facts.items() if name != PENDING}
            staged = road.lake.write_shards(replace(staged, facts=facts), "runs", {staged.number: run})
            committed = road.lake.publish(staged, run_id)
        if road.lake.shown().tables and not catalogue.is_current(road.lake):
            catalogue.rebuild(road.lake_root)
    return committed


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
    now = datetime.now(UTC)
    started = datetime.fromisoformat(pending.get("started", now.isoformat()))
    stages: dict[str, dict[str, Any]] = pending.get("stages", {})
    row = {
        "run_id": run_id,
        "corpus": road.corpus,
        "started": started.isoformat(timespec="seconds"),
        "finished": now.isoformat(timespec="seconds"),
        "seconds": (now - started).total_seconds(),
        "generation_before": generation.number - 1,
        "generation_after": generation.number,
        "git_revision": _git_revision(road.loaded.root),
        "package_version": version("linkrag-dagster"),
        "libraries": json.dumps(_libraries(), sort_keys=True),
        "hardware": json.dumps(
            {
                "machine": platform.machine(),
                "system": platform.platform(),
                "cores": os.cpu_count(),
                "device": "cpu",
            }
        ),
        "specs": json.dumps(list(generation.specs.values()), sort_keys=True, ensure_ascii=False),
        "plan": json.dumps({n: s.get("reasons", {}) for n, s in stages.items()}, ensure_ascii=False),
        "counts": json.dumps(stages, ensure_ascii=False),
        "embedded_texts": sum(int(s.get("texts", 0)) for s in stages.values()),
        "embedded_tokens": sum(int(s.get("tokens", 0)) for s in stages.values()),
    }
    return pl.DataFrame([row], schema=contract("runs").polars)


def _libraries() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _git_revision(root: Path) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
