"""The record of a run: what was done, with what, on which machine; enough to say why two runs differ (VE-08)."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.lake.manifest import Generation

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

ROLL_BACK = "roll_back"
"""Key in a run's plan where it was no build: from which generation to which, and why."""
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


def run_record(
    road: Road,
    generation: Generation,
    run_id: str,
    *,
    before: int,
    plan: Mapping[str, Any],
    stages: Mapping[str, Mapping[str, Any]] | None = None,
    started: datetime | None = None,
) -> pl.DataFrame:
    """One row of the table `runs`, of a run that is about to be committed.

    Args:
        road: the corpus.
        generation: what it commits.
        run_id: its name.
        before: number of the generation that is current until then.
        plan: what was planned: rows by reason, by stage; or `ROLL_BACK`.
        stages: what was done, by stage.
        started: when its first stage was staged; None: now.
    """
    now = datetime.now(UTC)
    started = started or now
    done = stages or {}
    row = {
        "run_id": run_id,
        "corpus": road.corpus,
        "started": started.isoformat(timespec="seconds"),
        "finished": now.isoformat(timespec="seconds"),
        "seconds": (now - started).total_seconds(),
        "generation_before": before,
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
        "plan": json.dumps(plan, ensure_ascii=False),
        "counts": json.dumps(done, ensure_ascii=False),
        "embedded_texts": sum(int(stage.get("texts", 0)) for stage in done.values()),
        "embedded_tokens": sum(int(stage.get("tokens", 0)) for stage in done.values()),
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
