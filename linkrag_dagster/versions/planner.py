"""The one planner: what is new, stale, failed, unchanged or removed, before any work (VE-05).

Units are documents: a stage computes a document's rows together. For each unit of a stage:

| wanted now | stored | failure on record | decision |
| --- | --- | --- | --- |
| yes | any | of this very attempt | failed: its last good rows stay |
| yes | same fingerprint | - | unchanged |
| yes | no, or another | marked for retry | retry |
| yes | no | none, or of another attempt | new |
| yes | another fingerprint | none, or of another attempt | stale, with the reason |
| no | yes | - | removed |

The planner is pure: it sees fingerprints and hashes, never rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from linkrag_dagster.versions.spec import differences, digest, fingerprint


@dataclass(frozen=True, slots=True)
class Unit:
    """What the lake knows of one document at one stage: the entry that is written last (FA-04).

    Attributes:
        doc_key: the document.
        spec: fingerprint of the spec that made its rows.
        inputs: hash of the content they were made from.
        content_hash: hash of the content of its rows: what the next stage sees (VE-03).
        rows: how many rows it has in the stage's counted table.
    """

    doc_key: str
    spec: str
    inputs: str
    content_hash: str
    rows: int

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the unit, and of its rows where the document is the grain."""
        return fingerprint(self.spec, self.inputs)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a unit should be made with, now.

    Attributes:
        doc_key: the document.
        spec: fingerprint of the spec that applies to it.
        inputs: hash of its inputs' content; None where an input is itself to be computed first.
    """

    doc_key: str
    spec: str
    inputs: str | None


@dataclass(frozen=True, slots=True)
class StagePlan:
    """Decisions for one stage: unit keys by decision, and the reason for each that is not unchanged."""

    new: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    retry: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def todo(self) -> tuple[str, ...]:
        """Units to compute, in order of key."""
        return tuple(sorted((*self.new, *self.stale, *self.retry)))

    @property
    def idle(self) -> bool:
        """Whether there is nothing to compute and nothing to remove."""
        return not (self.new or self.stale or self.retry or self.removed)


NEW = "new document"
INPUT = "its input changed"
EDITED = "its file changed"
UPSTREAM = "its input is to be rebuilt"
RETRY = "marked for retry"
GONE = "its document is gone"


def attempt_of(inputs: str, *specs: str) -> str:
    """Fingerprint of an attempt: a failed attempt is repeated only when this changes (FA-01).

    Args:
        inputs: hash of the document's bytes.
        specs: fingerprints of the specs from extraction to the stage that failed, in order.
    """
    return digest("attempt", inputs, *specs)


def plan_stage(
    wanted: Mapping[str, Wanted],
    stored: Mapping[str, Unit],
    specs: Mapping[str, Mapping[str, object]],
    *,
    failed: Set[str] = frozenset(),
    retry: Set[str] = frozenset(),
) -> StagePlan:
    """Decide every unit of a stage, by the table in the module's docstring.

    Args:
        wanted: units that should exist, by document key.
        stored: units that the lake holds.
        specs: known specs as plain data, by fingerprint, for the reasons.
        failed: documents whose very attempt has failed at this stage or a later one.
        retry: documents whose failure is to be tried again.
    """
    decided: dict[str, list[str]] = {"new": [], "stale": [], "retry": [], "failed": [], "unchanged": []}
    reasons: dict[str, str] = {}
    for key in sorted(wanted):
        want, unit = wanted[key], stored.get(key)
        if key in failed:
            decided["failed"].append(key)
        elif unit is not None and want.spec == unit.spec and want.inputs == unit.inputs:
            decided["unchanged"].append(key)
        elif key in retry:
            decided["retry"].append(key)
            reasons[key] = RETRY
        elif unit is None:
            decided["new"].append(key)
            reasons[key] = NEW
        else:
            decided["stale"].append(key)
            reasons[key] = _reason(want, unit, specs)
    removed = tuple(sorted(stored.keys() - wanted.keys()))
    reasons.update(dict.fromkeys(removed, GONE))
    return StagePlan(
        removed=removed, reasons=reasons, **{name: tuple(keys) for name, keys in decided.items()}
    )


def _reason(want: Wanted, unit: Unit, specs: Mapping[str, Mapping[str, object]]) -> str:
    if want.spec != unit.spec:
        changes = differences(specs.get(unit.spec, {}), specs.get(want.spec, {}))
        return ", ".join(changes) if changes else "another spec"
    return UPSTREAM if want.inputs is None else INPUT
