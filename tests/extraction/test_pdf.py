"""PDF documents: reading order, structure, furniture, places, failures (XT-02 to XT-07, XT-11)."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pymupdf
import pytest

from linkrag_dagster.extraction import Extraction, ExtractionError, extract
from linkrag_dagster.extraction.pdf.hyphens import Vocabulary, join_lines
from linkrag_dagster.markdown import parse

_WORDS = """
river stone lantern harbour window garden copper winter signal meadow
thunder basket candle forest mirror pepper marble saddle timber velvet
"""
WORDS = _WORDS.split()

# PyMuPDF's own hints are partial.
open_pdf = cast("Callable[..., Any]", cast("Any", pymupdf).open)


def prose(seed: int, lines: int, width: float = 220) -> list[str]:
    """A paragraph of so many lines, broken where the next word doesn't fit: a capital first, a stop last."""
    chosen = random.Random(seed)
    made: list[str] = []
    line = chosen.choice(WORDS).title()
    while len(made) < lines:
        word = chosen.choice(WORDS)
        if pymupdf.get_text_length(f"{line} {word}", "helv", 10) > width:
            made.append(line)
            line = word
        else:
            line += " " + word
    return [*made[:-1], made[-1] + "."]


class Sheet:
    """A document of A4 pages on which lines are written where a test says."""

    def __init__(self) -> None:
        self.document = open_pdf()
        self.page: Any = None

    def turn_over(self) -> None:
        self.page = self.document.new_page(width=595, height=842)

    def line(self, x: float, y: float, text: str, size: float = 10, font: str = "helv") -> None:
        self.page.insert_text((x, y), text, fontsize=size, fontname=font)

    def lines(self, x: float, y: float, texts: Sequence[str], **how: Any) -> float:
        for text in texts:
            self.line(x, y, text, **how)
            y += 13
        return y

    def grid(self, x: Sequence[float], y: Sequence[float]) -> None:
        for at in x:
            self.page.draw_line((at, y[0]), (at, y[-1]))
        for at in y:
            self.page.draw_line((x[0], at), (x[-1], at))

    def bytes(self, **how: Any) -> bytes:
        return self.document.tobytes(**how)

    def read(self) -> Extraction:
        return extract(self.bytes(), "a.pdf")


@pytest.fixture
def sheet() -> Sheet:
    made = Sheet()
    made.turn_over()
    return made


def test_lines_become_paragraphs(sheet: Sheet) -> None:
    """Lines are joined; a gap, a first line that stands in, and a line ended early begin a paragraph."""
    one, two, three, four = (prose(seed, 3) for seed in range(4))
    y = sheet.lines(72, 100, one)
    y = sheet.lines(72, y + 10, two)
    sheet.line(92, y, three[0])
    y = sheet.lines(72, y + 13, three[1:])
    sheet.line(72, y, "A line ended early.")
    sheet.lines(72, y + 13, four)
    text = sheet.read().text
    expected = [" ".join(one), " ".join(two), " ".join(three) + " A line ended early.", " ".join(four)]
    assert " ".join(text.split()) == " ".join(expected)
    assert text.split("\n\n")[:2] == expected[:2]
    assert text.split("\n\n")[2].startswith(three[0])
    assert text.split("\n\n")[-1] == expected[-1] + "\n"


@pytest.mark.parametrize("order", ["columns", "rows", "reversed", "shuffled"])
@pytest.mark.parametrize("offset", [0, 5])
def test_columns_never_interleave(order: str, offset: int) -> None:
    """XT-04: however they are drawn, level or not; a title across both cuts the flow."""
    columns = [(x, prose(seed, 12)) for seed, x in enumerate((60, 310))]
    below = [(x, prose(seed, 10)) for seed, x in enumerate((60, 310), start=2)]
    strokes: list[tuple[float, float, str, float]] = [(180, 270, "A Title Across Both Columns Here", 15)]
    for top, pair in ((80, columns), (300, below)):
        for number, (x, lines) in enumerate(pair):
            strokes += [(x, top + number * offset + 13 * row, line, 10) for row, line in enumerate(lines)]
    if order == "rows":
        strokes.sort(key=lambda stroke: (stroke[1], stroke[0]))
    elif order == "reversed":
        strokes.reverse()
    elif order == "shuffled":
        random.Random(5).shuffle(strokes)
    sheet = Sheet()
    sheet.turn_over()
    for x, y, line, size in strokes:
        sheet.line(x, y, line, size=size)
    text = " ".join(sheet.read().text.replace("#", "").split())
    expected = (
        [lines for _, lines in columns]
        + [["A Title Across Both Columns Here"]]
        + [lines for _, lines in below]
    )
    assert text == " ".join(itertools.chain.from_iterable(expected))


def test_paragraphs_go_on_in_the_next_column_and_page(sheet: Sheet) -> None:
    """XT-07: joined where they don't end; the pages' ranges meet inside the paragraph."""
    first, second, third = (prose(seed, 45) for seed in range(3))
    first[-1] = first[-1].removesuffix(".")
    second[-1] = second[-1].removesuffix(".")
    second[0], third[0] = second[0].lower(), third[0].lower()
    sheet.lines(60, 110, first)
    sheet.lines(310, 110, second)
    sheet.turn_over()
    sheet.lines(60, 110, third)
    result = sheet.read()
    assert result.text == " ".join([*first, *second, *third]) + "\n"
    assert [result.text[page.start_char : page.end_char] for page in result.pages] == [
        " ".join([*first, *second]),
        " ".join(third),
    ]
    assert [locator.locator.split("&")[0] for locator in result.locators] == ["#page=1", "#page=1", "#page=2"]


def test_headings(sheet: Sheet) -> None:
    """XT-06: by size, then by weight; a bold sentence and a caption are none."""
    sheet.line(72, 100, "The Title of It", size=20)
    y = sheet.lines(72, 130, prose(1, 6))
    sheet.line(72, y + 20, "A Section", size=14)
    y = sheet.lines(72, y + 40, prose(2, 6))
    sheet.line(72, y + 12, "A bold heading", font="hebo")
    y = sheet.lines(72, y + 26, prose(3, 6))
    sheet.line(72, y + 14, "A bold sentence that ends with a stop.", font="hebo")
    sheet.lines(72, y + 32, prose(4, 6))
    result = sheet.read()
    found = [(element.level, element.title) for element in parse(result.text) if element.kind == "heading"]
    assert found == [(1, "The Title of It"), (2, "A Section"), (3, "A bold heading")]
    assert result.title == "The Title of It"


def test_the_outline_decides(sheet: Sheet) -> None:
    """A heading of the document's own outline has its level, whatever its size."""
    sheet.line(72, 100, "Named", size=11)
    y = sheet.lines(72, 120, prose(1, 5))
    sheet.line(72, y + 10, "Deeper", size=16)
    sheet.lines(72, y + 30, prose(2, 5))
    sheet.document.set_toc([[1, "Named", 1], [2, "Deeper", 1]])
    sheet.document.set_metadata({"title": "Declared"})
    result = sheet.read()
    assert [element.level for element in parse(result.text) if element.kind == "heading"] == [1, 2]
    assert result.title == "Declared"


def test_furniture_is_left_out() -> None:
    """XT-05: repeated rows in the margins, whatever their numbers; page numbers; words turned against the text."""
    sheet = Sheet()
    for number in range(4):
        sheet.turn_over()
        sheet.line(72, 40, f"Report 2025 · Section {number}", size=8)
        sheet.lines(72, 100, prose(number, 20))
        sheet.line(290, 810, str(number + 7), size=8)
        sheet.page.insert_text((580, 500), "DRAFT STAMP", fontsize=8, rotate=90)
    text = sheet.read().text
    assert "Report" not in text
    assert "DRAFT" not in text
    assert not re.search(r"^\d+$", text, re.MULTILINE)
    assert all(" ".join(prose(number, 20)) in text for number in range(4))


def test_a_number_in_the_text_is_no_page_number(sheet: Sheet) -> None:
    """Only the outermost row of the margin is one."""
    sheet.lines(72, 100, prose(1, 20))
    sheet.line(72, 400, "42")
    assert "42" in sheet.read().text


def test_lists_and_code(sheet: Sheet) -> None:
    """XT-06: bullets, numbers, listings with their indentation and blank lines."""
    y = sheet.lines(72, 100, prose(1, 4))
    sheet.lines(72, y + 8, ["• first point", "• second point that goes on", "  in another line"])
    sheet.lines(72, 230, ["1. one", "2. two"])
    for at, line in enumerate(["def f():", "    if x:", "        return `1`", "", "f()"]):
        if line:
            sheet.line(72, 280 + 11 * at, line, size=9, font="cour")
    sheet.lines(72, 360, prose(2, 4))
    text = sheet.read().text
    assert "- first point\n- second point that goes on in another line\n" in text
    assert "\n1. one\n2. two\n" in text
    assert "```\ndef f():\n    if x:\n        return `1`\n\nf()\n```" in text


def test_words_are_no_markup(sheet: Sheet) -> None:
    """What would be taken for markup is escaped; what would not is as it was."""
    for at, words in enumerate(["# no heading", "> no quote", "a*b and <div>", "2 * 3, a_b, 5 < 6 [1]"]):
        sheet.line(72, 100 + 30 * at, words)
    assert (
        sheet.read().text == "\\# no heading\n\n\\> no quote\n\na\\*b and \\<div>\n\n2 * 3, a_b, 5 < 6 [1]\n"
    )


def test_tables(sheet: Sheet) -> None:
    """XT-03, XT-06: whole cells of ruled tables, broken cells joined, spans repeated, text around kept in order."""
    y = sheet.lines(72, 100, prose(1, 4))
    sheet.line(72, 410, "After the table.")
    xs, ys = [72, 200, 300, 400], [180, 200, 220, 250, 270]
    sheet.grid(xs, ys)
    rows = [
        ["name", "value", "note"],
        ["a|b", "1,178.5", "x y"],
        ["wide words", "0.5", "two"],
        ["sum", "", ""],
    ]
    for row, (cells, y) in enumerate(zip(rows, (194, 214, 234, 264), strict=True)):
        for x, cell in zip(xs, cells, strict=False):
            sheet.line(x + 4, y, cell)
        if row == 2:
            sheet.line(304, y + 11, "lines")
    text = sheet.read().text
    assert text == (
        " ".join(prose(1, 4))
        + "\n\n| name | value | note |\n| --- | --- | --- |\n| a\\|b | 1,178.5 | x y |\n"
        + "| wide words | 0.5 | two lines |\n| sum |  |  |\n\nAfter the table.\n"
    )


def test_spanning_cells_are_repeated(sheet: Sheet) -> None:
    """XT-06: a place without a line to its neighbour is one cell with it; a row of one cell above is a title."""
    for at in (80, 100, 120, 140):
        sheet.page.draw_line((72, at), (372, at))
    for x in (72, 372):
        sheet.page.draw_line((x, 80), (x, 140))
    sheet.page.draw_line((172, 100), (172, 140))
    sheet.page.draw_line((272, 120), (272, 140))
    cells = (
        (80, 94, "Title"),
        (80, 114, "name"),
        (180, 114, "both"),
        (80, 134, "a"),
        (180, 134, "b"),
        (280, 134, "c"),
    )
    for x, y, words in cells:
        sheet.line(x, y, words)
    assert sheet.read().text == "Title\n\n| name | both | both |\n| --- | --- | --- |\n| a | b | c |\n"


def test_boxes_and_charts_are_no_tables(sheet: Sheet) -> None:
    """A framed paragraph is a paragraph; an empty grid is nothing."""
    sheet.grid([60, 400], [80, 160])
    sheet.lines(72, 100, prose(1, 4))
    sheet.grid(range(100, 300, 20), range(300, 500, 20))
    assert sheet.read().text == " ".join(prose(1, 4)) + "\n"


def test_figures_have_their_captions(sheet: Sheet) -> None:
    """XT-06: the caption below is the description; the image's place is its target."""
    sheet.lines(72, 100, prose(1, 4))
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 20))
    pixmap.clear_with(128)
    sheet.page.insert_image((72, 200, 372, 350), pixmap=pixmap, keep_proportion=False)
    sheet.lines(72, 366, ["Figure 3. A grey", "field."], size=8.0)
    sheet.lines(72, 420, prose(2, 4))
    text = sheet.read().text
    assert "![Figure 3. A grey field.](#page=1&bbox=72.0,200.0,372.0,350.0)\n" in text
    assert text.count("Figure 3") == 1


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["the estab-", "lishment of it", "establishment"], "establishment of it"),
        (["a long-", "term plan", "one long-term goal"], "a long-term plan"),
        (["the Hewlett-", "Packard case"], "the Hewlett-Packard case"),
        (["in-", "house work"], "in-house work"),
        (["soft\u00ad", "ware"], "software"),
        (["渡轮每天", "早上离开"], "渡轮每天早上离开"),
        (["one", "two"], "one two"),
        (["1990-", "1995"], "1990- 1995"),
    ],
)
def test_words_broken_at_line_ends(lines: list[str], joined: str) -> None:
    """XT-07: joined when the document knows the word; else only where it breaks words at all."""
    assert joined in join_lines(lines, Vocabulary.of(lines))


def test_a_document_that_breaks_words_breaks_unknown_ones_too() -> None:
    """Evidence for one broken word holds for the others."""
    lines = ["the estab-", "lishment of a gover-", "nor, an establishment"]
    assert join_lines(lines, Vocabulary.of(lines)) == "the establishment of a governor, an establishment"


def test_places(sheet: Sheet) -> None:
    """XT-02: a locator's box encloses the glyphs of its block, and nothing beyond; all characters have one."""
    sheet.lines(72, 100, prose(1, 3))
    sheet.lines(150, 300, prose(2, 2))
    result = sheet.read()
    boxes = [tuple(map(float, run.locator.split("bbox=")[1].split(","))) for run in result.locators]
    assert len(boxes) == 2
    assert boxes[0][0] == pytest.approx(72, abs=1.5)
    assert 85 < boxes[0][1] < 95
    assert 126 < boxes[0][3] < 132
    assert boxes[1][0] == pytest.approx(150, abs=1.5)
    assert "".join(
        result.text[run.start_char : run.end_char] for run in result.locators
    ) == result.text.replace("\n", "")


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_rotated_pages(rotation: int) -> None:
    """XT-09: a page that is turned to be read is read as it is shown; its boxes too."""
    sheet = Sheet()
    sheet.turn_over()
    page = sheet.page
    page.set_rotation(rotation)
    for at, line in enumerate(prose(1, 5)):
        point = pymupdf.Point(72, 100 + 13 * at) * page.derotation_matrix
        page.insert_text(point, line, fontsize=10, rotate=rotation)
    result = sheet.read()
    assert result.text == " ".join(prose(1, 5)) + "\n"
    left, top, _, bottom = map(float, result.locators[0].locator.split("bbox=")[1].split(","))
    assert left == pytest.approx(72, abs=1.5)
    assert 85 < top < 95
    assert 150 < bottom < 160


def test_pages_without_text_are_empty(sheet: Sheet) -> None:
    """XT-02: every page has its range."""
    sheet.lines(72, 100, prose(1, 3))
    sheet.turn_over()
    sheet.turn_over()
    sheet.lines(72, 100, prose(2, 3))
    result = sheet.read()
    assert [page.page for page in result.pages] == [1, 2, 3]
    assert [bool(result.text[page.start_char : page.end_char]) for page in result.pages] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (b"%PDF-1.7\nnothing of the kind", "corrupt"),
        (b"%PDF-1.4\n" + random.Random(3).randbytes(20_000), "corrupt"),
    ],
)
def test_failures_are_named(data: bytes, kind: str) -> None:
    """XT-11."""
    with pytest.raises(ExtractionError, match=r"a\.pdf") as caught:
        extract(data, "a.pdf")
    assert caught.value.kind == kind


def test_encrypted_and_blank_documents_are_named(sheet: Sheet) -> None:
    """XT-11: a password that is asked for; a page without text is no success. An owner's password alone is none."""
    sheet.line(72, 100, "secret")
    how = {"encryption": 5, "owner_pw": "o"}  # AES-256
    with pytest.raises(ExtractionError, match="password") as caught:
        extract(sheet.bytes(**how, user_pw="u"), "a.pdf")
    assert caught.value.kind == "encrypted"
    assert extract(sheet.bytes(**how), "a.pdf").text == "secret\n"
    blank = Sheet()
    blank.turn_over()
    with pytest.raises(ExtractionError) as caught:
        blank.read()
    assert caught.value.kind == "no_text"


def test_damaged_documents_end_in_text_or_a_named_failure(
    sheet: Sheet, capfd: pytest.CaptureFixture[str]
) -> None:
    """XT-11: cut off and altered at any place; nothing is printed."""
    for number in range(3):
        sheet.lines(72, 100, prose(number, 20))
        sheet.turn_over()
    data = sheet.bytes()
    chosen = random.Random(7)
    for _ in range(60):
        damaged = bytearray(data[: chosen.randrange(100, len(data))])
        for _ in range(chosen.randrange(5)):
            damaged[chosen.randrange(20, len(damaged))] = chosen.randrange(256)
        try:
            assert extract(bytes(damaged), "a.pdf").text.strip()
        except ExtractionError as error:
            assert error.kind in ("corrupt", "no_text", "encrypted")
    assert capfd.readouterr() == ("", "")


SCORED = {
    "fr_3col.pdf": (
        "the agency has determined that final corrective action is necessary to address the unsafe condition.",
        "Proposed Design Changes",
    ),
    "latex_2col.pdf": ("consectetuer adipiscing elit. Ut purus elit", "Abstract"),
    "synth_rows_2col.pdf": (
        "reaching only 39.2 percent of the long-term reference cover by June.",
        "Results by",
    ),
    "debref_zh.pdf": ("文件名是区分大小写的", "虚拟控制台"),
    "broken_xref.pdf": ("A blind text like this gives you information about the selected font", None),
}


@pytest.mark.parametrize("name", SCORED)
def test_the_shared_documents(shared: Path, name: str) -> None:
    """XT-13: real pages of two and three columns, in English and Chinese, one with a broken table of contents."""
    result = extract((shared / "extract/files" / name).read_bytes(), name)
    words, heading = SCORED[name]
    assert words in result.text
    headings = [element.title or "" for element in parse(result.text) if element.kind == "heading"]
    assert heading is None or any(heading in title for title in headings)
    at = 0
    for run in result.locators:
        assert not result.text[at : run.start_char].strip()
        at = run.end_char
    assert not result.text[at:].strip()
    assert all(a.end_char <= b.start_char for a, b in itertools.pairwise(result.pages))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("encrypted_r6.pdf", "encrypted"), ("invalid.pdf", "corrupt")],
)
def test_the_shared_failures(shared: Path, name: str, kind: str) -> None:
    """XT-11."""
    with pytest.raises(ExtractionError) as caught:
        extract((shared / "extract/files" / name).read_bytes(), name)
    assert caught.value.kind == kind


def test_footnotes_that_end_alike_are_no_footers() -> None:
    """XT-05: a line that goes with others of its paragraph, which no other page has."""
    sheet = Sheet()
    for at, note in enumerate(
        ("1 Copper in the harbour of the north.", "2 Timber from the southern forests.")
    ):
        sheet.turn_over()
        sheet.lines(72, 100, prose(at, 10))
        sheet.lines(72, 780, [note, "See the register of that year."], size=9)
    text = sheet.read().text
    assert "north. See the register of that year." in text
    assert "forests. See the register of that year." in text


def test_a_label_at_a_columns_foot_goes_with_what_it_stands_above(sheet: Sheet) -> None:
    """XT-04: alone, apart from its column, and close above lines that cross both."""
    for seed, x in enumerate((60, 310)):
        sheet.lines(x, 100, prose(seed, 12))
    sheet.line(60, 275, "Further Notes")
    sheet.lines(60, 288, prose(7, 3, width=470))
    text = sheet.read().text
    assert text.index(prose(1, 12)[-1]) < text.index("Further Notes") < text.index(prose(7, 3, width=470)[0])


def test_a_broken_word_ends_no_paragraph(sheet: Sheet) -> None:
    """XT-07: however short its line is."""
    sheet.lines(
        72,
        100,
        ["Plan for the north-", "ern coast, and for all of the northern districts that have a harbour."],
    )
    assert sheet.read().text.startswith("Plan for the northern coast, and")


def test_numbered_headings_without_bold_type(sheet: Sheet) -> None:
    """XT-06: by number; not a line of a table of contents, a clause, or a value."""
    y = 100.0
    for line in ("2.1 Access to the Sites", "2.2 The tenant pays.", "2.3 Costs and Fees 17", "3.5 4.5 5.5"):
        sheet.line(72, y, line)
        y = sheet.lines(72, y + 24, prose(int(y), 3)) + 16
    headings = [line for line in sheet.read().text.split("\n") if line.startswith("#")]
    assert headings == ["# 2.1 Access to the Sites"]


def test_a_row_left_over_on_the_last_page_is_no_header() -> None:
    """XT-05: a row of a table like the first of the page before, whatever its numbers, though nothing follows it."""
    sheet = Sheet()
    at = 1010
    for count in (38, 1):
        sheet.turn_over()
        sheet.lines(60, 60 if count > 1 else 800, ["Register of accounts"])
        for row in range(count):
            at += 1
            for x, cell in zip((60, 200, 300), (f"AC-{at}", f"{at / 4:.2f}", f"{at / 3:.2f}"), strict=True):
                sheet.line(x, 84 + 17 * row, cell)
    text = sheet.read().text
    assert f"AC-{at}" in text


@pytest.mark.parametrize(
    ("heads", "kept"),
    [
        (("item 15 is read", "item 35 is read"), True),
        (("Survey of Peat, 15", "Survey of Peat, 16"), False),
        (("Survey of Peat, v", "Survey of Peat, vi"), False),
        (("Survey of Peat", "Survey of Peat"), False),
        (("item 15 is read", "item 35 is read", "item 58 is read"), False),
    ],
)
def test_numbers_of_running_headers_count_pages(heads: tuple[str, ...], kept: bool) -> None:
    """XT-05: two pages that begin alike but for a number have a header where it counts them; three have one."""
    sheet = Sheet()
    for at, head in enumerate(heads):
        sheet.turn_over()
        sheet.line(60, 50, head)
        sheet.lines(60, 90, prose(at, 20, 430))
    text = sheet.read().text
    assert [head in text for head in heads] == [kept] * len(heads)


def test_a_page_of_slanted_words_says_so() -> None:
    """XT-11: no text for the index is no success, and the reason is not that there are no words."""
    library: Any = pymupdf
    document = library.open()
    point = library.Point(100, 300)
    document.new_page().insert_text(point, "Slanted words", morph=(point, library.Matrix(30)))
    with pytest.raises(ExtractionError, match="askew") as caught:
        extract(document.tobytes(), "a.pdf")
    assert caught.value.kind == "no_text"
