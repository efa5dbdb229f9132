"""What an upgrade of the recogniser makes stale (VE-02, XT-08)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pymupdf
import pytest

from linkrag_dagster.extraction.pdf import pages
from linkrag_dagster.extraction.pdf.extractor import PdfExtractor
from linkrag_dagster.stages.plan import TablePlan, plan_road
from linkrag_dagster.stages.road import STAGES
from tests.extraction.test_pdf_scans import Fake
from tests.stages.conftest import Project

LIBRARY = cast("Any", pymupdf)


def _pdf(words: str, *, drawn: bool = False) -> bytes:
    document = LIBRARY.open()
    page = document.new_page(width=300, height=100)
    page.insert_text((20, 40), words, fontsize=11)
    if drawn:
        picture = page.get_pixmap(dpi=100)
        document = LIBRARY.open()
        document.new_page(width=300, height=100).insert_image((0, 0, 300, 100), pixmap=picture)
    return document.tobytes()


def test_an_upgrade_reads_again_what_needs_it(
    empty_project: Callable[[], Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PDF whose words are in it stays as it is, as Markdown does; one with a page that is a picture is read again."""
    project = empty_project()
    mixed = LIBRARY.open(stream=_pdf("Words that are in the file itself."), filetype="pdf")
    mixed.insert_pdf(LIBRARY.open(stream=_pdf("A picture of words.", drawn=True), filetype="pdf"))
    project.write("text.pdf", _pdf("Words that are in the file itself."))
    project.write("mixed.pdf", mixed.tobytes())
    project.write("notes.md", "# Notes\n\nSome words.\n")

    versions = {"rapidocr": "none"}

    def recognition(_: PdfExtractor) -> dict[str, str]:
        return dict(versions)

    monkeypatch.setattr(PdfExtractor, "recognition", recognition)
    assert project.build().stages["extracted_text"].new == 3
    versions["rapidocr"] = "9.9"
    report = project.build().stages["extracted_text"]
    assert (report.stale, report.unchanged) == (1, 2)
    assert report.reasons == {"rapidocr none → 9.9": 1}
    assert project.build().stages["extracted_text"].unchanged == 3


def _planned(project: Project) -> TablePlan:
    return plan_road(project.road(), STAGES).stages["extracted_text"]


def _counts(plan: TablePlan) -> tuple[int, int, int, int]:
    return plan.stale, plan.retry, plan.failed, plan.unchanged


@pytest.fixture
def recognised(empty_project: Callable[[], Project], monkeypatch: pytest.MonkeyPatch) -> Project:
    """Built: notes, a PDF with its words in it, one with a page that is a picture, a scan."""

    def recognition(_: PdfExtractor) -> dict[str, str]:
        return {"rapidocr": "9.9" if pages.is_installed() else "none"}

    def in_place(data: bytes, path: str) -> bool:
        return False

    monkeypatch.setattr(PdfExtractor, "recognition", recognition)
    monkeypatch.setattr(pages, "recogniser", lambda: Fake(["A picture of words that were read."], top=40))
    monkeypatch.setattr(pages, "is_installed", lambda: True)
    monkeypatch.setattr("linkrag_dagster.workers.pool.needs_worker", in_place)
    project = empty_project()
    mixed = LIBRARY.open(stream=_pdf("Words that are in the file itself."), filetype="pdf")
    mixed.insert_pdf(LIBRARY.open(stream=_pdf("A picture of words.", drawn=True), filetype="pdf"))
    project.write("text.pdf", _pdf("Words that are in the file itself."))
    project.write("mixed.pdf", mixed.tobytes())
    project.write("scan.pdf", _pdf("A picture of words that were read.", drawn=True))
    project.write("notes.md", "# Notes\n\nSome words.\n")
    project.set("limits.failed_documents", 1.0)
    report = project.build().stages["extracted_text"]
    assert (report.new, report.failed) == (4, 0)
    return project


def test_recognition_is_switched_off_and_on(recognised: Project) -> None:
    """VE-02, VE-05, XT-08: the plan names just the documents with pictures of text, and what was done is what it said.

    A scan has no text without recognition: it fails, keeps what it had, and is read when recognition is there again.
    """
    recognised.set("extraction.ocr.enabled", False)
    plan = _planned(recognised)
    assert _counts(plan) == (2, 0, 0, 2)
    assert all("ocr" in reason for reason in plan.reasons)
    report = recognised.build().stages["extracted_text"]
    assert (report.stale, report.unchanged) == (1, 3)
    assert [failure.kind for failure in report.failures] == ["no_text"]
    assert plan_road(recognised.road(), STAGES).idle

    recognised.set("extraction.ocr.mark_below", 0.9)
    assert plan_road(recognised.road(), STAGES).idle, "a threshold of what is switched off"

    recognised.set("extraction.ocr.mark_below", 0.8)
    recognised.set("extraction.ocr.enabled", True)
    stale, retry, failed, unchanged = _counts(_planned(recognised))
    assert (stale + retry, failed) == (1, 0) and unchanged == 3, (
        "what the scan had is what it would have again"
    )
    assert recognised.build().failed == 0
    assert plan_road(recognised.road(), STAGES).idle


def test_the_extra_goes_away_and_comes_back(recognised: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """VE-02, VE-05: what was recognised needs the extra; all else, and a corpus without recognition, does not."""
    monkeypatch.setattr(pages, "is_installed", lambda: False)
    plan = _planned(recognised)
    assert _counts(plan) == (2, 0, 0, 2)
    assert plan.reasons == {"rapidocr 9.9 → none": 2}
    failures = recognised.build().stages["extracted_text"].failures
    assert [failure.kind for failure in failures] == ["no_text"]
    recognised.set("extraction.ocr.enabled", False)
    recognised.build()
    monkeypatch.setattr(pages, "is_installed", lambda: True)
    assert plan_road(recognised.road(), STAGES).idle, "switched off, it does not matter what is installed"
    recognised.set("extraction.ocr.enabled", True)
    assert recognised.build().failed == 0
