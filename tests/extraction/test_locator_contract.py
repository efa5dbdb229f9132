"""What locators promise, broken on purpose (XT-02)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from linkrag_dagster.extraction import Extraction, extract
from linkrag_dagster.extraction.locator_contract import (
    order_problem,
    place_problem,
    sameness_problem,
    uncovered,
)
from linkrag_dagster.extraction.locators import Locator, page_locator
from linkrag_dagster.extraction.records import LeftOut, Page
from tests.extraction.test_pdf_places import documents

TEXT = "# Quay\n\nHerring comes in.\n\n![A crab](#page=1&bbox=0.0,0.0,9.0,9.0)\n"
PAGES = (Page(1, 0, 26, width=200.0, height=100.0), Page(2, 26, 26, width=100.0, height=200.0))


def on(page: int, *box: float) -> str:
    left, top, right, bottom = box
    return page_locator(page, (left, top, right, bottom))


def runs(*places: str) -> list[Locator]:
    return [
        Locator(a, b, place)
        for (a, b), place in zip([(0, 6), (8, 25), (27, len(TEXT) - 1)], places, strict=True)
    ]


GOOD = runs(on(1, 10, 10, 60, 20), on(1, 10, 30, 150, 50), on(1, 0, 0, 200, 100))


def problems(locators: list[Locator]) -> list[str]:
    found = [
        order_problem(TEXT, locators),
        place_problem(locators, PAGES),
        sameness_problem(TEXT, locators, PAGES),
    ]
    return [problem for problem in found if problem]


def test_good_locators_pass() -> None:
    """A picture may have the place of its page, text under it too."""
    assert problems(GOOD) == [] and uncovered(TEXT, GOOD) is None


@settings(max_examples=15, deadline=None)
@given(documents())
def test_extractions_pass(data: bytes) -> None:
    """XT-02: columns, tables, headings, pages shown turned."""
    found: Extraction = extract(data, "a.pdf")
    locators = list(found.locators)
    assert uncovered(found.text, locators) is None
    assert order_problem(found.text, locators) == ""
    assert place_problem([*locators, *found.left_out], found.pages) == ""
    assert sameness_problem(found.text, locators, found.pages) == ""


@pytest.mark.parametrize(
    ("locators", "says"),
    [
        ([Locator(0, 8, ""), Locator(7, 26, "")], "begins before 8"),
        ([Locator(0, 0, "")], "holds no character"),
        ([Locator(5, 3, "")], "holds no character"),
        ([Locator(0, len(TEXT) + 1, "")], "beyond the text"),
    ],
)
def test_runs_out_of_order(locators: list[Locator], says: str) -> None:
    """XT-02: a run-length table: sorted, disjoint, of characters that there are."""
    assert says in order_problem(TEXT, locators)


def test_characters_without_a_place() -> None:
    """XT-02: the first character that belongs to no locator; white space need not."""
    assert uncovered(TEXT, GOOD[:1]) == 8
    assert uncovered(TEXT, GOOD[1:]) == 0
    assert uncovered(" \n", []) is None


@pytest.mark.parametrize(
    ("place", "says"),
    [
        (on(3, 1, 1, 2, 2), "does not have"),
        (on(0, 1, 1, 2, 2), "does not have"),
        (on(1, 20, 1, 20, 2), "no extent"),
        (on(1, 1, 9, 2, 3), "no extent"),
        (on(1, -1, 1, 2, 2), "beyond its page"),
        (on(1, 1, 1, 201, 2), "beyond its page"),
        (on(2, 1, 1, 101, 2), "beyond its page"),
        (on(1, 1, 1, 2, 101), "beyond its page"),
        ("#char=0,5", "names no box"),
        ("#page=1", "names no box"),
    ],
)
def test_places_that_are_none(place: str, says: str) -> None:
    """XT-02: of the text as of what was left out of it."""
    assert says in place_problem([Locator(0, 6, place)], PAGES)
    assert says in place_problem([LeftOut(1, place, "7", "furniture")], PAGES)


def test_places_in_texts() -> None:
    """XT-02: a range of characters ends behind its beginning; formats without pages have no boxes to look at."""
    assert place_problem([Locator(0, 6, "#char=0,6")], ()) == ""
    assert "ends before it begins" in place_problem([Locator(0, 6, "#char=6,0")], ())


@pytest.mark.parametrize("box", [(0, 0, 200, 100), (10, 10, 150, 50), (3, 2, 197, 99)])
def test_one_box_a_page_is_no_locator(box: tuple[float, float, float, float]) -> None:
    """XT-02: several blocks of text with the same box, be it the page's or around its words."""
    assert "page 1 has 2 blocks" in sameness_problem(
        TEXT, runs(on(1, *box), on(1, *box), on(1, 0, 0, 9, 9)), PAGES
    )


def test_a_page_for_a_box() -> None:
    """XT-02: one block may fill its page; two can't, also where a third has its own box."""
    text = "One.\n\nTwo.\n\nThree.\n"
    spans = [(0, 4), (6, 10), (12, 18)]
    own, page, nearly = on(1, 10, 10, 60, 20), on(1, 0, 0, 200, 100), on(1, 1, 1, 199, 98)
    for places, wrong in (([own, page, nearly], True), ([page, own, own], False)):
        locators = [Locator(a, b, place) for (a, b), place in zip(spans, places, strict=True)]
        assert bool(sameness_problem(text, locators, PAGES)) == wrong


def test_lines_of_one_block_may_share_a_box() -> None:
    """Rows of a table and lines of an item are one block: an empty line parts blocks."""
    text = "| a |\n| --- |\n| b |\n"
    same = on(1, 10, 10, 60, 20)
    assert sameness_problem(text, [Locator(0, 13, same), Locator(14, 19, same)], PAGES) == ""
