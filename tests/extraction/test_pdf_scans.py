"""PDF pages whose words are not in their text: scans, pictures of text, broken fonts (XT-08, XT-09)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pymupdf
import pytest

from linkrag_dagster.extraction import Extraction, ExtractionError, extract
from linkrag_dagster.extraction.ocr import RecognisedLine
from linkrag_dagster.extraction.ocr.lines import Corners
from linkrag_dagster.extraction.pdf import pages
from tests.extraction.test_ocr import needs_extra

# PyMuPDF's own hints are partial.
LIBRARY = cast("Any", pymupdf)
open_pdf = cast("Callable[..., Any]", LIBRARY.open)

LINES = [
    "The committee approved the proposal of the northern district after a",
    "long debate about its cost and its benefits for the population of the",
    "coast, and the council was asked to grant the funds before October.",
]
TEXT = " ".join(LINES)


def written(lines: list[str], width: float = 420, height: float = 200, size: float = 11) -> Any:
    """A document of one page with lines."""
    document = open_pdf()
    page = document.new_page(width=width, height=height)
    for at, line in enumerate(lines):
        page.insert_text((30, 40 + 15 * at), line, fontsize=size)
    return document


def picture(source: Any, dpi: int = 150) -> bytes:
    return source[0].get_pixmap(dpi=dpi, colorspace="gray").tobytes("jpg")


def scan(source: Any, rotation: int = 0, dpi: int = 150) -> Any:
    """A document with the picture of a page, turned against the clock."""
    box = source[0].rect
    size = (box.width, box.height) if rotation % 180 == 0 else (box.height, box.width)
    document = open_pdf()
    page = document.new_page(width=size[0], height=size[1])
    page.insert_image(page.rect, stream=picture(source, dpi), rotate=rotation)
    return document


def read(document: Any, **ocr: Any) -> Extraction:
    return extract(document.tobytes(), "a.pdf", {"ocr": ocr} if ocr else None)


class Fake:
    """Reads each picture as the same lines, each as wide as its characters ask for."""

    def __init__(self, lines: list[str], confidence: float = 0.95, left: float = 60, top: float = 55) -> None:
        self.lines = lines
        self.confidence = confidence
        self.left, self.top = left, top
        self.pictures = 0

    def read(self, image: Any) -> list[RecognisedLine]:
        del image
        self.pictures += 1
        made: list[RecognisedLine] = []
        for at, text in enumerate(self.lines):
            top = self.top + 40 * at
            right = self.left + 12.5 * len(text)
            corners: Corners = (
                (self.left, top),
                (right, top),
                (right, top + 30),
                (self.left, top + 30),
            )
            made.append(RecognisedLine(text, corners, self.confidence))
        return made


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fake], Fake]:
    """Puts a recogniser in the place of the real one."""

    def put(one: Fake) -> Fake:
        monkeypatch.setattr(pages, "is_installed", lambda: True)
        monkeypatch.setattr(pages, "recogniser", lambda: one)
        return one

    return put


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were not installed."""
    monkeypatch.setattr(pages, "is_installed", lambda: False)


def test_recognised_lines_are_text_with_places_and_confidences(fake: Callable[[Fake], Fake]) -> None:
    """XT-02, XT-08: lines make a paragraph; each has its own box and confidence, the page has their mean."""
    fake(Fake(LINES))
    result = read(scan(written(LINES)))
    assert result.text == TEXT + "\n"
    assert result.needs_ocr
    assert [(page.reading, page.confidence) for page in result.pages] == [("recognised", pytest.approx(0.95))]
    assert [run.confidence for run in result.locators] == [pytest.approx(0.95)] * 3
    boxes = [tuple(map(float, run.locator.split("bbox=")[1].split(","))) for run in result.locators]
    assert [box[1] for box in boxes] == sorted(box[1] for box in boxes)
    assert all(box[3] - box[1] < 15 for box in boxes)


def test_without_the_extra_a_scan_is_no_text(bare: None) -> None:
    """XT-08, XT-11: the error names what to install; a document that is text but for a page says which is missing."""
    with pytest.raises(ExtractionError, match=r'pip install "linkrag-dagster\[ocr\]"') as caught:
        read(scan(written(LINES)))
    assert caught.value.kind == "no_text"
    mixed = written(LINES)
    mixed.insert_pdf(scan(written(LINES)))
    result = read(mixed)
    assert result.text == TEXT + "\n"
    assert [page.reading for page in result.pages] == ["text", "unread"]
    assert "page 2 is without text" in result.warnings[0]
    assert result.needs_ocr


def test_recognition_can_be_switched_off() -> None:
    """XT-08: then the declaration is what to change."""
    with pytest.raises(ExtractionError, match=r"extraction\.ocr\.enabled") as caught:
        read(scan(written(LINES)), enabled=False)
    assert caught.value.kind == "no_text"


@pytest.mark.parametrize(
    ("confidence", "reading"), [(0.95, "recognised"), (0.7, "doubtful"), (0.4, "left_out")]
)
def test_thresholds(confidence: float, reading: str, fake: Callable[[Fake], Fake]) -> None:
    """XT-08: below the first a page is marked, below the second its words are rows that say so, and no text."""
    fake(Fake(LINES, confidence))
    document = written(["A page of ordinary text comes before the scan."])
    document.insert_pdf(scan(written(LINES)))
    result = read(document)
    assert result.pages[1].reading == reading
    assert result.pages[1].confidence == pytest.approx(confidence)
    out = [one for one in result.left_out if one.reason == "low_confidence"]
    if reading == "left_out":
        assert "committee" not in result.text
        assert [one.text for one in out] == LINES
        assert all(one.page == 2 and one.confidence == pytest.approx(confidence) for one in out)
        assert "page 2 is recognised with less confidence" in result.warnings[0]
    else:
        assert TEXT in result.text
        assert not out
    lower = extract(document.tobytes(), "a.pdf", {"ocr": {"leave_out_below": 0.1, "mark_below": 0.2}})
    assert lower.pages[1].reading == "recognised"


def test_a_document_that_is_read_badly_throughout_says_so(fake: Callable[[Fake], Fake]) -> None:
    """XT-11: a document with no text is never a success."""
    fake(Fake(LINES, 0.3))
    with pytest.raises(ExtractionError, match=r"confidence of 0\.30") as caught:
        read(scan(written(LINES)))
    assert caught.value.kind == "no_text"


def test_pages_are_routed_one_by_one(fake: Callable[[Fake], Fake]) -> None:
    """XT-08: pages with text, blank pages and photographs are not recognised; a picture of text in a page is."""
    one = fake(Fake(LINES, left=75, top=80))
    document = written(["Nothing but text stands on this page of the document."])
    document.new_page(width=420, height=200)
    assert read(document).pages[0].confidence is None
    assert one.pictures == 0
    page = document[0]
    page.insert_image((30, 60, 390, 190), stream=picture(written(LINES, width=360, height=130), 100))
    result = read(document)
    assert one.pictures >= 1
    assert [page.reading for page in result.pages] == ["recognised", "text"]
    assert TEXT in result.text
    assert "![" not in result.text


def test_charts_and_photographs_stay_figures(fake: Callable[[Fake], Fake]) -> None:
    """XT-06, XT-08: a picture that is more than its few words is no text."""
    one = fake(Fake(["Q1 Q2 Q3"]))
    chart = open_pdf()
    page = chart.new_page(width=360, height=130)
    for at in range(8):
        page.draw_rect((20 + 40 * at, 120 - 12 * (at % 5 + 2), 44 + 40 * at, 120), fill=(0, 0, 0.5))
        page.draw_line((10, 10 + 14 * at), (350, 10 + 14 * at))
    document = written(LINES)
    document[0].insert_image((30, 90, 390, 190), stream=picture(chart, 100))
    result = read(document)
    assert "Q1 Q2" not in result.text
    assert "![](#page=1" in result.text
    assert one.pictures <= 2


def test_words_on_top_of_a_scan_come_once(fake: Callable[[Fake], Fake]) -> None:
    """XT-09: a stamp over a scan is its own text; recognition reads it too."""
    fake(Fake(["CONFIDENTIAL 000123", *LINES]))
    document = scan(written(["", *LINES]))
    document[0].insert_text((22, 29), "CONFIDENTIAL 000123", fontsize=11)
    result = read(document)
    assert result.text.count("CONFIDENTIAL") == 1
    assert "committee approved" in result.text


def test_a_hidden_text_layer_is_read(fake: Callable[[Fake], Fake]) -> None:
    """XT-09: a scan that was recognised before has its words under the picture; they aren't recognised again."""
    one = fake(Fake(["something else"]))
    document = scan(written(LINES))
    for at, line in enumerate(LINES):
        document[0].insert_text((30, 40 + 15 * at), line, fontsize=11, render_mode=3)
    assert read(document).text == TEXT + "\n"
    assert one.pictures == 0


def test_hidden_words_under_visible_ones_come_once() -> None:
    """XT-09."""
    document = written(LINES)
    for at, line in enumerate(LINES):
        document[0].insert_text((30, 40 + 15 * at), line, fontsize=11, render_mode=3)
    assert read(document).text == TEXT + "\n"


def _without_unicode(document: Any) -> Any:
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "ToUnicode")[0] != "null":
            document.xref_set_key(xref, "ToUnicode", "null")
    return document


def _typeset(words: str) -> Any:
    document = open_pdf()
    page = document.new_page(width=420, height=200)
    page.insert_htmlbox(pymupdf.Rect(30, 30, 390, 180), f"<p>{words}</p>")
    return document


def test_fonts_without_unicode_are_recognised(fake: Callable[[Fake], Fake]) -> None:
    """XT-08: characters that stand for nothing are replaced, and kept as rows that say so."""
    fake(Fake(LINES))
    result = read(_without_unicode(_typeset(TEXT)))
    assert result.text == TEXT + "\n"
    assert {one.reason for one in result.left_out} == {"unreadable"}


def test_letters_that_stand_for_others_are_compared(fake: Callable[[Fake], Fake]) -> None:
    """XT-08: letters that look wrong stay where recognition says the same, and go where it is sure of other words."""
    turned = [re.sub("[a-z]", lambda m: chr((ord(m[0]) - 97 + 3) % 26 + 97), line) for line in LINES]
    shifted = written(turned)
    fake(Fake(turned))
    assert "committee" not in read(shifted).text
    fake(Fake(LINES))
    assert read(shifted).text == TEXT + "\n"
    fake(Fake(LINES, 0.6))
    assert "committee" not in read(shifted).text


def test_accents_that_are_none(fake: Callable[[Fake], Fake]) -> None:
    """XT-08: an accent goes where the document writes the word without."""
    fake(
        Fake(
            [
                "The MIDI port and the MIDI clock drive the MÍDI thru",
                "of the café beside the naïve museum hall.",
            ]
        )
    )
    text = read(scan(written(LINES))).text
    assert "MÍDI" not in text
    assert "café" in text


def test_bullets_and_numbers_get_their_blank(fake: Callable[[Fake], Fake]) -> None:
    """XT-06, XT-08: recognition loses it; without it a list is no list, and a section no heading."""
    fake(Fake(["1.2虚拟控制台", "•在任意用户的提示符下输入", "•保存当前用户的设定"]))
    assert (
        read(scan(written(LINES))).text
        == "# 1.2 虚拟控制台\n\n- 在任意用户的提示符下输入\n- 保存当前用户的设定\n"
    )


def test_forms_are_read_label_by_label() -> None:
    """XT-09: what is typed in stands behind its label; boxes are ticked or not."""
    document = open_pdf()
    page = document.new_page()
    fields = [
        ("Applicant name", "Margarete Oberhuber"),
        ("Street address", "14 Harbour Lane"),
        ("Boats", "3 of them"),
    ]
    for at, (label, value) in enumerate(fields):
        y = 120 + at * 30
        page.insert_text((72, y + 12), label + ":", fontsize=10)
        widget: Any = pymupdf.Widget()
        widget.field_type, widget.field_name = LIBRARY.PDF_WIDGET_TYPE_TEXT, label
        widget.rect, widget.field_value, widget.text_fontsize = pymupdf.Rect(180, y, 400, y + 16), value, 10
        page.add_widget(widget)
    for at, (label, on) in enumerate([("Commercial use", True), ("Private use", False)]):
        y = 220 + at * 20
        widget = pymupdf.Widget()
        widget.field_type, widget.field_name = LIBRARY.PDF_WIDGET_TYPE_CHECKBOX, label
        widget.rect, widget.field_value = pymupdf.Rect(72, y, 84, y + 12), on
        page.add_widget(widget)
        page.insert_text((92, y + 10), label, fontsize=10)
    text = read(document).text
    for label, value in fields:
        assert f"{label}: {value}" in text
    assert "- [x] Commercial use\n- [ ] Private use" in text


def test_words_painted_twice_come_once() -> None:
    """XT-03: bold type and shadows that are made by painting again."""
    document = written(LINES)
    for shift in (0.0, 0.4, 0.8):
        document[0].insert_text((30 + shift, 120 + shift), "Imitated Bold Words", fontsize=14)
    assert read(document).text.count("Imitated") == 1


@pytest.mark.parametrize(
    ("words", "gap", "expected"),
    [("INTRODUCTION TO METHODS", 3.0, "INTRODUCTION TO METHODS"), ("abcdefg", 3.0, "a b c d e f g")],
)
def test_spread_letters_are_words(words: str, gap: float, expected: str) -> None:
    """XT-07: but letters in the order of the alphabet are no word."""
    document = written(LINES)
    writer: Any = pymupdf.TextWriter(document[0].rect)
    x = 30.0
    for char in words:
        writer.append((x, 120), char, font=LIBRARY.Font("helv"), fontsize=12)
        x += LIBRARY.Font("helv").text_length(char, 12) + gap
    writer.write_text(document[0])
    assert expected in read(document).text


def test_vertical_writing() -> None:
    """XT-09: columns from the right to the left, although each character is placed by itself, row by row."""
    words = "海面温度比季节平均值高出二点四度观测站记录到海藻林冠层显著减少潜水员沿十二条固定样线清点"
    document = open_pdf()
    page = document.new_page()
    writer: Any = pymupdf.TextWriter(page.rect)
    font = pymupdf.Font("china-s")
    places = [(480 - 20 * (at // 11), 80 + 13 * (at % 11), char) for at, char in enumerate(words)]
    for x, y, char in sorted(places, key=lambda place: (place[1], place[0])):
        writer.append((x, y), char, font=font, fontsize=12)
    writer.write_text(page)
    assert read(document).text == words + "\n"


def test_watermarks_are_left_out() -> None:
    """XT-05: words that run askew are no text of the page, and a row says so."""
    document = written(LINES)
    document[0].insert_text(
        (150, 150), "DRAFT", fontsize=40, morph=(pymupdf.Point(150, 150), pymupdf.Matrix(45))
    )
    result = read(document)
    assert result.text == TEXT + "\n"
    assert [(one.text, one.reason) for one in result.left_out] == [("DRAFT", "sideways")]


@needs_extra
@pytest.mark.slow
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_scans_in_any_direction(rotation: int) -> None:
    """XT-08: offline, by the real recogniser; boxes are where the words are on the page as shown."""
    result = read(scan(written(LINES), rotation))
    assert " ".join(result.text.split()) == TEXT
    assert result.pages[0].reading == "recognised"
    boxes = [tuple(map(float, run.locator.split("bbox=")[1].split(","))) for run in result.locators]
    first, last = boxes[0], boxes[-1]
    before = {0: first[1] < last[1], 180: first[1] > last[1], 90: first[0] < last[0], 270: first[0] > last[0]}
    assert before[rotation]


@needs_extra
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "least"),
    [
        ("scan_linn.pdf", "One way to create a song is to record each track all the way through", 0.9),
        ("scan_zh.pdf", "它一般运行在虚拟控制台2", 0.9),
        ("scan_rot90.pdf", "JSON and Markdown in an easy self contained package", 0.9),
    ],
)
def test_the_shared_scans(shared: Path, name: str, words: str, least: float) -> None:
    """XT-13: two columns, Chinese, a page on its side."""
    result = extract((shared / "extract/files" / name).read_bytes(), name)
    assert words in result.text
    assert result.pages[0].confidence is not None
    assert result.pages[0].confidence >= least


def test_logos_and_shaded_drawings_are_not_recognised(fake: Callable[[Fake], Fake]) -> None:
    """XT-08, XT-12: a name under an emblem, a picture without plain ground, a drawing put together from parts."""
    one = fake(Fake(LINES))
    logo = written(["", "", "", "HARBOUR AUTO REPAIR"], width=200, height=110)
    logo[0].draw_rect((30, 10, 170, 60), fill=(0.7, 0, 0))
    shaded = written(LINES, width=360, height=110)
    for at in range(36):
        shaded[0].draw_rect((10 * at, 0, 10 * at + 10, 110), fill=(at / 36,) * 3, color=None, overlay=False)
    document = written(LINES, width=420, height=500)
    page = document[0]
    page.insert_image((30, 100, 230, 210), stream=picture(logo, 100))
    page.insert_image((30, 220, 390, 330), stream=picture(shaded, 100))
    text = written(LINES, width=360, height=110)
    page.insert_image((30, 340, 390, 450), stream=picture(text, 100))
    for at in range(5):
        page.insert_image((40 + 60 * at, 430, 80 + 60 * at, 445), stream=picture(logo, 20))
    result = read(document)
    assert one.pictures == 0
    assert not result.needs_ocr
