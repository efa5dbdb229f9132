"""A build refuses locators that are none: their document fails, the others are built (XT-02, CO-02)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pymupdf
import pytest

from linkrag_dagster.extraction.pdf.extractor import PdfExtractor
from linkrag_dagster.extraction.records import Extraction
from linkrag_dagster.stages.build import build
from tests.extraction.test_pdf_places import Press

from .conftest import Project, run_here

REAL = PdfExtractor.extract


def printed(seed: int) -> bytes:
    press = Press(seed)
    press.turn_over(0)
    press.paragraph(60, press.heading(60, 110), 400, 3)
    return press.document.tobytes()


def one_box_a_page(found: Extraction) -> Extraction:
    return replace(
        found,
        locators=tuple(
            replace(run, locator=f"#page={run.locator[6:].split('&')[0]}&bbox=0.0,0.0,595.0,842.0")
            for run in found.locators
        ),
    )


def beyond_the_page(found: Extraction) -> Extraction:
    last = found.locators[-1]
    return replace(
        found, locators=(*found.locators[:-1], replace(last, locator="#page=1&bbox=10.0,10.0,600.0,20.0"))
    )


def above_each_other(found: Extraction) -> Extraction:
    first, last = found.locators
    return replace(found, locators=(replace(first, end_char=last.start_char + 1), last))


def nowhere(found: Extraction) -> Extraction:
    return replace(found, locators=found.locators[:-1])


def in_place(data: bytes, path: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("spoil", "check"),
    [
        (one_box_a_page, "boxes_of_blocks"),
        (beyond_the_page, "boxes_on_pages"),
        (above_each_other, "locators_in_order"),
        (nowhere, "locators_cover_text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_breaks_the_contract_is_not_committed(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Extraction], Extraction],
    check: str,
) -> None:
    """XT-02: whichever extractor wrote it; other documents are built."""

    def spoilt(self: PdfExtractor, data: bytes, *, name: str, options: Mapping[str, object]) -> Extraction:
        found = REAL(self, data, name=name, options=options)
        return spoil(found) if name.endswith("bad.pdf") else found

    monkeypatch.setattr("linkrag_dagster.workers.pool.needs_worker", in_place)
    monkeypatch.setattr(PdfExtractor, "extract", spoilt)
    project.write("bad.pdf", printed(1))
    project.write("good.pdf", printed(2))
    report = build(project.road(), run_here, through="extracted_text").stages["extracted_text"]
    ((failure),) = report.failures
    assert failure.kind == "contract" and "XT-02" in failure.message
    assert [found.name for found in report.checks if not found.passed] == [check]
    road = project.road()
    rows = road.lake.read(road.lake.next_generation(), "locators")
    pages = rows.filter(rows["locator"].str.starts_with("#page"))["doc_key"].unique().to_list()
    assert len(pages) == 1 and failure.doc_key not in pages


def test_pages_say_how_large_they_are(project: Project) -> None:
    """XT-02: what a box is measured against is in the lake, for a page shown turned as it is shown."""
    document: Any = pymupdf.open()  # pyright: ignore[reportUnknownMemberType]
    for rotation in (0, 90):
        page = document.new_page(width=300, height=200)
        page.insert_text((40, 60), "Herring comes in.", fontsize=11)
        page.set_rotation(rotation)
    project.write("turned.pdf", document.tobytes())
    build(project.road(), run_here, through="extracted_text")
    road = project.road()
    rows = road.lake.read(road.lake.next_generation(), "extracted_text").filter(media_type="application/pdf")
    assert [(p["width"], p["height"]) for p in rows["pages"].to_list()[0]] == [(300.0, 200.0), (200.0, 300.0)]
