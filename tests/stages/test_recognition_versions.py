"""What an upgrade of the recogniser makes stale (VE-02, XT-08)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pymupdf
import pytest

from linkrag_dagster.extraction.pdf.extractor import PdfExtractor
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
