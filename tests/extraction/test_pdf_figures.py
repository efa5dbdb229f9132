"""Figures: drawings with labels, captions, and what stands side by side (XT-04, XT-06)."""

from __future__ import annotations

import re

import pymupdf
import pytest

from linkrag_dagster.extraction import Extraction
from linkrag_dagster.markdown import parse
from tests.extraction.test_pdf import Sheet, prose
from tests.extraction.test_pdf_places import assert_covered


@pytest.fixture
def sheet() -> Sheet:
    made = Sheet()
    made.turn_over()
    return made


def figures(result: Extraction) -> list[str | None]:
    """What the text's images say."""
    return [e.description for e in parse(result.text) if e.kind == "image"]


def paragraphs(result: Extraction) -> list[str]:
    return [result.text[e.start_char : e.end_char] for e in parse(result.text) if e.kind == "paragraph"]


def mill(sheet: Sheet, x: float, y: float) -> None:
    """A drawing, 200 wide and 100 high, with three labels."""
    sheet.page.draw_rect((x, y, x + 200, y + 100))
    sheet.page.draw_circle((x + 50, y + 50), 30)
    sheet.page.draw_line((x + 80, y + 50), (x + 140, y + 50))
    sheet.line(x + 35, y + 53, "Wheel", size=8)
    sheet.line(x + 95, y + 46, "race", size=7)
    sheet.line(x + 145, y + 53, "Sluice", size=8)


def picture(sheet: Sheet, x: float, y: float, width: float = 200, height: float = 100) -> None:
    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 20), False)
    pixels.clear_with(90)
    sheet.page.insert_image((x, y, x + width, y + height), pixmap=pixels)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("rotation", [0, 90])
def test_labels_belong_to_the_drawing(sheet: Sheet, above: bool, rotation: int) -> None:
    """XT-04: they come between no paragraphs; XT-02: box and characters agree; nothing is lost."""
    sheet.lines(72, 80, prose(1, 4, 400))
    if above:
        sheet.line(72, 156, "Figure 4-12. From the wheel to the sluice.", size=9)
    mill(sheet, 150, 165)
    if not above:
        sheet.line(72, 283, "Figure 4-12. From the wheel to the sluice.", size=9)
    sheet.lines(72, 310, prose(2, 4, 400))
    sheet.page.set_rotation(rotation)
    result = sheet.read()
    assert figures(result) == ["Figure 4-12. From the wheel to the sluice. race; Wheel; Sluice"]
    assert paragraphs(result) == [" ".join(prose(seed, 4, 400)) for seed in (1, 2)]
    assert_covered(result)


def test_axes_belong_to_the_chart(sheet: Sheet) -> None:
    """XT-04: title, ticks and the names of axes stand around what is drawn."""
    sheet.lines(72, 80, prose(1, 4, 400))
    sheet.line(215, 155, "Depth by month", size=11)
    sheet.page.draw_polyline([(120, 165), (120, 265), (380, 265)])
    sheet.page.draw_polyline([(120, 250), (200, 200), (300, 220), (380, 170)])
    for at in range(4):
        sheet.line(110, 265 - 25 * at, str(at), size=8)
        sheet.line(125 + 60 * at, 276, f"{2020 + at}", size=8)
    sheet.line(238, 290, "Year", size=8)
    sheet.line(72, 310, "Figure 2: What was measured at the weir.", size=9)
    sheet.lines(72, 340, prose(2, 4, 400))
    result = sheet.read()
    (said,) = figures(result)
    assert said is not None and said.startswith("Figure 2: What was measured at the weir. Depth by month; ")
    assert sorted(re.findall(r"\d+", said)) == sorted(["2", *"0123", "2020", "2021", "2022", "2023"])
    assert said.endswith("Year")
    assert paragraphs(result) == [" ".join(prose(seed, 4, 400)) for seed in (1, 2)]


def test_a_frame_around_prose_is_no_figure(sheet: Sheet) -> None:
    """XT-04: what is written in it stays text, whatever the caption says."""
    sheet.page.draw_rect((66, 70, 320, 150))
    sheet.lines(72, 90, prose(1, 4, 240))
    sheet.line(72, 165, "Figure 1. What the boatmen said.", size=9)
    result = sheet.read()
    assert figures(result) == []
    assert " ".join(prose(1, 4, 240)) in result.text


def test_a_drawing_without_a_caption_is_none(sheet: Sheet) -> None:
    """XT-06: decoration has no labels; what is written in it stays where it is."""
    sheet.lines(72, 80, prose(1, 4, 400))
    mill(sheet, 150, 165)
    result = sheet.read()
    assert figures(result) == []
    assert all(label in result.text for label in ("Wheel", "race", "Sluice"))


@pytest.mark.parametrize("drawn", [True, False])
def test_captions_side_by_side(sheet: Sheet, drawn: bool) -> None:
    """XT-04, XT-06: each goes with its own figure, also over several lines."""
    sheet.lines(72, 80, prose(1, 4, 450))
    for x in (72, 300):
        (mill if drawn else picture)(sheet, x, 140)
    sheet.lines(72, 255, ["Figure 1. The mill at the moss, as it", "was before the flood."])
    sheet.lines(
        300, 255, ["Figure 2. The weir as it was built", "after that, and the harbour below", "the town."]
    )
    sheet.lines(72, 320, prose(2, 4, 450))
    result = sheet.read()
    labels = " race; Wheel; Sluice" if drawn else ""
    assert figures(result) == [
        f"Figure 1. The mill at the moss, as it was before the flood.{labels}",
        f"Figure 2. The weir as it was built after that, and the harbour below the town.{labels}",
    ]
    assert paragraphs(result) == [" ".join(prose(seed, 4, 450)) for seed in (1, 2)]
    assert_covered(result)


def test_captions_above_tables_side_by_side(sheet: Sheet) -> None:
    """XT-04, XT-06: a caption, its table, the next caption, the next table."""
    sheet.lines(72, 80, prose(1, 4, 450))
    for number, x in enumerate((72, 310), start=1):
        sheet.line(x, 150, f"Table {number}. Depth of gauge {number}.")
        for row in range(4):
            for column in range(3):
                sheet.line(x + 4 + 70 * column, 173 + 18 * row, f"{number}{row}.{column}", size=9)
        sheet.grid([x + 70 * at for at in range(4)], [160 + 18 * at for at in range(5)])
    sheet.lines(72, 270, prose(2, 4, 450))
    result = sheet.read()
    words = [result.text[e.start_char : e.end_char] for e in parse(result.text)]
    assert [e.kind for e in parse(result.text)] == ["paragraph", *["paragraph", "table"] * 2, "paragraph"]
    for number in (1, 2):
        assert words[2 * number - 1] == f"Table {number}. Depth of gauge {number}."
        assert words[2 * number].startswith(f"| {number}0.0 | {number}0.1 | {number}0.2 |")


@pytest.mark.parametrize("count", [3, 40])
def test_many_figures_in_a_column_have_one_caption_each(count: int) -> None:
    """XT-06: on a long page too, each with its own labels, and both lines of its caption."""
    sheet = Sheet()
    sheet.page = sheet.document.new_page(width=595, height=170 * count + 60)
    for at in range(count):
        mill(sheet, 60, 170 * at + 20)
        sheet.line(60, 170 * at + 136, f"Figure {at + 1}. A mill")
        sheet.line(60, 170 * at + 148, "of the upper valley.")
    result = sheet.read()
    assert figures(result) == [
        f"Figure {at + 1}. A mill of the upper valley. race; Wheel; Sluice" for at in range(count)
    ]
    assert_covered(result)


def test_a_list_of_figures_is_no_caption_of_the_drawing_below_it(sheet: Sheet) -> None:
    """XT-06: of lines that go on in each other none is nearer to the drawing."""
    for at in range(6):
        sheet.line(60, 80 + 12 * at, f"Figure {at + 1}. A mill of the upper valley")
    mill(sheet, 60, 80 + 12 * 6)
    assert figures(sheet.read()) == []
