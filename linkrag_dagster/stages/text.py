"""`extracted_text`: bytes to canonical text with locators, by the registry's extractor (XT-01, XT-02)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.contracts.rows import row_of
from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.media_type import HEAD_BYTES
from linkrag_dagster.extraction.records import Extraction
from linkrag_dagster.extraction.registry import choose, extractor_for
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.sources.errors import SourceError
from linkrag_dagster.sources.folder import read
from linkrag_dagster.stages.stage import Computed, DocumentFailure, Progress, Stage
from linkrag_dagster.versions.spec import StageSpec, digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

PROGRESS_EVERY = 200


def _layout(found: Extraction) -> str | None:
    """A hash of the places on pages: the same words elsewhere on a page are another citation."""
    if not found.pages:
        return None
    return digest("layout", *(f"{s.start_char},{s.end_char}{s.locator}" for s in found.locators))


class ExtractedText(Stage):
    """Reads each document's bytes again and makes sure that they are those that were listed."""

    name = "extracted_text"
    tables = ("extracted_text", "locators")
    inputs = ("raw_documents",)
    description = (
        "Canonical text of each document, its title, and where each run of it stands in the original."
    )

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        extractor = extractor_for(document["media_type"])
        components = {extractor.name: extractor.version, **extractor.libraries()} if extractor else {}
        # The limit itself is no part: raising it makes stale only what it had kept out.
        too_large = document["size_bytes"] > road.declaration.extraction.max_bytes
        return StageSpec(self.name, revision=1, parameters={"too_large": too_large}, components=components)

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        source = road.source(generation)
        documents = road.documents(generation)
        texts: list[dict[str, Any]] = []
        locators: list[dict[str, Any]] = []
        failures: list[DocumentFailure] = []
        for number, key in enumerate(keys, start=1):
            document = documents[key]
            try:
                if key not in source.files:
                    raise SourceError(f"{document['doc_name']} vanished while the build ran; build again")
                file = source.files[key]
                data = read(file, road.declaration.extraction.max_bytes)
                if hashlib.sha256(data).hexdigest() != document["sha256"]:
                    raise SourceError(f"{document['doc_name']} changed while the build ran; build again")
                extractor = choose(data[:HEAD_BYTES], file.path)
                found = extractor.extract(data, name=file.label, options={})
            except ExtractionError as error:
                failures.append(DocumentFailure(key, error.kind, str(error), error.retryable))
                continue
            except SourceError as error:
                failures.append(
                    DocumentFailure(
                        key, error.kind, str(error), error.retryable, transient=error.kind == "source"
                    )
                )
                continue
            texts.append(
                {
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
            )
            locators += [
                {"doc_key": key, "start_char": s.start_char, "end_char": s.end_char, "locator": s.locator}
                for s in found.locators
            ]
            if number % PROGRESS_EVERY == 0:
                progress(f"{number}/{len(keys)} documents, {len(failures)} failed")
        bare = contract(self.name).empty().drop("fingerprint", "content_hash").schema
        return Computed(
            {
                "extracted_text": pl.DataFrame(texts, schema=bare),
                "locators": pl.DataFrame(locators, schema=contract("locators").polars),
            },
            failures,
        )

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        del road, generation
        runs: dict[str, list[tuple[int, int]]] = {}
        for key, start, end in frames["locators"].select("doc_key", "start_char", "end_char").iter_rows():
            runs.setdefault(key, []).append((start, end))
        uncovered: list[Violation] = []
        marks: list[Violation] = []
        for key, text in frames["extracted_text"].select("doc_key", "text").iter_rows():
            at = _first_uncovered(text, sorted(runs.get(key, [])))
            if at is not None:
                uncovered.append(Violation("XT-02", key, f"character {at} belongs to no locator"))
            if "\r" in text or text.startswith("\ufeff"):
                marks.append(
                    Violation("XT-02", key, "canonical text holds a carriage return or begins with a BOM")
                )
        missing = keys - set(frames["extracted_text"]["doc_key"].to_list())
        yield CheckResult(
            "locators_cover_text",
            ("XT-02",),
            "Every character that is not white space belongs to a locator.",
            frames["extracted_text"].height,
            tuple(uncovered),
        )
        yield CheckResult(
            "text_is_canonical",
            ("XT-02",),
            "LF line ends, no BOM.",
            frames["extracted_text"].height,
            tuple(marks),
        )
        yield CheckResult(
            "documents_complete",
            ("CO-02", "FA-01"),
            "Every document has text or a failure.",
            len(keys),
            tuple(Violation("CO-02", key, "neither text nor failure") for key in sorted(missing)),
        )


def _first_uncovered(text: str, runs: Sequence[tuple[int, int]]) -> int | None:
    at = 0
    for start, end in [*runs, (len(text), len(text))]:
        gap = text[at:start]
        if gap.strip():
            return at + len(gap) - len(gap.lstrip())
        at = max(at, end)
    return None
