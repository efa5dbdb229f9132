"""`raw_documents`: the source as it lies there, each document with its identity and version (PI-05)."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.extraction.encoding import decode
from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.media_type import HEAD_BYTES, detect
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.sources.errors import BadPattern, SourceError
from linkrag_dagster.sources.folder import Scan, SourceFile, digest, read, scan
from linkrag_dagster.sources.identity import DocumentIdentity, path_id, read_identity
from linkrag_dagster.sources.patterns import compile_patterns
from linkrag_dagster.stages.commit import commit
from linkrag_dagster.stages.ledger import Ledger, read_ledger
from linkrag_dagster.stages.stage import (
    Computed,
    DocumentFailure,
    Progress,
    Stage,
    StageReport,
)
from linkrag_dagster.versions import spec as versions
from linkrag_dagster.versions.planner import EDITED, INPUT, StagePlan, Wanted, plan_stage
from linkrag_dagster.versions.spec import StageSpec

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

VERSION_CHARACTERS = 16
_FRONT_MATTER = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\x00?[-+]")


class EmptySource(Exception):
    """The source holds no document: a mount that is gone looks the same, so nothing is deleted unasked (FA-03)."""


@dataclass(frozen=True, slots=True)
class Source:
    """What the source holds now.

    Attributes:
        documents: `raw_documents` rows without stamps, by document key.
        files: where to read each document.
        failures: files that could not be read, or whose identity can't be used.
        left_out: entries that are no documents, by reason.
    """

    documents: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, SourceFile]
    failures: tuple[DocumentFailure, ...]
    left_out: Mapping[str, int]

    def digest(self) -> str:
        """One hash for the whole source: the data version of Dagster's external source asset."""
        return versions.digest(
            "source", *(p for k, d in self.documents.items() for p in (k, d["doc_name"], d["sha256"]))
        )


def list_source(road: Road, stored: Mapping[str, Mapping[str, Any]]) -> Source:
    """List and hash the source. Contents decide, never times (VE-06).

    Args:
        road: the corpus.
        stored: `raw_documents` rows of the lake: what a file that can't be read just now keeps.

    Raises:
        SourceUnreachable: the folder can't be listed.
        DeclarationError: an include or exclude pattern is wrong.
    """
    declared = road.declaration.source
    for field in ("include", "exclude"):
        try:
            compile_patterns(getattr(declared, field))
        except BadPattern as error:
            raise road.loaded.error(f"source.{field}", str(error)) from error
    found: Scan = scan(road.source_path, declared.include, declared.exclude)
    rows: dict[str, dict[str, Any]] = {}
    files: dict[str, SourceFile] = {}
    failures: list[DocumentFailure] = []
    by_name = {row["doc_name"]: key for key, row in stored.items()}
    lake = f"{road.lake_root.resolve()}{os.sep}"
    for file in found.files:
        if os.fspath(file.absolute).startswith(lake):
            # A source that holds the project holds its lake too: what a build writes is no document.
            continue
        try:
            row = _row(road, file)
        except SourceError as error:
            # A file that vanished since it was listed is simply gone; one that can't be read keeps what it had.
            if not file.absolute.exists():
                continue
            key = by_name.get(file.label) or path_id(road.corpus, file.path)
            rows[key] = dict(stored.get(key) or _unread(key, file))
            failures.append(DocumentFailure(key, error.kind, str(error), error.retryable, transient=True))
            continue
        problem = row.pop("problem")
        key = row["doc_key"]
        if key in rows:
            twin = rows[key]["doc_name"]
            key = row["doc_key"] = row["doc_id"] = path_id(road.corpus, file.path)
            problem = f"declares the same id and version as {twin}; give one of them another id or version"
        rows[key], files[key] = row, file
        if problem:
            failures.append(DocumentFailure(key, "source", f"{file.label}: {problem}"))
    _mark_current(rows)
    return Source(dict(sorted(rows.items())), files, tuple(failures), found.left_out)


def _row(road: Road, file: SourceFile) -> dict[str, Any]:
    limit = road.declaration.extraction.max_bytes
    identity = DocumentIdentity()
    if file.size_bytes <= limit:
        data = read(file, limit)
        sha256, size, head = hashlib.sha256(data).hexdigest(), len(data), data[:HEAD_BYTES]
        if _FRONT_MATTER.match(head):
            identity = _identity(data)
    else:
        # Too large to be a document; its hash still tells when it changes.
        sha256, size, head = digest(file), file.size_bytes, b""
    doc_id = identity.doc_id or path_id(road.corpus, file.path)
    return {
        "doc_key": document_key(doc_id, identity.version),
        "doc_id": doc_id,
        "version": identity.version or sha256[:VERSION_CHARACTERS],
        "version_declared": identity.version is not None,
        "current": True,
        "doc_name": file.label,
        "access": list(identity.access),
        "media_type": detect(head, file.path) if head else "",
        "size_bytes": size,
        "sha256": sha256,
        "problem": identity.problem,
    }


def _unread(key: str, file: SourceFile) -> dict[str, Any]:
    return {
        "doc_key": key,
        "doc_id": key,
        "version": "",
        "version_declared": False,
        "current": True,
        "doc_name": file.label,
        "access": [],
        "media_type": "",
        "size_bytes": file.size_bytes,
        "sha256": "",
    }


def _identity(data: bytes) -> DocumentIdentity:
    try:
        return read_identity(decode(data).text)
    except ExtractionError:
        # Its extraction will fail by name; here there is only no identity to read.
        return DocumentIdentity()


def _mark_current(rows: Mapping[str, dict[str, Any]]) -> None:
    """Of several declared versions of one document the highest answers; numbers count as numbers."""
    versions_of: dict[str, list[dict[str, Any]]] = {}
    for row in rows.values():
        versions_of.setdefault(row["doc_id"], []).append(row)
    for same in versions_of.values():
        if len(same) > 1:
            latest = max(same, key=lambda row: (row["version_declared"], natural_order(row["version"])))
            for row in same:
                row["current"] = row is latest


def document_key(doc_id: str, version: str | None) -> str:
    """The document's key: its id, and @version where one is declared; an @ of their own is written %40."""
    parts = (doc_id, version) if version else (doc_id,)
    return "@".join(part.replace("%", "%25").replace("@", "%40") for part in parts)


def natural_order(version: str) -> list[tuple[int, int, str]]:
    """Key that orders versions as people do: 1.9 before 1.10."""
    parts = re.findall(r"\d+|[^\d.]+", version)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


class RawDocuments(Stage):
    """The first stage: its inputs are files, so it plans from a listing of the source."""

    name = "raw_documents"
    tables = ("raw_documents",)
    inputs = ()
    description = "Documents as they lie in the source: identity, version, media type, hash."

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del road, document
        return StageSpec(self.name, revision=1)

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        source = road.source(generation)
        rules = contract(self.name)
        bare = rules.empty().drop("fingerprint", "content_hash")
        rows = [source.documents[key] for key in keys]
        frame = pl.DataFrame(rows, schema=bare.schema) if rows else bare
        return Computed({self.name: frame})


def wanted_documents(road: Road, stage: Stage, source: Source) -> dict[str, Wanted]:
    """The units that `raw_documents` should have; worked out once for a listing."""
    listed = road.remembered.listed
    if listed is None or listed[0] is not source:
        mark = road.spec(stage, {}).fingerprint
        wanted = {
            key: Wanted(key, mark, versions.digest("document", versions.canonical_json(row)))
            for key, row in source.documents.items()
        }
        listed = road.remembered.listed = (source, wanted)
    return listed[1]


def plan_source(road: Road, stage: Stage, source: Source, ledger: Ledger) -> StagePlan:
    """The plan of `raw_documents`."""
    plan = plan_stage(
        wanted_documents(road, stage, source),
        ledger.units.get(stage.name, {}),
        {**ledger.specs, **road.known_specs()},
    )
    # Here the input is the file itself: this is where a change begins.
    return replace(plan, reasons={key: EDITED if why == INPUT else why for key, why in plan.reasons.items()})


def new_source_failures(source: Source, ledger: Ledger) -> list[DocumentFailure]:
    """Source failures that are not on record already in the same words."""
    return [
        failure
        for failure in source.failures
        if (known := ledger.failures.get(failure.doc_key)) is None
        or (known["stage"], known["message"]) != ("raw_documents", failure.message)
    ]


def healed_source_failures(source: Source, ledger: Ledger) -> set[str]:
    """Documents whose recorded source failure no longer holds, or that are gone with any failure."""
    failing = {failure.doc_key for failure in source.failures}
    return {
        key
        for key, failure in ledger.failures.items()
        if key not in source.documents or (failure["stage"] == "raw_documents" and key not in failing)
    }


def materialise_source(road: Road, stage: Stage, progress: Progress) -> StageReport:
    """Bring `raw_documents` up to date with the source, and stage it.

    Raises:
        SourceUnreachable: the source can't be listed; nothing is committed.
        EmptySource: it holds no document although the lake has some, or never had one, and that was not allowed.
        Refused, LockHeld, LakeError: as for any stage.
    """
    started = time.monotonic()
    with road.lake.writer(wait=road.wait):
        generation = road.lake.next_generation()
        ledger = read_ledger(road, generation)
        source = road.source(generation, fresh=not road.planned)
        refuse_empty(road, source)
        plan = plan_source(road, stage, source, ledger)
        failures = new_source_failures(source, ledger)
        mended = healed_source_failures(source, ledger)
        if plan.idle and not failures and not mended:
            rows = generation.rows(stage.name)
            return StageReport(
                table=stage.name,
                unchanged=rows,
                failed=len(source.failures),
                rows=rows,
                seconds=time.monotonic() - started,
                data_version=generation.data_versions.get(stage.name, ""),
            )
        computed = stage.compute(road, generation, plan.todo, progress)
        wanted, todo = wanted_documents(road, stage, source), set(plan.todo)
        report = commit(
            road,
            stage,
            generation,
            ledger,
            source.documents,
            plan,
            # A document whose file can't be used has its row all the same, and no other.
            replace(computed, failures=()),
            mended,
            started,
            wanted={key: want for key, want in wanted.items() if key in todo},
            besides=failures,
        )
        return replace(report, failed=len(source.failures))


def refuse_empty(road: Road, source: Source) -> None:
    """An emptied folder is an error, not a deletion.

    Raises:
        EmptySource: unless the build was told that an empty source is meant.
    """
    if not source.documents and not road.allow_empty:
        left_out = ", ".join(f"{count} {reason}" for reason, count in source.left_out.items())
        raise EmptySource(
            f"{road.corpus}: the source {road.source_path} holds no document"
            + (f" (left out: {left_out})" if left_out else "")
            + "; nothing was changed. If it is meant to be empty, use build --allow-empty"
        )
