"""Lists whose bullets are drawn, not written, as browsers print them (XT-06)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pymupdf
import pytest

from linkrag_dagster.extraction import extract
from linkrag_dagster.extraction.pdf.drawn_bullets import drawn_bullets
from linkrag_dagster.extraction.pdf.words import Word

open_pdf = cast("Callable[..., Any]", cast("Any", pymupdf).open)
ITEMS = ("Gauges of the north", "Pumps that were replaced", "Weirs below the mill")
BLACK, RED = (0.0, 0.0, 0.0), (0.8, 0.0, 0.0)
Draw = Callable[[Any, float, float], object]


def new_page(rotation: int = 0) -> Any:
    page = open_pdf().new_page(width=595, height=842)
    page.set_rotation(rotation)
    return page


def write(page: Any, at: tuple[float, float], text: str) -> None:
    place = pymupdf.Point(*at) * page.derotation_matrix
    page.insert_text(place, text, fontsize=10, fontname="helv", rotate=page.rotation)


def at(page: Any, across: float, down: float) -> Any:
    return pymupdf.Point(across, down) * page.derotation_matrix


def disc(page: Any, across: float, down: float) -> None:
    page.draw_circle(at(page, across, down), 1.6, color=None, fill=BLACK)


def ring(page: Any, across: float, down: float) -> None:
    page.draw_circle(at(page, across, down), 1.6, color=BLACK)


def square(page: Any, across: float, down: float) -> None:
    corners = pymupdf.Rect(at(page, across - 1.6, down - 1.6), at(page, across + 1.6, down + 1.6))
    page.draw_rect(corners.normalize(), color=None, fill=BLACK)


def text_of(page: Any) -> str:
    return extract(page.parent.tobytes(), "list.pdf").text


def listed(draw: Draw, items: Sequence[str] = ITEMS, rotation: int = 0) -> Any:
    page = new_page(rotation)
    write(page, (60, 80), "The committee asked for a list of all that the district owns:")
    for row, item in enumerate(items):
        draw(page, 68, 103.5 + 13 * row)
        write(page, (78, 107 + 13 * row), item)
    return page


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("draw", [disc, ring, square])
def test_each_line_behind_a_bullet_is_an_item(draw: Draw, rotation: int) -> None:
    """XT-06, XT-09: whichever shape, on pages turned as they may be."""
    assert text_of(listed(draw, rotation=rotation)).endswith(
        "\n\n" + "".join(f"- {item}\n" for item in ITEMS)
    )


def test_an_item_goes_on_below_itself() -> None:
    """XT-06: a line without a bullet belongs to the item above."""
    page = new_page()
    for row, (mark, line) in enumerate(
        [
            (True, "Gauges of the north, which were"),
            (False, "measured anew in spring"),
            (True, "Pumps of the mill"),
        ]
    ):
        if mark:
            disc(page, 68, 103.5 + 13 * row)
        write(page, (78, 107 + 13 * row), line)
    assert text_of(page) == "- Gauges of the north, which were measured anew in spring\n- Pumps of the mill\n"


def far(page: Any, across: float, down: float) -> None:
    disc(page, across - 30, down)


def large(page: Any, across: float, down: float) -> None:
    page.draw_circle((across, down), 4.5, color=None, fill=BLACK)


def speck(page: Any, across: float, down: float) -> None:
    page.draw_circle((across, down), 0.3, color=None, fill=BLACK)


def dash(page: Any, across: float, down: float) -> None:
    page.draw_rect((across - 3, down - 1, across + 3, down + 1), color=None, fill=BLACK)


def raised(page: Any, across: float, down: float) -> None:
    disc(page, across, down - 6)


def of_a_legend(page: Any, across: float, down: float) -> None:
    page.draw_circle((across, down), 1.6, color=None, fill=RED)


@pytest.mark.parametrize("draw", [far, large, speck, dash, raised, of_a_legend])
def test_other_shapes_are_no_bullets(draw: Draw) -> None:
    """XT-06: too far off, too large, too small, oblong, above the line, or in no colour of the text's."""
    assert "- " not in text_of(listed(draw))


def test_a_line_from_the_right_has_its_bullet_there() -> None:
    """XT-09: `word` ends at 500; the shape on its other side begins no line."""
    page = new_page()
    disc(page, 508, 103.5)
    disc(page, 452, 103.5)
    word = Word("\u05d2\u05e9\u05dd", (460, 99, 500, 109), (460, 99, 500, 109), 107.0, 10.0)
    (bullet,) = drawn_bullets(page, [[word]], {0})
    assert bullet.text == "\u2022"
    assert bullet.place == pytest.approx((506.4, 101.9, 509.6, 105.1), abs=0.1)


def test_one_shape_is_one_bullet() -> None:
    """XT-02: two lines that begin beside one shape don't say it twice."""
    page = new_page()
    disc(page, 68, 103.5)
    word = Word("Gauges", (78, 99, 110, 109), (78, 99, 110, 109), 107.0, 10.0)
    assert len(drawn_bullets(page, [[word], [word], []], {0})) == 1
