"""Tables without rules, and what looks like one and is none (XT-03, XT-04, XT-06)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.extraction.test_pdf import Sheet, prose


@pytest.fixture
def sheet() -> Sheet:
    made = Sheet()
    made.turn_over()
    return made


def columns(sheet: Sheet, xs: Sequence[float], y: float, rows: Sequence[Sequence[str]]) -> float:
    for row in rows:
        for x, cell in zip(xs, row, strict=True):
            if cell:
                sheet.line(x, y, cell)
        y += 13
    return y


def test_cells_are_found_by_where_they_stand(sheet: Sheet) -> None:
    """An empty cell stays empty, a cell of two words is one, text around stays text."""
    sheet.lines(72, 100, prose(1, 4))
    rows = [
        ["item", "hours", "rate", "cost"],
        ["body work", "2", "150", "300"],
        ["paint", "1.5", "150", "225"],
        ["tax", "", "10.2 %", "53.55"],
        ["total", "", "", "578.55"],
    ]
    y = columns(sheet, [72, 200, 280, 360], 180, rows)
    sheet.lines(72, y + 20, prose(2, 4))
    assert sheet.read().text == (
        " ".join(prose(1, 4))
        + "\n\n| item | hours | rate | cost |\n| --- | --- | --- | --- |\n| body work | 2 | 150 | 300 |\n"
        + "| paint | 1.5 | 150 | 225 |\n| tax |  | 10.2 % | 53.55 |\n| total |  |  | 578.55 |\n\n"
        + " ".join(prose(2, 4))
        + "\n"
    )


def test_a_frame_is_no_cell(sheet: Sheet) -> None:
    """A form in a frame: its rows are those of its words, not those of the few rules drawn around them."""
    for at in (80, 100, 200, 220):
        sheet.page.draw_line((60, at), (420, at))
    for x in (60, 180, 420):
        sheet.page.draw_line((x, 80), (x, 220))
    columns(sheet, [64, 184, 260, 340], 94, [["Charges", "hours", "rate", "cost"]])
    rows = [["labour", "2", "150", "300"], ["paint", "1", "90", "90"], ["parts", "", "", "18"]]
    columns(sheet, [64, 184, 260, 340], 114, rows)
    columns(sheet, [64, 184, 260, 340], 214, [["total", "", "", "408"]])
    text = sheet.read().text
    for row in rows:
        assert "| " + " | ".join(row) + " |" in text
    assert "labour paint" not in text


def test_a_cell_goes_on_below(sheet: Sheet) -> None:
    """Where the first column is empty and the next word did not fit, a line belongs to the row above."""
    rows = [
        ["cache", "keeps the vectors of all texts that were"],
        ["", "embedded once"],
        ["lake", "the tables, as files that are never changed"],
        ["lock", "held by the one who writes to the lake now"],
    ]
    columns(sheet, [72, 160], 100, rows)
    text = sheet.read().text
    assert (
        "| cache | keeps the vectors of all texts that were embedded once |\n| --- | --- |\n| lake |" in text
    )


def test_numbers_at_the_right_and_titles_above(sheet: Sheet) -> None:
    """Columns may be set flush right, or on their middle; a title above them is no row."""
    sheet.line(150, 80, "Results of the third survey, by station")
    stations = [("Askrigg", "9"), ("Cray Gill", "1,204"), ("Hag", "77.25"), ("Lodge", "12")]
    for at, (name, value) in enumerate(stations):
        sheet.line(72, 100 + 13 * at, name)
        width = (
            5.56 * (len(value) - value.count(".") - value.count(","))
            + 2.78 * value.count(".")
            + 2.78 * value.count(",")
        )
        sheet.line(300 - width, 100 + 13 * at, value)
    text = sheet.read().text
    assert "Results of the third survey, by station\n\n| Askrigg | 9 |\n" in text
    assert "| Cray Gill | 1,204 |\n| Hag | 77.25 |\n| Lodge | 12 |" in text


@pytest.mark.parametrize("lines", [3, 5, 12])
def test_columns_of_prose_are_no_table(sheet: Sheet, lines: int) -> None:
    """XT-04: short columns side by side, line by line at the same heights, are read one after the other."""
    left, right = prose(3, lines, width=180), prose(4, lines, width=180)
    for at, (one, other) in enumerate(zip(left, right, strict=True)):
        sheet.line(72, 100 + 13 * at, one)
        sheet.line(300, 100 + 13 * at, other)
    text = sheet.read().text
    assert "|" not in text
    assert " ".join(left) in text
    assert " ".join(right) in text


def test_lists_and_wide_blanks_are_no_table(sheet: Sheet) -> None:
    """Marks of list items stand in a column of their own; lines set to one width have wide blanks by chance."""
    for at, line in enumerate(("first point", "second point", "third point", "fourth point")):
        sheet.line(72, 100 + 13 * at, f"{at + 1}.")
        sheet.line(100, 100 + 13 * at, line)
    for at, line in enumerate(prose(5, 6)):
        half = len(line.split()) // 2 + at % 2
        first, second = " ".join(line.split()[:half]), " ".join(line.split()[half:])
        sheet.line(72, 200 + 13 * at, first)
        sheet.line(72 + 5.1 * len(first) + 7, 200 + 13 * at, second)
    assert "|" not in sheet.read().text


def test_code_is_no_table(sheet: Sheet) -> None:
    """Fields of a listing stay lines of code, with their blanks, also where the font does not say that it is one."""
    sheet.lines(72, 100, prose(1, 4))
    for at, line in enumerate(["0000  4d 49 4d  |MIM|", "0010  74 65 78  |tex|", "0020  00 05 64  |..d|"]):
        sheet.line(72, 180 + 11 * at, line, size=9, font="cour")
    sheet.lines(72, 240, prose(2, 4))
    assert (
        "```\n0000  4d 49 4d  |MIM|\n0010  74 65 78  |tex|\n0020  00 05 64  |..d|\n```" in sheet.read().text
    )


def test_a_page_number_beside_a_chapter_name(sheet: Sheet) -> None:
    """XT-05: a single page's footer is known by a page number far from other words and from the text."""
    sheet.lines(72, 100, prose(1, 20))
    sheet.line(72, 800, "Appendix B", size=8)
    sheet.line(300, 800, "200", size=8)
    assert sheet.read().text == " ".join(prose(1, 20)) + "\n"


def test_a_total_below_a_table_is_no_page_number(sheet: Sheet) -> None:
    """Near the text, the same words are text."""
    rows = [[f"item {at}", str(at * 7)] for at in range(50)] + [["Total", "8575"]]
    y = 140.0
    for row in rows:
        columns(sheet, [72, 300], y, [row])
        y += 13
    assert "| Total | 8575 |" in sheet.read().text


WRAPPED = [
    ("Code", ["Meaning of the code"], "Since"),
    ("E101", ["measured candle recorded transport", "recorded stone period beacon"], "1.2"),
    ("E102", ["velvet shelter discharge winter", "garden recorded observed"], "1.4"),
    ("E103", ["catchment saddle velvet candle the", "between mirror signal"], "2.0"),
]


def test_cells_of_several_lines(sheet: Sheet) -> None:
    """XT-06: a row's lines stand nearer to each other than to the next row; one whole cell each."""
    y = sheet.lines(72, 100, prose(1, 4)) + 14
    for code, lines, since in WRAPPED:
        sheet.line(72, y, code)
        sheet.line(400, y, since)
        y = sheet.lines(160, y, lines) + 5
    sheet.lines(72, y + 14, prose(2, 4))
    text = sheet.read().text
    for code, lines, since in WRAPPED:
        assert f"| {code} | {' '.join(lines)} | {since} |" in text


def test_first_cells_of_several_lines(sheet: Sheet) -> None:
    """XT-06: what the first column says goes on where a line has words there alone, near the line above."""
    rows = [
        (["Measure"], "2020"),
        (["Mean depth of the", "Water Table in Moss"], "1.5"),
        (["Flow"], "2.5"),
        (["Mean time to the", "first flood"], "-3.5"),
        (["Loss"], "4.5"),
    ]
    y = 100.0
    for lines, value in rows:
        sheet.line(220, y, value)
        y = sheet.lines(72, y, lines) + 6
    text = sheet.read().text
    for lines, value in rows:
        assert f"| {' '.join(lines)} | {value} |" in text


def test_columns_of_ideographs_are_no_table(sheet: Sheet) -> None:
    """XT-04, XT-09: a line of few characters of full width is as long as one of many letters."""
    left, right = ["海" * 20] * 5 + ["海岸。"], ["山" * 20] * 5 + ["山岭。"]
    for at, (one, other) in enumerate(zip(left, right, strict=True)):
        sheet.line(60, 100 + 14 * at, one, font="china-s")
        sheet.line(310, 100 + 14 * at, other, font="china-s")
    assert sheet.read().text == f"{''.join(left)}\n\n{''.join(right)}\n"


def test_first_rows_of_pages_are_no_running_headers() -> None:
    """XT-05, XT-06: a head that a table has on each page, and a first row that differs in its numbers alone."""
    sheet = Sheet()
    rows = [[f"G-{at:03}", str(1950 + at % 60), f"{at * 0.37:.2f}"] for at in range(50)]
    for begin in (0, 40):
        sheet.turn_over()
        sheet.line(72, 40, "Register of Gauges", size=8)
        columns(sheet, [72, 200, 330], 80, [["Gauge", "Opened", "Depth"], *rows[begin : begin + 40]])
    text = sheet.read().text
    assert "Register" not in text
    assert text.count("| Gauge | Opened | Depth |") == 2
    for row in rows:
        assert "| " + " | ".join(row) + " |" in text
