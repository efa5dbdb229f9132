"""Boxes that do not enclose the glyphs of their characters, or more than their block, end as failures (XT-02)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkrag_dagster.extraction.pdf.writing as writing
from linkrag_dagster.extraction import ExtractionError, extract
from linkrag_dagster.extraction.locators import Box, Locator, box_on_page, page_locator
from linkrag_dagster.extraction.pdf.page_reader import read_page
from linkrag_dagster.extraction.pdf.place_contract import check_places
from linkrag_dagster.extraction.pdf.words import LEAST_EXTENT, PageText, on_page
from tests.extraction.test_pdf_places import Press, documents, open_pdf

LIBRARY: Any = pymupdf


def words_of(data: bytes) -> list[PageText]:
    with open_pdf(stream=data, filetype="pdf") as document:
        return [read_page(page, number) for number, page in enumerate(document, start=1)]


def moved(locator: Locator, by: Box) -> Locator:
    found = box_on_page(locator.locator)
    assert found is not None
    page, box = found
    return replace(
        locator,
        locator=page_locator(page, cast("Box", tuple(a + b for a, b in zip(box, by, strict=True)))),
    )


def check(text: str, locators: Sequence[Locator], data: bytes) -> None:
    check_places("a.pdf", text, locators, words_of(data))


@settings(max_examples=25, deadline=None)
@given(documents(), st.data())
def test_no_edge_can_be_moved(data: bytes, draw: st.DataObject) -> None:
    """XT-02: as they are the boxes pass; one that is a point larger or smaller on any side does not."""
    found = extract(data, "a.pdf")
    check(found.text, found.locators, data)
    at = draw.draw(st.integers(0, len(found.locators) - 1))
    side = draw.draw(st.integers(0, 3))
    by = draw.draw(st.sampled_from([-1.0, 1.0])) * draw.draw(st.floats(1.0, 40.0))
    wrong = list(found.locators)
    wrong[at] = moved(wrong[at], cast("Box", tuple(by if s == side else 0.0 for s in range(4))))
    with pytest.raises(ExtractionError, match=r"misses|reaches beyond its block") as raised:
        check(found.text, wrong, data)
    assert raised.value.kind == "contract" and raised.value.message.startswith("a.pdf: the box of")


@pytest.fixture(scope="module")
def two_paragraphs() -> bytes:
    press = Press(1)
    press.turn_over(0)
    press.paragraph(60, press.heading(60, 110), 400, 3)
    press.turn_over(0)
    press.paragraph(60, 110, 400, 3)
    return press.document.tobytes()


def test_boxes_of_others(two_paragraphs: bytes) -> None:
    """XT-02: the neighbour's box, the same box on another page, a page that is not there, one box a page."""
    found = extract(two_paragraphs, "a.pdf")
    first, second, third = found.locators
    whole = "#page=1&bbox=0.0,0.0,595.0,842.0"
    for wrong in (
        [replace(first, locator=second.locator), replace(second, locator=first.locator), third],
        [first, second, replace(third, locator=third.locator.replace("page=2", "page=1"))],
        [first, second, replace(third, locator=third.locator.replace("page=2", "page=3"))],
        [replace(first, locator=whole), replace(second, locator=whole), third],
        [first, replace(second, locator="#char=0,10"), third],
    ):
        with pytest.raises(ExtractionError) as raised:
            check(found.text, wrong, two_paragraphs)
        assert raised.value.kind == "contract" and not raised.value.retryable


def test_a_box_around_two_blocks(two_paragraphs: bytes) -> None:
    """XT-02: the union of a heading's box and its paragraph's is neither's."""
    found = extract(two_paragraphs, "a.pdf")
    first, second, third = found.locators
    (_, one), (page, other) = (cast("tuple[int, Box]", box_on_page(run.locator)) for run in (first, second))
    both = page_locator(
        page, (min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3]))
    )
    for wrong in (
        [replace(first, locator=both), second, third],
        [first, replace(second, locator=both), third],
    ):
        with pytest.raises(ExtractionError, match="reaches beyond its block"):
            check(found.text, wrong, two_paragraphs)


def test_a_line_that_is_not_in_the_box(two_paragraphs: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """XT-02: a fault of the writer is no text with wrong places, but a failure that names the document."""
    right = cast("Any", writing).union

    def first_of(places: Any) -> Box:
        return right(list(places)[:1])

    monkeypatch.setattr(writing, "union", first_of)
    with pytest.raises(ExtractionError, match=r"a\.pdf: the box of .* misses") as raised:
        extract(two_paragraphs, "a.pdf")
    assert raised.value.kind == "contract"


def test_cells_that_span_are_written_twice_and_stand_once() -> None:
    """XT-06: the words of a spanning cell are in each column of the row, and once on the page."""
    press = Press(3)
    press.turn_over(0)
    for y in (100, 120, 140, 160):
        press.rule(60, y, 360, y)
    for x in (60, 160, 260, 360):
        press.rule(x, 120 if x == 260 else 100, x, 160)
    press.put(64, 113, press.word(), 9)
    press.put(170, 113, "Measured twice", 9)
    for row in range(2):
        for column in range(3):
            press.put(64 + 100 * column, 133 + 20 * row, press.word(), 9)
    data = press.document.tobytes()
    found = extract(data, "a.pdf")
    assert found.text.count("Measured twice") > 1
    check(found.text, found.locators, data)


@given(
    st.tuples(*[st.floats(-50, 250)] * 4) | st.tuples(*[st.just(float("nan"))] * 4),
    st.tuples(st.floats(10, 200), st.floats(10, 200)),
)
def test_places_are_on_the_page(box: Box, size: tuple[float, float]) -> None:
    """XT-02: glyphs that hang over the page's edge count as far as they are on it; none has no extent."""
    left, top, right, bottom = on_page(box, size)
    assert left >= 0 and top >= 0 and right <= size[0] + 1e-9 and bottom <= size[1] + 1e-9
    assert right - left >= LEAST_EXTENT - 1e-9 and bottom - top >= LEAST_EXTENT - 1e-9
    assert on_page((left, top, right, bottom), size) == pytest.approx((left, top, right, bottom))


def test_glyphs_that_hang_over_the_edges() -> None:
    """XT-02: text that runs off the page, is cut by the crop box, or has no height is found, on its page."""
    document: Any = pymupdf.open()  # pyright: ignore[reportUnknownMemberType]
    page = document.new_page(width=300, height=200)
    for x, y, words in (
        (250, 50, "beyond the right edge"),
        (-20, 100, "before the left"),
        (50, 3, "above"),
        (50, 201, "below"),
    ):
        page.insert_text((x, y), words, fontsize=12)
    for crop in (None, pymupdf.Rect(60, 30, 280, 180)):
        if crop is not None:
            page.set_cropbox(crop)
        found = extract(document.tobytes(), "a.pdf")
        width, height = (300, 200) if crop is None else (220, 150)
        assert (found.pages[0].width, found.pages[0].height) == (width, height)
        for run in found.locators:
            _, box = cast("tuple[int, Box]", box_on_page(run.locator))
            assert 0 <= box[0] < box[2] <= width and 0 <= box[1] < box[3] <= height


@pytest.mark.parametrize(
    "lines",
    [
        ["|x|x| is a regular expression"],
        [f"|0|0|1|{row}" for row in range(5)],
        ["![Logo](logo.png)"],
        ["- [x] done", "- [ ] to do"],
        ["\ufffc", "\ufffc0", "\ufffc7 words"],
    ],
)
@pytest.mark.parametrize("font", ["helv", "cour", "cjk"])
def test_words_that_look_like_markdown_or_like_what_stands_for_tables(lines: list[str], font: str) -> None:
    """XT-02, XT-06: whatever the page's own words look like, they are read, and their boxes are theirs."""
    document = LIBRARY.open()
    page = document.new_page()
    for at in range(6):
        page.insert_text(
            (50, 60 + 12 * at), "Herring comes in at the north quay before it is light.", fontsize=10
        )
    writer = LIBRARY.TextWriter(page.rect)
    for at, line in enumerate(lines):
        writer.append((50, 240 + 12 * at), line, font=LIBRARY.Font(font), fontsize=10)
    writer.write_text(page)
    result = extract(document.tobytes(), "a.pdf")
    assert result.text.count("Herring") == 6
    for line in lines:
        for word in re.findall(r"\w{2,}", line):
            assert word in result.text
