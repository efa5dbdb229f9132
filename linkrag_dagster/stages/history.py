"""A corpus's runs, and why two of them differ (VE-08)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkrag_dagster.lake.document_changes import DocumentChanges, document_changes
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.lake.row_changes import TableChange, row_changes
from linkrag_dagster.stages.runs import ROLL_BACK
from linkrag_dagster.versions.comparison import spec_changes, version_changes
from linkrag_dagster.versions.planner import INPUT, UPSTREAM

COUNTS = ("new", "stale", "retried", "removed", "failed")
FOLLOWS = frozenset({INPUT, UPSTREAM})
"""Reasons that name no cause of their own."""


class NoSuchRun(Exception):
    """No run of that name or generation is on record; the message names those that are."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that committed a generation.

    Attributes:
        run_id: its name.
        generation: what it committed.
        before: the generation that was current before.
        kept: whether the files of its generation are still there.
        started, finished: UTC, ISO 8601.
        seconds: from the first stage's staging to the commit.
        stages: what was done: counts of rows by stage.
        reasons: why, rows by reason, by stage.
        rolled_back_to: the generation whose tables it made current again; None for a build.
        note: the reason that was given for a roll-back.
        texts, tokens: given to the model.
        package, git_revision: versions of this package and of the project.
        libraries, hardware: as recorded.
        specs: of all stages, as plain data.
    """

    run_id: str
    generation: int
    before: int
    kept: bool
    started: str
    finished: str
    seconds: float
    stages: Mapping[str, Mapping[str, Any]]
    reasons: Mapping[str, Mapping[str, int]]
    rolled_back_to: int | None
    note: str
    texts: int
    tokens: int
    package: str
    git_revision: str | None
    libraries: Mapping[str, str]
    hardware: Mapping[str, Any]
    specs: Sequence[Mapping[str, Any]]

    def rows(self, name: str) -> int:
        """Rows over all stages of one of `COUNTS`."""
        return sum(int(stage.get(name, 0)) for stage in self.stages.values())

    @property
    def why(self) -> list[str]:
        """The reasons over all stages, those of most rows first."""
        if self.rolled_back_to is not None:
            return [
                f"rolled back to generation {self.rolled_back_to}" + (f": {self.note}" if self.note else "")
            ]
        found: dict[str, int] = {}
        for reasons in self.reasons.values():
            for reason, rows in reasons.items():
                if reason:
                    found[reason] = max(found.get(reason, 0), rows)
        named = found.keys() - FOLLOWS
        # What merely follows from something else is told where nothing else is known.
        return sorted(named or found, key=lambda reason: (-found[reason], reason))

    def as_dict(self) -> dict[str, Any]:
        """As `linkrag history --json` prints it."""
        left_out = ("specs",)
        return {**{n: getattr(self, n) for n in self.__slots__ if n not in left_out}, "why": self.why}


def run_records(lake: CorpusLake) -> list[RunRecord]:
    """The runs on record, oldest first; none before the first commit.

    Raises:
        LakeError: the record can't be read.
    """
    kept = {generation.number for generation in lake.committed()}
    rows = lake.read(lake.current(), "runs").sort("generation_after")
    return [_record(row, kept) for row in rows.iter_rows(named=True)]


def _record(row: Mapping[str, Any], kept: set[int]) -> RunRecord:
    plan: dict[str, Any] = json.loads(row["plan"])
    back: dict[str, Any] | None = plan.pop(ROLL_BACK, None)
    return RunRecord(
        run_id=row["run_id"],
        generation=row["generation_after"],
        before=row["generation_before"],
        kept=row["generation_after"] in kept,
        started=row["started"],
        finished=row["finished"],
        seconds=row["seconds"],
        stages=json.loads(row["counts"]),
        reasons=plan,
        rolled_back_to=int(back["to"]) if back else None,
        note=str(back["reason"]) if back else "",
        texts=row["embedded_texts"],
        tokens=row["embedded_tokens"],
        package=row["package_version"],
        git_revision=row["git_revision"],
        libraries=json.loads(row["libraries"]),
        hardware=json.loads(row["hardware"]),
        specs=json.loads(row["specs"]),
    )


def find_run(records: Sequence[RunRecord], name: str) -> RunRecord:
    """The run that a person means: a generation's number, or the beginning of a run's name.

    Raises:
        NoSuchRun: none, or several.
    """
    # A number is a generation: that a run's name may begin with digits must not make it ambiguous.
    found = [r for r in records if name.isdecimal() and r.generation == int(name)]
    found = found or [r for r in records if r.run_id == name]
    found = found or [r for r in records if name and r.run_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise NoSuchRun(
            f"{name!r} is the beginning of several runs: {', '.join(r.run_id for r in found)}; write more of it"
        )
    known = ", ".join(f"{r.generation} ({r.run_id[:8]})" for r in records[-10:]) or "none"
    raise NoSuchRun(f"no run {name!r} on record; the last generations (and runs): {known}")


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Why two runs differ.

    Attributes:
        settings: changed settings, revisions and components, by stage.
        libraries: changed libraries.
        environment: what else the runs' records say differently: package, revision of the project, machine.
        documents: changed documents by name; None where the files of one generation are no longer kept.
        rows: changed rows by table; None likewise.
        gone: the generations that are no longer kept.
    """

    settings: Mapping[str, Sequence[str]]
    libraries: Sequence[str]
    environment: Sequence[str]
    documents: DocumentChanges | None
    rows: Mapping[str, TableChange] | None
    gone: tuple[int, ...] = field(default=())

    @property
    def equal(self) -> bool:
        """Whether the records and the rows that could be compared are the same."""
        return not (self.settings or self.libraries or self.environment or self.rows or self.gone)


def difference(lake: CorpusLake, one: RunRecord, other: RunRecord, *, shown: int) -> RunDifference:
    """Compare two runs, from `one` to `other`.

    Args:
        lake: the corpus.
        one, other: runs on record.
        shown: keys listed of each table and kind of change.

    Raises:
        LakeError: a file of a kept generation is missing or damaged.
    """
    kept: dict[int, Generation] = {generation.number: generation for generation in lake.committed()}
    gone = tuple(sorted({run.generation for run in (one, other)} - kept.keys()))
    return RunDifference(
        settings=spec_changes(one.specs, other.specs),
        libraries=version_changes(one.libraries, other.libraries),
        environment=version_changes(_environment(one), _environment(other)),
        documents=None if gone else document_changes(lake, kept[one.generation], kept[other.generation]),
        rows=None if gone else row_changes(lake, kept[one.generation], kept[other.generation], shown=shown),
        gone=gone,
    )


def _environment(run: RunRecord) -> dict[str, object]:
    return {"linkrag-dagster": run.package, "git_revision": run.git_revision, **run.hardware}
