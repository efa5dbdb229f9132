"""Where the characters of a PDF's text stand: boxes against the words of the page (XT-02)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.extraction import Extraction, extract

LIBRARY = cast("Any", pymupdf)
open_pdf = cast("Callable[..., Any]", LIBRARY.open)

SLACK = 1.5
"""Points: boxes have one decimal, and the library's words the height of their font."""


class Press:
    """Sets words that are each another one, so that each tells its place: `kama17`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.document = open_pdf()
        self.page: Any = None
        self.count = 0
        self.rotation = 0

    def turn_over(self, rotation: int) -> None:
        """A further page, which asks to be shown turned by `rotation`."""
        size = (595, 842) if rotation % 180 == 0 else (842, 595)
        self.page = self.document.new_page(width=size[0], height=size[1])
        self.page.set_rotation(rotation)
        self.rotation = rotation

    def word(self) -> str:
        self.count += 1
        syllables = "".join(
            self.random.choice("bdfgklmnprstvz") + self.random.choice("aeiou") for _ in range(2)
        )
        return f"{syllables}{self.count}"

    def put(self, x: float, y: float, text: str, size: float = 10, font: str = "helv") -> None:
        at = pymupdf.Point(x, y) * self.page.derotation_matrix
        self.page.insert_text(at, text, fontsize=size, fontname=font, rotate=self.rotation)

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        turned = self.page.derotation_matrix
        self.page.draw_line(pymupdf.Point(x0, y0) * turned, pymupdf.Point(x1, y1) * turned)

    def paragraph(self, x: float, y: float, width: float, lines: int) -> float:
        for _ in range(lines):
            line = self.word().title()
            while True:
                longer = f"{line} {self.word()}"
                if pymupdf.get_text_length(longer, "helv", 10) > width:
                    break
                line = longer
            self.put(x, y, line)
            y += 12.5
        return y + 8

    def heading(self, x: float, y: float) -> float:
        self.put(x, y + 6, f"{self.word()} {self.word()}", 14, "hebo")
        return y + 24

    def columns(self, y: float, lines: int) -> float:
        for x in (60, 310):
            end = self.paragraph(x, y, 220, lines)
        return end

    def table(self, x: float, y: float, rows: int, *, ruled: bool) -> float:
        for row in range(rows):
            for column in range(4):
                self.put(x + 4 + 100 * column, y + 13 + 18 * row, self.word(), 9)
        bottom = y + 18 * rows
        if ruled:
            for row in range(rows + 1):
                self.rule(x, y + 18 * row, x + 400, y + 18 * row)
            for column in range(5):
                self.rule(x + 100 * column, y, x + 100 * column, bottom)
        return bottom + 20


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Pages of paragraphs, columns, tables with and without rules, and headings; some are to be shown turned."""
    press = Press(draw(st.integers(0, 10_000)))
    kinds = st.sampled_from(["paragraph", "heading", "columns", "ruled", "aligned"])
    for _ in range(draw(st.integers(1, 2))):
        press.turn_over(draw(st.sampled_from([0, 0, 90, 180, 270])))
        y = 110.0
        for kind in draw(st.lists(kinds, min_size=1, max_size=4)):
            match kind:
                case "paragraph":
                    y = press.paragraph(60, y, draw(st.sampled_from([250, 470])), draw(st.integers(1, 4)))
                case "heading":
                    y = press.heading(60, y)
                case "columns":
                    y = press.columns(y, draw(st.integers(4, 6)))
                case _:
                    y = press.table(60, y, draw(st.integers(3, 5)), ruled=kind == "ruled")
    return press.document.tobytes()


def box_of(locator: str) -> tuple[int, tuple[float, ...]]:
    found = re.fullmatch(r"#page=(\d+)&bbox=(.*)", locator)
    assert found is not None
    return int(found[1]), tuple(map(float, found[2].split(",")))


def shown_words(data: bytes) -> dict[tuple[int, str], tuple[float, float, float, float]]:
    """(page, word) → its box on the page as shown, for the words of `Press`, each of which is there once."""
    found: dict[tuple[int, str], tuple[float, float, float, float]] = {}
    with open_pdf(stream=data, filetype="pdf") as document:
        for number, page in enumerate(document, start=1):
            for left, top, right, bottom, word, *_ in page.get_text("words"):
                box = pymupdf.Rect(left, top, right, bottom) * page.rotation_matrix
                found[number, word] = (box.x0, box.y0, box.x1, box.y1)
    return found


def words_in(result: Extraction, start: int, end: int) -> list[str]:
    return re.findall(r"[A-Za-z]{4}\d+", result.text[start:end])


def assert_covered(result: Extraction) -> None:
    """Every character that is not white belongs to one locator; they are in order and do not overlap."""
    at = 0
    for locator in result.locators:
        assert at <= locator.start_char < locator.end_char
        assert not result.text[at : locator.start_char].strip()
        at = locator.end_char
    assert not result.text[at:].strip()


@settings(max_examples=25, deadline=None)
@given(documents())
def test_boxes_enclose_the_words_of_their_characters_and_no_others(data: bytes) -> None:
    """XT-02: from each locator's characters to the page's words, and back from its box to the characters."""
    result = extract(data, "a.pdf")
    assert_covered(result)
    places = shown_words(data)
    said: list[str] = []
    for locator in result.locators:
        page, box = box_of(locator.locator)
        mine = words_in(result, locator.start_char, locator.end_char)
        said += mine
        boxes = [places[page, word] for word in mine]
        for left, top, right, bottom in boxes:
            assert box[0] - SLACK <= left
            assert right <= box[2] + SLACK
            # The library's words are as high as their font says, ours as their glyphs: the middle tells the line.
            assert box[1] - SLACK <= (top + bottom) / 2 <= box[3] + SLACK
        # Nothing beyond the block: no edge is further out than the outermost of its own words.
        outer = [min(b[0] for b in boxes), min(b[1] for b in boxes)] + [
            max(b[side] for b in boxes) for side in (2, 3)
        ]
        assert all(box[side] >= outer[side] - SLACK for side in (0, 1))
        assert all(box[side] <= outer[side] + SLACK for side in (2, 3))
        inside = {
            word
            for (number, word), (left, top, right, bottom) in places.items()
            if number == page
            and box[0] < (left + right) / 2 < box[2]
            and box[1] < (top + bottom) / 2 < box[3]
        }
        assert inside == set(mine)
    assert sorted(said) == sorted(word for _, word in places)


@pytest.mark.parametrize(
    "name", ["fr_3col", "nics_table", "debref_zh", "arabic", "latex_2col", "synth_rows_2col"]
)
def test_the_shared_documents_have_all_characters_located(shared: Path, name: str) -> None:
    """XT-02, XT-13: on documents as they come."""
    result = extract((shared / f"extract/files/{name}.pdf").read_bytes(), f"{name}.pdf")
    assert_covered(result)
    size = {page.page for page in result.pages}
    for locator in result.locators:
        page, (left, top, right, bottom) = box_of(locator.locator)
        assert page in size
        assert left < right
        assert top < bottom
