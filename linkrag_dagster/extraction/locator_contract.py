"""What locators promise, as far as text, locators and pages tell it: what a lake can be asked again (XT-02)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from linkrag_dagster.extraction.locators import Box, Locator, box_on_page
from linkrag_dagster.extraction.records import LeftOut, Page

SLACK = 0.06
"""Points: boxes are written with one decimal."""
_WHOLE_PAGE = 0.95
"""Share of a page's width, and of its height, from which on a box is the page and no place on it."""
_CHARACTERS = re.compile(r"#char=(\d+),(\d+)")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def order_problem(text: str, locators: Sequence[Locator]) -> str:
    """How runs are out of order, empty, above each other or beyond the text; "" where they are not."""
    at = 0
    for one in locators:
        if one.start_char < at:
            return f"the locator at {one.start_char} begins before {at}, where the one before it ends"
        if one.end_char <= one.start_char:
            return f"the locator at {one.start_char} holds no character"
        at = one.end_char
    return (
        f"the last locator ends at {at}, beyond the text's {len(text)} characters" if at > len(text) else ""
    )


def uncovered(text: str, locators: Sequence[Locator]) -> int | None:
    """The first character that is not white space and belongs to no locator; None where there is none."""
    at = 0
    for start, end in [*((one.start_char, one.end_char) for one in locators), (len(text), len(text))]:
        gap = text[at:start]
        if gap.strip():
            return at + len(gap) - len(gap.lstrip())
        at = max(at, end)
    return None


def place_problem(locators: Sequence[Locator | LeftOut], pages: Sequence[Page]) -> str:
    """Which place is none of the document: of no page, without extent, beyond its page; "" where all are some."""
    sizes = {page.page: (page.width, page.height) for page in pages}
    for one in locators:
        found = box_on_page(one.locator)
        if found is None:
            characters = _CHARACTERS.fullmatch(one.locator)
            if pages:
                return f"{one.locator} names no box on a page"
            if characters is not None and int(characters[2]) < int(characters[1]):
                return f"{one.locator} ends before it begins"
            continue
        page, (left, top, right, bottom) = found
        if page not in sizes:
            return f"{one.locator} is on a page that the document does not have"
        if left >= right or top >= bottom:
            return f"{one.locator} has no extent"
        width, height = sizes[page]
        if min(left, top) < -SLACK or right > width + SLACK or bottom > height + SLACK:
            return f"{one.locator} reaches beyond its page of {width:.1f} by {height:.1f} points"
    return ""


def sameness_problem(text: str, locators: Sequence[Locator], pages: Sequence[Page]) -> str:
    """Which page has one box for all: several blocks of text, parted by empty lines, none of which has its own.

    Either all have the same, or two of them have (nearly) the whole page; pictures without text have none to say.
    """
    sizes = {page.page: (page.width, page.height) for page in pages}
    for page, boxes in _boxes_of_blocks(text, locators).items():
        if len(boxes) < 2:
            continue
        if len({tuple(round(value) for value in box) for box in boxes}) == 1:
            return f"page {page} has {len(boxes)} blocks of text with the same box, {boxes[0]}"
        width, height = sizes.get(page, (0.0, 0.0))
        whole = sum(
            right - left >= _WHOLE_PAGE * width and bottom - top >= _WHOLE_PAGE * height
            for left, top, right, bottom in boxes
        )
        if whole > 1:
            return f"page {page} has {whole} blocks of text with the whole page for a box"
    return ""


def _boxes_of_blocks(text: str, locators: Sequence[Locator]) -> Mapping[int, Sequence[Box]]:
    """For each page the box around each of its blocks of text."""
    found: dict[int, list[Box]] = defaultdict(list)
    end = -1
    last = 0
    for one in locators:
        place = box_on_page(one.locator)
        if place is None or text.startswith("![", one.start_char):
            continue
        page, box = place
        apart = end < 0 or _BLANK_LINE.search(text, end, one.start_char) is not None
        boxes = found[page]
        if apart or page != last or not boxes:
            boxes.append(box)
        else:
            left, top, right, bottom = boxes[-1]
            boxes[-1] = min(left, box[0]), min(top, box[1]), max(right, box[2]), max(bottom, box[3])
        end, last = one.end_char, page
    return found
