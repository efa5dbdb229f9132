"""The page view: pictures, boxes in reading order, text beside them, nothing that runs or is fetched (XT-02, XT-05)."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from justhtml import Element, JustHTML

from linkrag_dagster.extraction.locators import Locator, box_on_page, page_locator
from linkrag_dagster.extraction.page_images import PageImage
from linkrag_dagster.extraction.records import Extraction, LeftOut, Page
from linkrag_dagster.markdown import parse
from linkrag_dagster.page_view import view
from linkrag_dagster.page_view.items import pages_of
from linkrag_dagster.page_view.script import SCRIPT

TEXT = (
    "# Quay\n\nThe paragraph begins on one page and ends on the next.\n\n"
    "| boat | fish |\n| --- | --- |\n| A | crab |\n\n"
    "<script>alert(1)</script> \u202e\n"
)
PICTURE = b"\x89PNG no picture, but bytes"


def located(
    words: str, page: int, box: tuple[float, float, float, float], confidence: float | None = None
) -> Locator:
    start = TEXT.index(words)
    return Locator(start, start + len(words), page_locator(page, box), confidence)


def document() -> Extraction:
    second = TEXT.index("ends on")
    return Extraction(
        text=TEXT,
        title="Quay <b>",
        language="en",
        media_type="application/pdf",
        markup="markdown",
        extractor="pdf",
        extractor_version="2",
        encoding=None,
        locators=(
            located("# Quay", 1, (72.0, 50.0, 200.0, 70.0)),
            located("The paragraph begins on one page and", 1, (72.0, 700.0, 500.0, 780.0), 0.99),
            located("ends on the next.", 2, (72.0, 50.0, 500.0, 70.0), 0.6),
            located("| boat | fish |\n| --- | --- |", 2, (72.0, 100.0, 500.0, 120.0)),
            located("| A | crab |", 2, (72.0, 120.0, 500.0, 140.0)),
            located("<script>alert(1)</script> \u202e", 2, (72.0, 200.0, 500.0, 220.0)),
        ),
        pages=(
            Page(1, 0, second, 0.99, "recognised"),
            Page(2, second, len(TEXT) - 1, 0.6, "doubtful"),
            Page(3, 9, 9),
        ),
        left_out=(
            LeftOut(1, page_locator(1, (280.0, 800.0, 300.0, 820.0)), "1 of 3", "furniture"),
            LeftOut(2, page_locator(2, (72.0, 400.0, 300.0, 420.0)), "sme0dge", "low_confidence", 0.2),
        ),
        warnings=("page 3 was not read",),
    )


def images(*pages: int) -> dict[int, PageImage]:
    return {number: PageImage(number, 600.0, 900.0, "image/png", PICTURE) for number in pages}


@pytest.fixture(scope="module")
def drawn() -> str:
    return view(document(), parse(TEXT), images(1, 2, 3), name="a&b.pdf")


def found(page: str, selector: str) -> list[Element]:
    return [node for node in JustHTML(page, sanitize=False).query(selector) if isinstance(node, Element)]


def attribute(node: Element, name: str) -> str:
    return (node.attrs or {}).get(name) or ""


def test_blocks_are_numbered_in_reading_order_on_each_page() -> None:
    """XT-02: a block that crosses pages has its part on each, with its own boxes."""
    first, second, third = pages_of(document(), parse(TEXT))
    assert [(i.number, i.kind, i.continued, len(i.runs)) for i in first.items] == [
        (1, "heading", False, 1),
        (2, "paragraph", False, 1),
    ]
    assert [(i.number, i.kind, i.continued, len(i.runs)) for i in second.items] == [
        (1, "paragraph", True, 1),
        (2, "table", False, 2),
        (3, "html", False, 1),
    ]
    assert third.items == ()
    assert [m.record.text for m in (*first.missing, *second.missing)] == ["1 of 3", "sme0dge"]


def test_each_box_stands_where_its_locator_says(drawn: str) -> None:
    """XT-02: boxes are in hundredths of the page, so that they fit the picture at any size."""
    boxes = [node for node in found(drawn, "section#page-1 a.box") if "gone" not in attribute(node, "class")]
    assert [attribute(node, "style") for node in boxes] == [
        "left:12.00%;top:5.56%;width:21.33%;height:2.22%",
        "left:12.00%;top:77.78%;width:71.33%;height:8.89%",
    ]
    assert [attribute(node, "data-n") for node in boxes] == ["1", "2"]
    assert [attribute(node, "href") for node in boxes] == ["#p1-1", "#p1-2"]


def test_text_stands_beside_its_boxes(drawn: str) -> None:
    """Each box leads to a block with the words of the text, exactly."""
    targets = {attribute(node, "href")[1:] for node in found(drawn, "a.box") if attribute(node, "href")}
    blocks = {attribute(node, "id"): node for node in found(drawn, "ol.blocks li") if attribute(node, "id")}
    assert targets == set(blocks) == {"p1-1", "p1-2", "p2-1", "p2-2", "p2-3"}
    for name, node in blocks.items():
        start, end = int(attribute(node, "data-start")), int(attribute(node, "data-end"))
        if name != "p2-3":
            (words,) = node.query(".words")
            assert words.to_text(separator="", strip=False) == TEXT[start:end]


def test_a_table_has_one_box_around_its_rows(drawn: str) -> None:
    """XT-06: tables are marked as tables."""
    boxes = found(drawn, "section#page-2 a.table")
    assert [attribute(node, "style").split(";")[3] for node in boxes] == [
        "height:4.44%",
        "height:2.22%",
        "height:2.22%",
    ]
    assert ["row" in attribute(node, "class").split() for node in boxes] == [False, True, True]


def test_confidence_is_shaded_and_told(drawn: str) -> None:
    """XT-08: of pages, of lines, of what was kept out."""
    assert [attribute(node, "class") for node in found(drawn, "mark")] == ["c4", "c1"]
    badges = [node.to_text() for node in found(drawn, "section.page .badge")]
    assert badges == ["recognised, mean confidence 0.99", "recognised, doubtful, mean confidence 0.60"]
    assert "confidence 0.20" in found(drawn, "li.low_confidence")[0].to_text()
    assert "odd-page" in attribute(found(drawn, "nav.pages a")[1], "class")


def test_what_is_not_in_the_text_is_marked(drawn: str) -> None:
    """XT-05: furniture is shown, dashed and apart."""
    (box,) = found(drawn, "a.furniture")
    assert "gone" in attribute(box, "class").split()
    (words,) = found(drawn, "li.furniture")
    assert "1 of 3" in words.to_text() and "kept apart" in words.to_text()
    assert "No text was read on this page." in found(drawn, "section#page-3")[0].to_text()
    assert "page 3 was not read" in found(drawn, "p.note")[0].to_text()


def test_no_word_of_the_document_runs(drawn: str) -> None:
    """Its words are escaped, the policy allows the page's own script by its hash, and nothing is fetched."""
    (script,) = found(drawn, "script")
    assert "".join(child.data or "" for child in script.children or ()) == SCRIPT
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', drawn)
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert "alert(1)" in drawn and "<script>alert" not in drawn and "\u202e" not in drawn
    assert "a&amp;b.pdf" in drawn and "Quay &lt;b&gt;" in drawn
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", drawn)
    assert base64.b64encode(PICTURE).decode() in drawn


def test_only_pages_with_a_picture_are_shown() -> None:
    """Long documents are shown in part; the page says of how many."""
    drawn = view(document(), parse(TEXT), images(2), notes=["the first 50 pages"])
    assert [attribute(node, "id") for node in found(drawn, "section.page")] == ["page-2"]
    assert "1 of 3 shown" in drawn and "the first 50 pages" in drawn


def test_a_page_that_cannot_be_drawn_keeps_its_boxes() -> None:
    """An empty picture leaves a blank sheet of the page's shape."""
    blank = {1: PageImage(1, 600.0, 900.0, "image/png", b"")}
    drawn = view(document(), parse(TEXT), blank)
    assert not found(drawn, "img") and len(found(drawn, ".blank-sheet")) == 1
    assert len(found(drawn, "a.box")) == 3


def test_places_are_read_from_locators() -> None:
    """Boxes may begin above or left of the page; other fragments name no place."""
    assert box_on_page("#page=12&bbox=-3.5,0.0,100.0,20.5") == (12, (-3.5, 0.0, 100.0, 20.5))
    assert box_on_page("#char=0,5") is None
