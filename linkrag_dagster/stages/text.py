"""`extracted_text`: bytes to canonical text with locators, by the registry's extractor (XT-01, XT-02)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.contracts.rows import records_of, row_of
from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.locator_contract import (
    order_problem,
    place_problem,
    sameness_problem,
    uncovered,
)
from linkrag_dagster.extraction.locators import Locator
from linkrag_dagster.extraction.records import Extraction, LeftOut, Page
from linkrag_dagster.extraction.registry import extractor_for
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.sources.errors import SourceError
from linkrag_dagster.sources.folder import read
from linkrag_dagster.stages.extraction_limits import extraction_limits
from linkrag_dagster.stages.extraction_progress import ExtractionProgress
from linkrag_dagster.stages.stage import Computed, DocumentFailure, Progress, Stage
from linkrag_dagster.versions.spec import StageSpec, digest
from linkrag_dagster.workers import Job, Workers
from linkrag_dagster.workers.limits import usable_cores

if TYPE_CHECKING:
    from linkrag_dagster.stages.documents import Source
    from linkrag_dagster.stages.road import Road


Record = TypeVar("Record")

_PROMISES = {
    "locators_cover_text": "Every character that is not white space belongs to a locator.",
    "locators_in_order": "Locators follow each other, each with characters of the text, none above another.",
    "boxes_on_pages": "A place on a page is a box with extent, on a page that the document has, and not beyond it.",
    "boxes_of_blocks": "Blocks of text on one page have boxes of their own, not one for the page.",
    "text_is_canonical": "LF line ends, no BOM.",
}
"""What is checked of each document's text and places (XT-02), by the name of the check."""


def _layout(found: Extraction) -> str | None:
    """A hash of the places on pages: the same words elsewhere on a page are another citation."""
    if not found.pages:
        return None
    return digest("layout", *(f"{s.start_char},{s.end_char}{s.locator}" for s in found.locators))


def _job(road: Road, source: Source, document: Mapping[str, Any], key: str) -> Job:
    """What is to be extracted. Raises SourceError where the file is no longer what was listed."""
    if key not in source.files:
        raise SourceError(f"{document['doc_name']} vanished while the build ran; build again")
    file = source.files[key]
    data = read(file, road.declaration.extraction.max_bytes)
    if hashlib.sha256(data).hexdigest() != document["sha256"]:
        raise SourceError(f"{document['doc_name']} changed while the build ran; build again")
    return Job(data, file.path, file.label, _options(road))


def _options(road: Road) -> dict[str, object]:
    return {"ocr": road.declaration.extraction.ocr.model_dump()}


def _row(key: str, document: Mapping[str, Any], found: Extraction) -> dict[str, Any]:
    return {
        "doc_key": key,
        "doc_id": document["doc_id"],
        "version": document["version"],
        "title": found.title,
        "text": found.text,
        "markup": found.markup,
        "language": found.language,
        "characters": len(found.text),
        "pages": [row_of(page) for page in found.pages],
        "layout": _layout(found),
        "media_type": found.media_type,
        "encoding": found.encoding,
        "extractor": found.extractor,
        "extractor_version": found.extractor_version,
    }


def _runs(key: str, found: Extraction) -> list[dict[str, Any]]:
    return [
        {
            "doc_key": key,
            "start_char": s.start_char,
            "end_char": s.end_char,
            "locator": s.locator,
            "confidence": s.confidence,
        }
        for s in found.locators
    ]


def _left_out(key: str, found: Extraction) -> list[dict[str, Any]]:
    return [{"doc_key": key, "number": number, **row_of(one)} for number, one in enumerate(found.left_out)]


class ExtractedText(Stage):
    """Reads each document's bytes again and makes sure that they are those that were listed."""

    name = "extracted_text"
    tables = ("extracted_text", "locators", "left_out")
    inputs = ("raw_documents",)
    description = (
        "Canonical text of each document, its title, and where each run of it stands in the original."
    )
    contract_revision = 2

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        extractor = extractor_for(document["media_type"])
        components = {extractor.name: extractor.version, **extractor.libraries()} if extractor else {}
        # The limit itself is no part: raising it makes stale only what it had kept out.
        too_large = document["size_bytes"] > road.declaration.extraction.max_bytes
        parameters: dict[str, object] = {"too_large": too_large}
        if extractor and (recognition := extractor.recognition()):
            ocr = road.declaration.extraction.ocr
            # What is not asked to recognise anything depends neither on the recogniser nor on its thresholds.
            components |= recognition if ocr.enabled else {}
            parameters["ocr"] = ocr.model_dump() if ocr.enabled else {"enabled": False}
        return StageSpec(self.name, revision=1, parameters=parameters, components=components)

    def narrowed(self, road: Road, document: Mapping[str, Any]) -> StageSpec | None:
        """Without recognition: documents that hold no picture of text don't depend on it."""
        full = self.spec(road, document)
        if "ocr" not in full.parameters:
            return None
        gone = extractor_for(document["media_type"])
        assert gone is not None
        return replace(
            full,
            parameters={key: value for key, value in full.parameters.items() if key != "ocr"},
            components={
                key: value for key, value in full.components.items() if key not in gone.recognition()
            },
        )

    def is_narrow(self, recorded: Mapping[str, object]) -> bool:
        """Without the settings of recognition."""
        parameters = recorded.get("parameters")
        return (
            recorded.get("name") == self.name and isinstance(parameters, Mapping) and "ocr" not in parameters
        )

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        source = road.source(generation)
        documents = road.documents(generation)
        texts: dict[str, dict[str, Any]] = {}
        locators: dict[str, list[dict[str, Any]]] = {}
        left_out: dict[str, list[dict[str, Any]]] = {}
        narrow: set[str] = set()
        failures: dict[str, DocumentFailure] = {}
        told = ExtractionProgress(len(keys), progress)

        def jobs() -> Iterator[tuple[str, Job]]:
            for key in keys:
                try:
                    yield key, _job(road, source, documents[key], key)
                except SourceError as error:
                    failures[key] = DocumentFailure(
                        key, error.kind, str(error), error.retryable, transient=error.kind == "source"
                    )
                    told.failed()

        declared = road.declaration.extraction
        with Workers(extraction_limits(declared, declared.workers or usable_cores())) as workers:
            for key, found in workers.run(jobs()):
                if isinstance(found, ExtractionError):
                    failures[key] = DocumentFailure(key, found.kind, str(found), found.retryable)
                    told.failed()
                    continue
                texts[key] = _row(key, documents[key], found)
                locators[key] = _runs(key, found)
                left_out[key] = _left_out(key, found)
                if not found.needs_ocr:
                    narrow.add(key)
                told.read(len(found.pages))
        bare = contract(self.name).empty().drop("fingerprint", "content_hash").schema
        return Computed(
            {
                "extracted_text": pl.DataFrame([texts[key] for key in keys if key in texts], schema=bare),
                "locators": pl.DataFrame(
                    [run for key in keys for run in locators.get(key, ())], schema=contract("locators").polars
                ),
                "left_out": pl.DataFrame(
                    [row for key in keys for row in left_out.get(key, ())], schema=contract("left_out").polars
                ),
            },
            [failures[key] for key in keys if key in failures],
            narrow=narrow,
        )

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        del road, generation
        texts = frames["extracted_text"]
        broken: dict[str, list[Violation]] = {name: [] for name in _PROMISES}
        runs, left_out = _records(frames["locators"], Locator), _records(frames["left_out"], LeftOut)
        for key, text, listed in texts.select("doc_key", "text", "pages").iter_rows():
            pages = [Page(**page) for page in listed]
            mine = sorted(runs.get(key, ()), key=lambda run: run.start_char)
            at = uncovered(text, mine)
            found = {
                "locators_cover_text": "" if at is None else f"character {at} belongs to no locator",
                "locators_in_order": order_problem(text, mine),
                "boxes_on_pages": place_problem([*mine, *left_out.get(key, ())], pages),
                "boxes_of_blocks": sameness_problem(text, mine, pages),
                "text_is_canonical": "canonical text holds a carriage return or begins with a BOM"
                if "\r" in text or text.startswith("\ufeff")
                else "",
            }
            for name, problem in found.items():
                if problem:
                    broken[name].append(Violation("XT-02", key, problem))
        missing = keys - set(texts["doc_key"].to_list())
        for name, promise in _PROMISES.items():
            yield CheckResult(name, ("XT-02",), promise, texts.height, tuple(broken[name]))
        yield CheckResult(
            "documents_complete",
            ("CO-02", "FA-01"),
            "Every document has text or a failure.",
            len(keys),
            tuple(Violation("CO-02", key, "neither text nor failure") for key in sorted(missing)),
        )


def _records(frame: pl.DataFrame, kind: type[Record]) -> dict[str, list[Record]]:
    """Rows of a table as records, by document."""
    found: dict[str, list[Record]] = {}
    for key, record in zip(frame["doc_key"].to_list(), records_of(kind, frame), strict=True):
        found.setdefault(key, []).append(record)
    return found
