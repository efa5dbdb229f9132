"""What the lake says of a corpus as the planner sees it, and the plan of a stage made from that (VE-05, FA-01)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from linkrag_dagster.lake.lake import UNITS, UNITS_SCHEMA
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.stage import FIRST, Stage
from linkrag_dagster.versions.planner import StagePlan, Unit, Wanted, attempt_of, plan_stage
from linkrag_dagster.versions.spec import StageSpec, canonical_json, digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road


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


@dataclass(slots=True)
class Remembered:
    """What a run has worked out for its planner; the lake's files never change, so it stays true.

    Attributes:
        units: units by file of the ledger, stage and document; those of the generation read last.
        inputs: hash of the inputs' content, by the hashes that it is made of.
        listed: a listing of the source, and the units that it asks for.
    """

    units: dict[str, dict[str, dict[str, Unit]]] = field(
        default_factory=dict[str, dict[str, dict[str, Unit]]]
    )
    inputs: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    listed: tuple[object, dict[str, Wanted]] | None = None

    def inputs_hash(self, hashes: tuple[str, ...]) -> str:
        """Hash of the content that a unit is made from."""
        found = self.inputs.get(hashes)
        if found is None:
            found = self.inputs[hashes] = digest("inputs", *hashes)
        return found


def read_ledger(road: Road, generation: Generation) -> Ledger:
    """The units and failures of a generation; every stage asks, and a commit changes few of the ledger's files."""
    before, now = road.remembered.units, dict[str, dict[str, dict[str, Unit]]]()
    units: dict[str, dict[str, Unit]] = {}
    for shard, file in generation.tables.get(UNITS, {}).items():
        now[file.path] = before[file.path] if file.path in before else _units(road, generation, shard)
        for stage, found in now[file.path].items():
            units.setdefault(stage, {}).update(found)
    road.remembered.units = now
    failures = {row["doc_key"]: row for row in road.lake.read(generation, "failures").iter_rows(named=True)}
    return Ledger(units, generation.specs, failures)


def _units(road: Road, generation: Generation, shard: int) -> dict[str, dict[str, Unit]]:
    units: dict[str, dict[str, Unit]] = {}
    for stage, *values in road.lake.read_shard(generation, UNITS, shard, UNITS_SCHEMA).iter_rows():
        units.setdefault(stage, {})[values[0]] = Unit(*values)
    return units


def wanted_units(
    road: Road,
    stage: Stage,
    documents: Mapping[str, Mapping[str, Any]],
    ledger: Ledger,
    pending: Mapping[str, Set[str]],
) -> dict[str, Wanted]:
    """The units that a stage should have: those whose inputs exist, or will (`pending`, by stage)."""
    wanted: dict[str, Wanted] = {}
    inputs = [(pending.get(name, frozenset[str]()), ledger.units.get(name, {})) for name in stage.inputs]
    fingerprints: dict[object, str] = {}
    # Once a document and stage, several times a build: at ten thousand documents this loop is what planning costs.
    kind_of, inputs_hash = road.kind_of, road.remembered.inputs_hash
    mine = ledger.units.get(stage.name, {})
    narrow = {spec for spec, recorded in ledger.specs.items() if stage.is_narrow(recorded)}
    for key, document in documents.items():
        hashes: list[str] = []
        waits = False
        for coming, units in inputs:
            if key in coming:
                waits = True
            elif (unit := units.get(key)) is not None:
                hashes.append(unit.content_hash)
            else:
                break
        else:
            # A document that turned out to depend on less is compared with the spec that says less.
            known = mine.get(key)
            less = known is not None and known.spec in narrow
            kind = kind_of(document), less
            spec = fingerprints.get(kind)
            if spec is None:
                spec = fingerprints[kind] = road.spec(stage, document, narrow=less).fingerprint
            wanted[key] = Wanted(key, spec, None if waits else inputs_hash(tuple(hashes)))
    return wanted


WHOLE = "*"
"""The key of the one unit of a stage over the whole corpus."""
FIRST_TIME = "not there yet"


def wanted_whole(
    road: Road, stage: Stage, documents: Mapping[str, Mapping[str, Any]], ledger: Ledger, unsettled: bool
) -> dict[str, Wanted]:
    """The one unit of a stage over the whole corpus, made from all units of its inputs.

    What the corpus's documents are called and which version of them answers belongs to its input; the rest of
    `raw_documents` does not: other bytes that give the same text change nothing (VE-03).
    """
    if not stage.applies(road):
        return {}
    parts = [
        f"{key}|{row['doc_id']}|{row['doc_name']}|{row['current']}"
        for key, row in documents.items()
        # One without any rows, for it has failed, answers nothing.
        if any(key in ledger.units.get(name, {}) for name in stage.inputs)
    ]
    hashes = [
        f"{name}|{key}|{unit.content_hash}"
        for name in stage.inputs
        for key, unit in ledger.units.get(name, {}).items()
    ]
    inputs = None if unsettled else digest("corpus", *sorted(parts), *sorted(hashes))
    return {WHOLE: Wanted(WHOLE, road.spec(stage, {}).fingerprint, inputs)}


def blocked_by_failure(
    road: Road,
    stage: Stage,
    documents: Mapping[str, Mapping[str, Any]],
    ledger: Ledger,
    *,
    committing: bool = False,
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
        if failure["stage"] == FIRST or (committing and not failure["fingerprint"]):
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
    *,
    unsettled: bool = False,
    committing: bool = False,
) -> StagePlan:
    """The plan of a stage after `raw_documents`.

    Args:
        pending: documents whose rows are yet to be computed, by stage.
        unsettled: whether anything before the stage is to be computed or removed first.
        committing: whether the question is what may be committed: a document that failed in this very build for a
            cause that passes is not tried again before the next one.
    """
    if stage.whole_corpus:
        plan = plan_stage(
            wanted_whole(road, stage, documents, ledger, unsettled),
            ledger.units.get(stage.name, {}),
            {**ledger.specs, **road.known_specs()},
        )
        return replace(plan, reasons=dict.fromkeys(plan.new, FIRST_TIME)) if plan.new else plan
    failed, retry = blocked_by_failure(road, stage, documents, ledger, committing=committing)
    return plan_stage(
        wanted_units(road, stage, documents, ledger, pending),
        ledger.units.get(stage.name, {}),
        {**ledger.specs, **road.known_specs()},
        failed=failed,
        retry=retry,
    )


def attempt_fingerprint(sha256: str, specs: Sequence[StageSpec]) -> str:
    """Fingerprint of an attempt on a document's bytes by a row of stages."""
    return attempt_of(sha256, *(canonical_json(spec.as_dict()) for spec in specs))
