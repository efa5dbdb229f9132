"""How type is set: initials, spread letters, capitals, Korean line ends, watermarks (XT-04 to XT-07, XT-09)."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from linkrag_dagster.extraction.pdf.hyphens import Vocabulary, join_lines
from linkrag_dagster.extraction.pdf.letter_spacing import alike_as_one, closed_up
from tests.extraction.test_pdf import Sheet, prose


@pytest.fixture
def sheet() -> Sheet:
    made = Sheet()
    made.turn_over()
    return made


def width(text: str, font: str, size: float) -> float:
    return pymupdf.get_text_length(text, font, size)


@pytest.mark.parametrize("over", [2, 3])
def test_an_initial_begins_the_first_line_beside_it(sheet: Sheet, over: int) -> None:
    """Its foot stands on the last line beside it; its letters belong to the place of the paragraph."""
    lines = prose(1, 7, 400)
    size = 13 * (over - 1) / 0.7 + 10
    sheet.line(60, 100 + 13 * (over - 1), lines[0][0], size=size, font="tiro")
    stands_in = 62 + width(lines[0][0], "tiro", size)
    y = sheet.lines(stands_in, 100, [lines[0][1:], *lines[1:over]])
    y = sheet.lines(60, y, lines[over:])
    sheet.lines(60, y + 20, prose(2, 5, 400))
    result = sheet.read()
    assert result.text.startswith(" ".join(lines) + "\n")
    assert [one.start_char for one in result.locators[:2]] == [0, len(" ".join(lines)) + 2]


def test_an_initial_may_be_a_word(sheet: Sheet) -> None:
    """`A` before a word that the page has elsewhere is one."""
    lines = [
        "river and meadow lie beside the harbour",
        "where a lantern was lit in the winter",
        "before the river rose.",
    ]
    sheet.line(60, 113, "A", size=28, font="tiro")
    sheet.lines(84, 100, lines[:2])
    sheet.lines(60, 126, lines[2:])
    assert sheet.read().text.startswith("A " + " ".join(lines))


def test_a_large_letter_beside_one_line_is_no_initial(sheet: Sheet) -> None:
    sheet.line(60, 100, "B", size=24)
    sheet.line(84, 100, "Notes on the harbour")
    sheet.lines(60, 130, prose(2, 5, 400))
    assert "BNotes" not in sheet.read().text


@pytest.mark.parametrize("spread", [2.0, 4.0])
@pytest.mark.parametrize("size", [12.0, 14.0])
def test_letters_drawn_one_by_one_are_words(sheet: Sheet, size: float, spread: float) -> None:
    """XT-07: spread letters are close enough for some blanks, or for all, and are a word either way."""
    x = 60.0
    for char in "SOURCES OF WATER":
        sheet.line(x, 90, char, size=size, font="hebo")
        x += width(char, "hebo", size) + spread
    sheet.lines(60, 120, prose(1, 6, 400))
    assert sheet.read().text.startswith("# SOURCES OF WATER\n")


def test_neighbours_in_one_font_are_one_span() -> None:
    """XT-07: whatever else, as colours, changes from letter to letter; the spans given stay as they are."""
    fonts = ["helv"] * 3 + ["tiro"] + ["helv"] * 2
    spans = [{"font": f, "size": 9.0, "flags": 0, "color": at, "chars": [at]} for at, f in enumerate(fonts)]
    assert [(one["font"], one["color"], one["chars"]) for one in alike_as_one(spans)] == [
        ("helv", 0, [0, 1, 2]),
        ("tiro", 3, [3]),
        ("helv", 4, [4, 5]),
    ]
    assert [one["chars"] for one in spans] == [[at] for at in range(6)]


def character(char: str, left: float, right: float, *, blank: bool = False) -> dict[str, Any]:
    return {"c": char, "bbox": (left, 0.0, right, 10.0), "synthetic": blank}


def spread(text: str, gap: float) -> list[dict[str, Any]]:
    """Letters 6 points wide; a blank, put in by the library, fills the space before the next letter."""
    made: list[dict[str, Any]] = []
    at = 0.0
    for char in text:
        if char == " ":
            made.append(character(" ", at - gap, at, blank=True))
        else:
            made.append(character(char, at, at + 6.0))
            at += 6.0 + gap
    return made


def test_blanks_that_only_some_spread_letters_got() -> None:
    """Blanks between words, twice as wide, stay; letters that are not spread keep all of them."""
    chars = spread("R EMAR KABLE", 2.0)
    assert "".join(c["c"] for c in closed_up(chars, 10.0)) == "REMARKABLE"
    close = spread("A VALUE", 0.1)
    assert "".join(c["c"] for c in closed_up(close, 10.0)) == "A VALUE"
    two = [*spread("ABCDE", 2.0), character(" ", 38.0, 50.0, blank=True)]
    two += [character(c, 50.0 + 8 * at, 56.0 + 8 * at) for at, c in enumerate("FGHIJ")]
    assert "".join(c["c"] for c in closed_up(two, 10.0)) == "ABCDE FGHIJ"


def test_spans_alike_are_one() -> None:
    one = {"font": "a", "size": 9.0, "flags": 0}
    spans = [{**one, "chars": ["x"]}, {**one, "chars": ["y"]}, {**one, "size": 8.0, "chars": ["z"]}]
    assert [span["chars"] for span in alike_as_one(spans)] == [["x", "y"], ["z"]]


def test_headings_in_capitals(sheet: Sheet) -> None:
    """A line in capitals heads the prose below it; a label below a label, and a sentence, do not."""
    first, second = prose(1, 6, 400), prose(2, 6, 400)
    y = sheet.lines(60, 80, ["SOURCES OF WATER"])
    y = sheet.lines(60, y + 8, first)
    y = sheet.lines(60, y + 12, ["METHODS"])
    y = sheet.lines(60, y + 8, second)
    y = sheet.lines(60, y + 12, ["SOLD AS SEEN."])
    y = sheet.lines(60, y + 12, prose(3, 6, 400))
    y = sheet.lines(60, y + 12, ["PART NUMBER"])
    sheet.lines(60, y + 12, ["SERIAL NUMBER"])
    text = sheet.read().text
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert [line.lstrip("# ") for line in headings] == ["SOURCES OF WATER", "METHODS"]


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["강수량이 감소하", "였다"], "강수량이 감소하였다"),
        (["강수량이 감소하였다", "북부"], "강수량이 감소하였다 북부"),
        (["염분", "농도는"], "염분 농도는"),
    ],
)
def test_korean_words_that_line_ends_broke(lines: list[str], joined: str) -> None:
    """XT-07, XT-09: joined where the document has the whole word, else apart."""
    known = Vocabulary.of(["북부 지역에 감소하였다 새로운", *lines])
    assert join_lines(lines, known) == joined


def test_watermarks_are_furniture() -> None:
    """XT-05: large words over the text of pages go; a title at the same place of pages stays."""
    sheet = Sheet()
    said = [prose(seed, 45, 430) for seed in range(3)]
    for lines in said:
        sheet.turn_over()
        sheet.page.insert_text((100, 430), "CONFIDENTIAL", fontsize=60, color=(0.85, 0.85, 0.85))
        sheet.line(60, 130, "Findings of the Survey", size=24)
        sheet.lines(60, 170, lines)
    result = sheet.read()
    assert "CONFIDENTIAL" not in result.text
    assert result.text.count("Findings of the Survey") == 3
    assert [one.text for one in result.left_out] == ["CONFIDENTIAL"] * 3
    for lines in said:
        assert " ".join(lines) in result.text


def test_large_words_over_the_text_of_one_page_stay(sheet: Sheet) -> None:
    sheet.page.insert_text((100, 430), "APPROVED", fontsize=60, color=(0.85, 0.85, 0.85))
    sheet.lines(60, 170, prose(1, 45, 430))
    assert "APPROVED" in sheet.read().text
