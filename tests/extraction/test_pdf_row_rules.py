"""Tables whose rows rules across or stripes set apart, with nothing between columns (XT-03, XT-06)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.extraction.test_pdf import Sheet, prose

LEFT, RIGHT = 60.0, 500.0
COLUMNS = (64.0, 190.0, 440.0)
ROWS = [
    [["Site"], ["What was found"], ["Cost"]],
    [
        ["Gauge at the"],
        ["The mouth was dredged twice,", "and the harbour wall was raised", "by a third."],
        ["51.50"],
    ],
    [["Mill"], ["Nothing."], ["8.20"]],
    [["Northern"], ["A lantern was lost in June,", "and found in a meadow."], ["107.00"]],
    [["Weir"], ["The gate was hung anew", "after the flood."], ["66.10"]],
]


def table(sheet: Sheet, y: float, *, rules: bool, stripes: bool, middle: bool) -> float:
    """Draws the rows; cells of fewer lines stand at the top of their row, or in the middle."""
    for at, row in enumerate(ROWS):
        tallest = max(map(len, row))
        height = 13 * tallest + 6
        if stripes and at % 2:
            sheet.page.draw_rect((LEFT, y, RIGHT, y + height), fill=(0.9, 0.93, 0.97), color=None)
        if rules:
            sheet.page.draw_line((LEFT, y), (RIGHT, y))
        for x, cell in zip(COLUMNS, row, strict=True):
            sheet.lines(x, y + 13 + (6.5 * (tallest - len(cell)) if middle else 0), cell)
        y += height
    if rules:
        sheet.page.draw_line((LEFT, y), (RIGHT, y))
    return y


def written(rows: Sequence[Sequence[Sequence[str]]]) -> str:
    lines = ["| " + " | ".join(" ".join(cell) for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "| --- | --- | --- |", *lines[1:]])


@pytest.mark.parametrize("middle", [False, True])
@pytest.mark.parametrize(("rules", "stripes"), [(True, False), (False, True), (True, True)])
def test_a_row_is_what_stands_between_two_rules(rules: bool, stripes: bool, middle: bool) -> None:
    """Cells keep their lines; the head above the first stripe and the row below the last are rows too."""
    sheet = Sheet()
    sheet.turn_over()
    before, after = prose(1, 4, 430), prose(2, 4, 430)
    y = sheet.lines(LEFT, 80, before)
    y = table(sheet, y + 10, rules=rules, stripes=stripes, middle=middle)
    sheet.lines(LEFT, y + 30, after)
    assert sheet.read().text == "\n\n".join([" ".join(before), written(ROWS), " ".join(after)]) + "\n"


def test_rules_that_some_rows_have() -> None:
    """Between rules at sums alone each line is a row of its own, also before the first sum."""
    sheet = Sheet()
    sheet.turn_over()
    rows = [
        ["", "Note", "2023", "2022"],
        ["Revenue", "", "28,249", "4,008"],
        ["Cost of sales", "4", "(9,882)", "(1,913)"],
        ["Gross profit", "", "18,367", "2,095"],
        ["Administration", "6", "6,939", "1,925"],
        ["Other income", "", "746", "743"],
        ["Operating profit", "8", "12,174", "913"],
        ["Finance costs", "", "353", "399"],
        ["Profit before tax", "10", "11,821", "514"],
    ]
    y = sheet.lines(LEFT, 80, prose(1, 4, 430)) + 10
    for at, row in enumerate(rows):
        if row[0] in ("Gross profit", "Operating profit", "Profit before tax"):
            sheet.page.draw_line((LEFT, y), (RIGHT, y))
        for x, cell in zip((64, 200, 300, 400), row, strict=True):
            if cell:
                sheet.line(x, y + 11, cell)
        y += 15
        if at + 1 == len(rows):
            sheet.page.draw_line((LEFT, y), (RIGHT, y))
    text = sheet.read().text
    for row in rows:
        assert "| " + " | ".join(row) + " |" in text


def test_prose_between_rules_is_no_table() -> None:
    """Columns of prose that rules cut into articles, and paragraphs below underlined headings."""
    sheet = Sheet()
    sheet.turn_over()
    y = 80.0
    said: list[str] = []
    for part in range(4):
        sheet.page.draw_line((LEFT, y), (530, y))
        columns = [prose(2 * part + side, 9) for side in range(2)]
        for x, lines in zip((LEFT, 310), columns, strict=True):
            sheet.lines(x, y + 20, lines)
            said.append(" ".join(lines))
        y += 150
    sheet.page.draw_line((LEFT, y), (530, y))
    text = sheet.read().text
    assert "|" not in text
    for paragraph in said:
        assert paragraph in text


def test_a_running_header_above_a_rule_is_no_row() -> None:
    """XT-05: what stands at the head of each page is left out, though it stands above the table's first rule."""
    sheet = Sheet()
    for _ in range(2):
        sheet.turn_over()
        for x, cell in zip((70, 215, 460), ["Journal of Peat", "Volume nine", "1999"], strict=True):
            sheet.line(x, 60, cell)
        y = table(sheet, 70, rules=True, stripes=False, middle=False)
        sheet.lines(LEFT, y + 30, prose(3, 30, 430))
    result = sheet.read()
    assert "Journal of Peat" not in result.text
    assert [one.text for one in result.left_out if one.reason == "furniture"]
