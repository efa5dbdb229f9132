"""A folder of hundreds of hostile files is built, and the good documents in it are whole (XT-11, FA-01)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import polars as pl
import pymupdf
import pytest

from linkrag_dagster.extraction import RETRYABLE
from linkrag_dagster.stages.build import build
from tests.extraction import hostile_html, hostile_pdf
from tests.extraction.test_hostile_files import PAGE, drawn

from .conftest import TEXTS, Project, run_here

pytestmark = pytest.mark.slow

HANDBOOK = Path(__file__).resolve().parents[2] / "data" / "handbook"
SEED = 500_500


LARGEST_SEED = 100_000


def first_page(data: bytes) -> bytes:
    """The beginning of a document, as small as its mutants should be."""
    whole = cast("Any", pymupdf).open(stream=data, filetype="pdf")
    part = cast("Any", pymupdf).open()
    part.insert_pdf(whole, to_page=0)
    return cast("bytes", part.tobytes(garbage=3, deflate=True))


def seeds(shared: Path) -> list[bytes]:
    """Pages of the sample, of documents from elsewhere, and drawn ones."""
    found = sorted(HANDBOOK.glob("*.pdf"))
    for file in sorted((shared / "extract" / "files").glob("*.pdf")):
        if pymupdf_opens(file):
            found.append(file)
    assert len(found) > 5
    made = [first_page(file.read_bytes()) for file in found]
    return [*drawn(), *(data for data in made if len(data) <= LARGEST_SEED)]


def pymupdf_opens(file: Path) -> bool:
    """Whether it is a document that is not broken or locked already."""
    try:
        document = cast("Any", pymupdf).open(stream=file.read_bytes(), filetype="pdf")
    except (RuntimeError, ValueError):
        return False
    return not document.needs_pass and document.page_count > 0 and bool(document[0].get_text().strip())


def texts(project: Project, lake: str) -> pl.DataFrame:
    road = project.road(lake)
    return road.lake.read(road.lake.next_generation(), "extracted_text").sort("doc_key")


def test_five_hundred_hostile_pdfs_cost_no_other_document(project: Project, shared: Path) -> None:
    """XT-11, FA-01: each has its text or a failure of a known kind; the good rows are those of a quiet folder."""
    project.set("limits.failed_documents", 1.0)
    project.set("extraction.seconds", 4)
    project.set("extraction.memory_mb", 1024)
    project.write("good.pdf", drawn()[1])
    project.write("good.html", "<!DOCTYPE html>" + PAGE)
    build(project.road("quiet"), run_here, through="extracted_text")
    quiet = texts(project, "quiet")
    assert quiet.height == len(TEXTS) + 2

    hostile: dict[str, bytes] = {}
    hostile |= {f"pdf/{name}.pdf": data for name, data in hostile_pdf.mutants(seeds(shared), 500, SEED)}
    hostile |= {f"html/{name}.html": data for name, data in hostile_html.mutants([PAGE], 100, SEED)}
    for name, data in hostile.items():
        project.write(name, data)
    result = build(project.road("loud"), run_here, through="extracted_text")

    report = result.stages["extracted_text"]
    loud = texts(project, "loud")
    assert not result.refused
    assert loud.height + len(report.failures) == len(hostile) + quiet.height
    assert {failure.kind for failure in report.failures} <= set(RETRYABLE)
    assert {"corrupt"} <= {failure.kind for failure in report.failures}
    good = loud.filter(pl.col("doc_key").is_in(quiet["doc_key"].to_list()))
    assert good.equals(quiet)
    # Some damages are mended by the library: those documents have words, most others fail.
    assert loud.height > quiet.height + 50 and len(report.failures) > 50
