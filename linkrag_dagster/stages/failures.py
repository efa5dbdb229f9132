"""Failures of documents: which contract failed them, when they refuse a commit, and their record (CO-03, FA-01)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.ledger import Ledger
from linkrag_dagster.stages.stage import DocumentFailure, Stage
from linkrag_dagster.versions.planner import StagePlan

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

SHARE_COUNTED_FROM = 10
"""Documents from which on the declared share of failures is looked at (CO-03)."""


def mended_documents(
    road: Road, stage: Stage, documents: Mapping[str, Mapping[str, Any]], ledger: Ledger, plan: StagePlan
) -> set[str]:
    """Documents whose recorded failure at this stage no longer holds: their rows are right again, or they are gone."""
    held = {key for key, failure in ledger.failures.items() if failure["stage"] == stage.name}
    return {key for key in held if key in plan.unchanged or key not in documents}


def only_warned(road: Road) -> frozenset[str]:
    """The rules that are declared to warn: what breaks them is told of and committed all the same (CO-03)."""
    return frozenset(road.declaration.contracts.warn)


def failed_by_contract(
    checks: Sequence[CheckResult], warned: Set[str] = frozenset()
) -> dict[str, DocumentFailure]:
    """The documents that break a contract, each with its failing cases (CO-03), but for the rules `warned`."""
    by_document: dict[str, list[Violation]] = {}
    for check in checks:
        for violation in check.violations:
            if violation.doc_key and violation.rule not in warned:
                by_document.setdefault(violation.doc_key, []).append(violation)
    return {
        key: DocumentFailure(
            key,
            "contract",
            f"breaks {', '.join(sorted({v.rule for v in broken}))}: {broken[0].message[:300]}; "
            "see the failure's cases, mend the document or the settings, and build again",
            cases=tuple(CheckResult("", (), "", 0, tuple(broken)).cases()),
        )
        for key, broken in by_document.items()
    }


def refusal(
    road: Road,
    nameless: Sequence[Violation],
    bad: Set[str],
    documents: Mapping[str, Mapping[str, Any]],
    ledger: Ledger,
) -> str:
    """Why nothing may be committed; "" where it may: a breach of no one document, or too large a share of failures."""
    if nameless:
        return f"breaks {nameless[0].rule}: {nameless[0].message}; nothing was committed"
    failed = len(bad | (ledger.failures.keys() & documents.keys()))
    allowed = road.declaration.limits.failed_documents
    if bad and len(documents) >= SHARE_COUNTED_FROM and failed > allowed * len(documents):
        return (
            f"{failed} of {len(documents)} documents failed, above limits.failed_documents ({allowed:g}); "
            "nothing was committed: mend the documents, exclude them, or raise the limit"
        )
    return ""


def record_failures(
    road: Road,
    stage: Stage,
    generation: Generation,
    ledger: Ledger,
    documents: Mapping[str, Mapping[str, Any]],
    failures: Sequence[DocumentFailure],
    healed: Set[str],
) -> Generation:
    """One failure a document: this stage's replaces an earlier one; what passed, or is gone, has none here."""
    rules = contract("failures")
    rows = {
        key: dict(row)
        for key, row in ledger.failures.items()
        if key in documents and not (row["stage"] == stage.name and key in healed)
    }
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for failure in failures:
        document = documents[failure.doc_key]
        before = rows.get(failure.doc_key)
        again = before is not None and before["stage"] == stage.name
        rows[failure.doc_key] = {
            "doc_key": failure.doc_key,
            "doc_id": document["doc_id"],
            "doc_name": document["doc_name"],
            "stage": stage.name,
            "fingerprint": "" if failure.transient else road.attempt(document, stage.name),
            "kind": failure.kind,
            "message": failure.message,
            "cases": json.dumps(failure.cases, ensure_ascii=False) if failure.cases else None,
            "attempts": before["attempts"] + 1 if before and again else 1,
            "first_seen": before["first_seen"] if before and again else now,
            "last_seen": now,
            "retryable": failure.retryable,
            "retry": False,
        }
    if rows == ledger.failures:
        return generation
    frame = pl.DataFrame(list(rows.values()), schema=rules.polars).sort("doc_key")
    # Failures are few: one file holds them all.
    return road.lake.write_shards(generation, "failures", {0: frame})
