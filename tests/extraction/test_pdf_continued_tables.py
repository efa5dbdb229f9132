"""Tables over several pages are one (XT-06), with each part at its place (XT-02), and nothing lost (XT-05)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.extraction import Extraction, extract
from linkrag_dagster.markdown import parse
from tests.extraction.test_pdf import Sheet, prose
from tests.extraction.test_pdf_places import assert_covered, box_of, shown_words, words_in

XS = (60.0, 180.0, 300.0, 420.0, 540.0)
HEAD = ("Account", "Debit", "Credit", "Balance")
FOOT = 790.0
"""Where text ends on pages."""


def register(count: int) -> list[tuple[str, ...]]:
    return [(f"AC-{1000 + at}", f"{at}.25", f"{3 * at}.50", f"-{7 * at}.75") for at in range(1, count + 1)]


def part(
    sheet: Sheet,
    y: float,
    rows: Sequence[Sequence[str]],
    *,
    ruled: bool,
    left: float = 0,
    pitch: float = 18,
    bold: bool = False,
) -> float:
    """Rows of a table, the first of them set bold where asked for; returns where they end."""
    for at, cells in enumerate(rows):
        for x, cell in zip(XS, cells, strict=False):
            for line, words in enumerate(cell.split("\n")):
                font = "hebo" if bold and at == 0 else "helv"
                sheet.line(x + left + 4, y + 13 + pitch * at + 11 * line, words, size=9, font=font)
    if ruled:
        sheet.grid([x + left for x in XS], [y + pitch * at for at in range(len(rows) + 1)])
    return y + pitch * len(rows)


def tables(result: Extraction) -> list[list[list[str]]]:
    """Cells of the text's tables, without the row of delimiters."""
    return [
        [
            [cell.strip() for cell in line.strip("|").split("|")]
            for at, line in enumerate(result.text[e.start_char : e.end_char].split("\n"))
            if at != 1
        ]
        for e in parse(result.text)
        if e.kind == "table"
    ]


def pages_of(
    rows: Sequence[Sequence[str]], sizes: Sequence[int], *, ruled: bool, head: bool, bold: bool = True
) -> Sheet:
    """A register over pages: with its running header, the table's head on the first page or on all, page numbers."""
    sheet = Sheet()
    at = 0
    for number, size in enumerate(sizes):
        sheet.turn_over()
        sheet.line(60, 40, "Quarterly Statement of Accounts", size=8)
        sheet.line(290, 815, f"Page {number + 1} of {len(sizes)}", size=8)
        shown = [HEAD] if head or number == 0 else []
        height = 18 * (size + len(shown))
        part(
            sheet,
            80 if number else FOOT - height,
            [*shown, *rows[at : at + size]],
            ruled=ruled,
            bold=bold and bool(shown),
        )
        at += size
    return sheet


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("bold", [True, False])
@pytest.mark.parametrize("sizes", [(30, 9), (20, 1), (20, 2), (12, 38, 20), (10, 38, 1)])
def test_a_table_over_pages_is_one(ruled: bool, head: bool, bold: bool, sizes: tuple[int, ...]) -> None:
    """XT-06: also where a row or two are left over, where all of a page is table, and without a repeated head."""
    rows = register(sum(sizes))
    result = pages_of(rows, sizes, ruled=ruled, head=head, bold=bold).read()
    assert tables(result) == [[list(HEAD), *map(list, rows)]]
    again = [one for one in result.left_out if one.reason == "repeated"]
    assert [(one.page, one.text) for one in again] == [
        (page, " ".join(HEAD)) for page in range(2, len(sizes) + 1) if head
    ]
    assert_covered(result)
    assert [page.page for page in result.pages] == list(range(1, len(sizes) + 1))
    at = 0
    for page, size in zip(result.pages, sizes, strict=True):
        on_page = result.text[page.start_char : page.end_char]
        assert re.findall(r"AC-\d+", on_page) == [row[0] for row in rows[at : at + size]]
        at += size


def test_a_table_that_moves_with_the_margin(  # inner and outer margins
) -> None:
    """XT-06: columns are compared from the table's left end."""
    sheet = Sheet()
    for number, left in enumerate((0, -25)):
        sheet.turn_over()
        rows = register(30)[15 * number : 15 * number + 15]
        part(sheet, 80 if number else 500, [HEAD, *rows], ruled=False, left=left)
    assert tables(sheet.read()) == [[list(HEAD), *map(list, register(30))]]


def heads_differ(sheet: Sheet, ruled: bool) -> None:
    part(sheet, 80, [("Site", "Depth", "Flow", "Error"), *register(9)], ruled=ruled, bold=True)


def words_between(sheet: Sheet, ruled: bool) -> None:
    sheet.line(60, 80, "Table 2. Accounts of the south.")
    part(sheet, 100, [HEAD, *register(9)], ruled=ruled, bold=True)


def columns_differ(sheet: Sheet, ruled: bool) -> None:
    for row, cells in enumerate(register(9)):
        for x, cell in zip((60, 200, 390), cells, strict=False):
            sheet.line(x, 93 + 18 * row, cell, size=9)
    if ruled:
        sheet.grid((56, 196, 386, 540), range(80, 80 + 18 * 10, 18))


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("following", [heads_differ, words_between, columns_differ])
def test_two_tables_stay_two(ruled: bool, following: Callable[[Sheet, bool], None]) -> None:
    """XT-06: another head, words between them, other columns."""
    sheet = Sheet()
    sheet.turn_over()
    part(sheet, 790 - 21 * 18, [HEAD, *register(20)], ruled=ruled, bold=True)
    sheet.turn_over()
    following(sheet, ruled)
    assert len(tables(sheet.read())) == 2


def words(count: int) -> list[tuple[str, ...]]:
    return [tuple(prose(9 * at + column, 1, 60)[0].split()[0] for column in range(4)) for at in range(count)]


@pytest.mark.parametrize(
    ("first", "head", "caption", "count"),
    [
        ("", ("Tool", "Use", "Maker", "Price"), "Table 2. Tools and their makers", 2),
        ("Table 1. People", ("Tool", "Use", "Maker", "Price"), "Table 2. Tools and their makers", 2),
        ("Table 1. People", ("Tool", "Use", "Maker", "Price"), "Table 1. People", 1),
        ("", ("Tool", "Use", "Maker", "Price"), "", 1),
        ("", ("Name", "City", "Trade", "Debts"), "Table 2. People of the north", 1),
        ("", ("AC-9", "Use", "Maker", "17.5"), "Table 2. People of the north", 1),
    ],
)
def test_a_caption_below_the_second_table_keeps_it_apart(
    first: str, head: tuple[str, ...], caption: str, count: int
) -> None:
    """XT-06: where that begins with words that may be its head; else the caption is that of both parts together."""
    sheet = Sheet()
    sheet.turn_over()
    if first:
        sheet.line(60, 780 - 31 * 18 - 10, first)
    part(sheet, 780 - 31 * 18, [("Name", "City", "Trade", "Debts"), *words(30)], ruled=True)
    sheet.turn_over()
    end = part(sheet, 80, [head, *words(9)], ruled=True)
    sheet.line(60, end + 16, caption)
    sheet.lines(60, end + 60, prose(3, 4, 400))
    assert len(tables(sheet.read())) == count


def test_a_caption_below_a_rest_is_that_of_the_table_after_it() -> None:
    """XT-06: a table of words without a repeated head is one, whatever the next table is called."""
    sheet = Sheet()
    sheet.turn_over()
    sheet.line(60, 780 - 31 * 18 - 10, "Table 1. People")
    part(sheet, 780 - 31 * 18, [("Name", "City", "Trade", "Debts"), *words(30)], ruled=True)
    sheet.turn_over()
    end = part(sheet, 80, words(9), ruled=True)
    sheet.line(60, end + 30, "Table 2. Accounts of the north")
    part(sheet, end + 40, [HEAD, *register(5)], ruled=True)
    assert [len(table) for table in tables(sheet.read())] == [40, 6]


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_with_words_below_it_goes_on_nowhere(ruled: bool) -> None:
    """XT-06: a paragraph at the foot of its page ends it, whatever the next page begins with."""
    sheet = Sheet()
    sheet.turn_over()
    end = part(sheet, 740 - 21 * 18, [HEAD, *register(20)], ruled=ruled, bold=True)
    sheet.lines(60, end + 24, prose(3, 2, 400))
    sheet.turn_over()
    part(sheet, 80, [HEAD, *register(9)], ruled=ruled, bold=True)
    result = sheet.read()
    assert [len(table) for table in tables(result)] == [21, 10]
    assert not [one for one in result.left_out if one.reason == "repeated"]


def test_a_page_that_begins_and_ends_within_a_row() -> None:
    """XT-06: with no rule at the page's ends, the upright lines tell how far the rows beside them reach."""
    sheet = Sheet()
    rows = [HEAD, *register(64)]
    for number, (first, last) in enumerate(((0, 22), (22, 60), (60, 65))):
        sheet.turn_over()
        top = 90.0 if number else 790.0 - 18 * 22
        part(sheet, top, rows[first:last], ruled=False, bold=number == 0)
        bottom = top + 18 * (last - first)
        for x in XS:
            sheet.page.draw_line((x, top), (x, bottom))
        for at in range(bool(number), last - first + (number == 2)):
            sheet.page.draw_line((XS[0], top + 18 * at), (XS[-1], top + 18 * at))
    assert tables(sheet.read()) == [[list(row) for row in rows]]


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_that_ends_early_goes_on_nowhere(ruled: bool) -> None:
    """XT-06: where more rows would have fitted, alike ones on the next page are another table."""
    sheet = Sheet()
    for _ in range(2):
        sheet.turn_over()
        part(sheet, 120, [HEAD, *register(8)], ruled=ruled, bold=True)
    assert len(tables(sheet.read())) == 2


@pytest.mark.parametrize(
    ("below", "above"),
    [
        (None, "Table 3 (continued)"),
        ("Continued on next page", "Table 3. Accounts of the north (cont.)"),
        ("(continued)", "Table 3 - continued from previous page"),
    ],
)
@pytest.mark.parametrize("ruled", [True, False])
def test_that_a_table_goes_on_is_said_for_those_who_turn_pages(
    ruled: bool, below: str | None, above: str
) -> None:
    """XT-05, XT-06: it parts no table, and is left out with a row that says so."""
    sheet = Sheet()
    sheet.turn_over()
    sheet.line(60, 380, "Table 3. Accounts of the north.")
    end = part(sheet, 400, [HEAD, *register(20)], ruled=ruled, bold=True)
    if below:
        sheet.line(60, end + 14, below)
    sheet.turn_over()
    sheet.line(60, 72, above)
    part(sheet, 80, [HEAD, *register(30)[20:]], ruled=ruled, bold=True)
    sheet.lines(60, 320, prose(3, 4))
    result = sheet.read()
    assert tables(result) == [[list(HEAD), *map(list, register(30))]]
    assert [one.text for one in result.left_out if one.reason == "repeated"] == [
        *([below] if below else []),
        above,
        " ".join(HEAD),
    ]
    assert result.text.startswith("Table 3. Accounts of the north.\n\n|")


def test_words_that_go_on_in_chinese() -> None:
    """XT-06, XT-09."""
    sheet = Sheet()
    head = ("站名", "开放", "深度", "误差")
    for number, title in enumerate(("表 3 水位计登记", "续表 3")):
        sheet.turn_over()
        y = 80 if number else 480
        sheet.line(60, y - 8, title, font="china-s")
        for row, cells in enumerate([head, *register(30)[15 * number : 15 * number + 15]]):
            for x, cell in zip(XS, cells, strict=False):
                sheet.line(x + 4, y + 13 + 18 * row, cell, size=9, font="china-s")
        sheet.grid(XS, [y + 18 * at for at in range(17)])
    result = sheet.read()
    assert tables(result) == [[list(head), *map(list, register(30))]]
    assert [one.text for one in result.left_out] == ["续表 3", " ".join(head)]


def test_footnotes_stand_before_a_table_that_leaves_their_page() -> None:
    """XT-02, XT-04: pages follow each other in the text."""
    sheet = Sheet()
    sheet.turn_over()
    sheet.lines(60, 100, prose(1, 10, width=470))
    part(sheet, 760 - 18 * 21, [HEAD, *register(20)], ruled=True)
    sheet.line(60, 780, "1 A note at the foot of the page that is in small type.", size=7.5)
    sheet.turn_over()
    end = part(sheet, 80, [HEAD, *register(30)[20:]], ruled=True)
    sheet.lines(60, end + 30, prose(2, 10, width=470))
    result = sheet.read()
    assert tables(result) == [[list(HEAD), *map(list, register(30))]]
    first, second = result.pages
    assert first.end_char <= second.start_char
    assert "1 A note at the foot" in result.text[first.start_char : first.end_char]


@pytest.mark.parametrize(
    ("rest", "joined"),
    [
        (("", "and its seal", "", ""), True),
        (("", "And a seal", "", ""), False),
        (("", "17.5", "", ""), False),
        (("", "and its seal", "18.5", ""), False),
        (("Z-9", "and its seal", "", ""), False),
    ],
)
def test_a_row_that_goes_on_behind_a_pages_end(rest: tuple[str, ...], joined: bool) -> None:
    """XT-06, XT-02: joined where its cells tell for sure; each part has its own place."""
    head = ("Part", "Description", "Price", "Total")
    rows = [(f"P-{at}", "measured candle", f"{at}.5", f"{at}.75") for at in range(24)]
    sheet = Sheet()
    sheet.turn_over()
    part(sheet, 790 - 18 * 25, [head, *rows[:23], ("P-23", "pump of the harbour", "", "2.5")], ruled=True)
    sheet.turn_over()
    part(sheet, 80, [head, rest, *[(f"Q{r[0]}", *r[1:]) for r in rows[:8]]], ruled=True)
    result = sheet.read()
    (table,) = tables(result)
    whole = ["P-23", "pump of the harbour and its seal", "", "2.5"]
    assert (whole in table) == joined
    assert len(table) == 1 + 24 + 8 + (not joined)
    assert_covered(result)
    at = result.text.index(rest[1] if joined else "pump of the harbour")
    (place,) = [one.locator for one in result.locators if one.start_char <= at < one.end_char]
    assert place.startswith("#page=2" if joined else "#page=1")
    assert result.pages[0].end_char <= result.pages[1].start_char


def test_a_sentence_around_a_table_over_pages(  # a paragraph that stops, and one that begins small
) -> None:
    """XT-02: pages follow each other in the text, whatever goes on."""
    sheet = Sheet()
    sheet.turn_over()
    sheet.line(60, 380, "the river between the")
    part(sheet, 790 - 18 * 20, [HEAD, *register(19)], ruled=True)
    sheet.turn_over()
    end = part(sheet, 80, [HEAD, *register(30)[19:]], ruled=True)
    sheet.line(60, end + 30, "harbour and the moss.")
    result = sheet.read()
    assert len(tables(result)) == 1
    assert result.pages[0].end_char <= result.pages[1].start_char


@st.composite
def registers(draw: st.DrawFn) -> tuple[bytes, list[list[str]]]:
    """A table of words that are each another one, over two pages or three."""
    ruled, head = draw(st.booleans()), draw(st.booleans())
    sizes = draw(st.lists(st.integers(4, 30), min_size=2, max_size=3))
    count = 0

    def row() -> list[str]:
        nonlocal count
        count += 1
        return [f"{'kama' if side else 'rilo'}{4 * count + side}" for side in range(4)]

    rows = [row() for _ in range(sum(sizes))]
    sheet = Sheet()
    at = 0
    for number, size in enumerate(sizes):
        sheet.turn_over()
        if number == 0:
            sheet.lines(60, 60, ["voru9001 voru9002"])
        shown = [list(HEAD)] if head else []
        top = 80 if number and number + 1 == len(sizes) else FOOT - 18 * (size + len(shown))
        part(sheet, top, [*shown, *rows[at : at + size]], ruled=ruled, bold=bool(shown))
        at += size
    return sheet.bytes(), rows


@settings(max_examples=20, deadline=None)
@given(registers())
def test_boxes_of_each_pages_part(made: tuple[bytes, list[list[str]]]) -> None:
    """XT-02: each row's box holds its words and no others; every word of the document is said or told as left out."""
    data, rows = made
    result = extract(data, "a.pdf")
    assert [[cell for cell in row if cell] for row in tables(result)[0]][-len(rows) :] == rows
    assert_covered(result)
    places = shown_words(data)
    for locator in result.locators:
        page, box = box_of(locator.locator)
        mine = words_in(result, locator.start_char, locator.end_char)
        inside = {
            word
            for (number, word), (left, top, right, bottom) in places.items()
            if number == page
            and re.fullmatch(r"[a-z]{4}\d+", word)
            and box[0] < (left + right) / 2 < box[2]
            and box[1] < (top + bottom) / 2 < box[3]
        }
        assert inside == set(mine)
    with_left_out = " ".join([re.sub(r"[|\-]", " ", result.text), *(one.text for one in result.left_out)])
    assert Counter(with_left_out.split()) == Counter(word for _, word in shown_words_all(data))


def shown_words_all(data: bytes) -> list[tuple[int, str]]:
    """(page, word) of a document, each as often as it is there."""
    from tests.extraction.test_pdf_places import open_pdf

    with open_pdf(stream=data, filetype="pdf") as document:
        return [
            (number, word)
            for number, page in enumerate(document, start=1)
            for *_, word, _, _, _ in page.get_text("words")
        ]
