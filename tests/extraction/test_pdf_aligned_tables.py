"""Tables without rules, and what looks like one and is none (XT-03, XT-04, XT-06)."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf
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
        (["Greatest depth of", "Water and Mud at", "Bridge Seven"], "7.5"),
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


@pytest.mark.parametrize("after", [True, False])
def test_the_last_rows_first_cell_of_several_lines(sheet: Sheet, after: bool) -> None:
    """XT-06: where no row follows, the rows above tell how near the lines of one row stand, also capitalised ones."""
    rows = [
        (["Measure"], "2020"),
        (["Mean depth of the", "Water Table in Moss"], "1.5"),
        (["Flow"], "2.5"),
        (["Mean Time to the", "First Flood"], "-3.5"),
    ]
    y = 100.0
    for lines, value in rows:
        sheet.line(220, y, value)
        y = sheet.lines(72, y, lines) + 6
    if after:
        sheet.lines(72, y + 20, prose(1, 4))
    text = sheet.read().text
    for lines, value in rows:
        assert f"| {' '.join(lines)} | {value} |" in text


def test_a_last_row_of_its_first_cell_alone_is_one(sheet: Sheet) -> None:
    """XT-06: as far from the row above as rows are, it is a row, however long that row's first cell is."""
    rows = [
        ["Flow at the bridge", "2.5"],
        ["Loss", "1.5"],
        ["Mean time to the", "-3.5"],
        ["Observed Floods", ""],
    ]
    columns(sheet, [72, 220], 100, [["Measure", "2020"], *rows])
    assert "| Mean time to the | -3.5 |\n| Observed Floods |  |" in sheet.read().text


@pytest.mark.parametrize("head", [True, False])
def test_the_first_cell_of_a_rows_rest(sheet: Sheet, head: bool) -> None:
    """XT-06: the only row that is left over on a page goes on below, too."""
    rows = [[f"Mean depth of gauge {at}", f"{at}.5", f"{at}.25"] for at in range(50)]
    columns(sheet, [72, 220, 300], 130, [["Measure", "Low", "High"], *rows])
    sheet.turn_over()
    columns(sheet, [72, 220, 300], 80, [["Measure", "Low", "High"]] if head else [])
    y = 80 + 15 * head
    columns(sheet, [72, 220, 300], y, [["Greatest depth of", "50.5", "50.25"]])
    sheet.line(72, y + 11, "Bridge Seven")
    sheet.lines(72, y + 50, prose(1, 4))
    text = sheet.read().text
    assert text.count("| Measure |") == 1
    assert (
        "| Mean depth of gauge 49 | 49.5 | 49.25 |\n| Greatest depth of Bridge Seven | 50.5 | 50.25 |\n\n"
        in text
    )


def test_sums_below_a_table_are_rows(sheet: Sheet) -> None:
    """Their label stands in a middle column, where it is no second line of the cell above: numbers don't go on."""
    sheet.lines(60, 60, prose(1, 4))
    rows = [
        ["Item", "Amount", "Unit price", "Sum"],
        ["Lantern", "4", "26.56", "106.24"],
        ["Basket of marbles", "10", "75.79", "757.90"],
        ["Saddle", "8", "7.98", "63.84"],
        ["", "Subtotal", "", "927.98"],
        ["", "Tax 20 %", "", "185.60"],
        ["", "Total due", "", "1,113.58"],
    ]
    for at, row in enumerate(rows):
        for right, cell in zip((160, 240, 330, 420), row, strict=True):
            width = pymupdf.get_text_length(cell, "helv", 10)
            sheet.line(60 if right == 160 else right - width, 140 + 15 * at, cell)
    text = sheet.read().text
    for row in rows:
        assert "| " + " | ".join(row) + " |" in text


def test_justified_lines_of_long_words_are_no_table(sheet: Sheet) -> None:
    """XT-07: three lines of two words with a wide blank, within a paragraph that is set to one width."""
    lines = [
        "Der Regen fiel im Herbst auf das",
        "Land am Meer und auf die Stadt an",
        "der Mündung, in der die Schiffe zu",
        "Genehmigungsverfahren langfristige",
        "Umweltverträglichkeit voraussetzen",
        "Hochwasserrückhaltung entscheiden",
        "und wo die Leute seit Jahren auf",
        "den Wind warten, der aus dem Tal",
        "in die Gärten und Gassen kommt.",
    ]
    left, right = 60.0, 240.0
    y = 80.0
    for line in lines:
        words = line.split()
        widths = [pymupdf.get_text_length(word, "helv", 10) for word in words]
        blank = (right - left - sum(widths)) / max(1, len(words) - 1)
        x = left
        for word, width in zip(words, widths, strict=True):
            sheet.line(x, y, word)
            x += width + blank
        y += 13
    assert sheet.read().text == " ".join(lines) + "\n"


def test_the_title_of_a_document_that_is_one_table_is_a_heading(sheet: Sheet) -> None:
    """The table's words tell the size of the text, where there is no other."""
    sheet.line(60, 60, "Depths in Spring", size=16)
    y = [80 + 18 * at for at in range(12)]
    sheet.grid((56, 180, 260, 340), y)
    for at, top in enumerate(y[:-1]):
        for x, cell in zip((60, 184, 264), (f"Gauge {at}", f"{at}.5", f"{at}.7"), strict=True):
            sheet.line(x, top + 13, cell)
    assert sheet.read().text.startswith("# Depths in Spring\n\n| Gauge 0 | 0.5 | 0.7 |")


@pytest.mark.parametrize("space", [4, 8])
def test_rows_of_several_lines_in_every_column_but_one(sheet: Sheet, space: float) -> None:
    """XT-06: the space between rows tells them, where names and descriptions both go on below."""
    rows = [
        (["Term"], ["Meaning"], "Code"),
        (
            ["Different", "affinity"],
            ["A lantern at the mouth of the", "river, lit in winter and seen", "from the marsh."],
            "C14",
        ),
        (["Reservoir"], ["A meadow below the weir."], "C173"),
        (
            ["Regional", "temperature", "of June"],
            ["The mean of thirty days at the", "mill and the harbour."],
            "C219",
        ),
        (["Rainfall"], ["What falls between two dawns", "on the roof of the mill."], "C377"),
    ]
    y = sheet.lines(60, 80, prose(1, 4)) + 14
    for names, meaning, code in rows:
        sheet.lines(60, y, names)
        sheet.lines(150, y, meaning)
        sheet.line(340, y, code)
        y += 13 * max(len(names), len(meaning)) + space
    sheet.lines(60, y + 14, prose(2, 4))
    text = sheet.read().text
    for names, meaning, code in rows:
        assert f"| {' '.join(names)} | {' '.join(meaning)} | {code} |" in text


def test_rows_in_blocks_stay_rows(sheet: Sheet) -> None:
    """A wider space after every third row, as accounts have it, makes no row of three."""
    y = sheet.lines(60, 80, prose(1, 4)) + 14
    rows = [(f"Gauge {at} East", "open" if at % 3 else "", f"{at}.25") for at in range(12)]
    for at, row in enumerate(rows):
        y = columns(sheet, [60, 200, 300], y, [row]) + (9 if at % 3 == 2 else 0)
    text = sheet.read().text
    for row in rows:
        assert "| " + " | ".join(row) + " |" in text
