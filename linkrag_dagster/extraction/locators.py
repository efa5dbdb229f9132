"""Where each part of an extracted text stands in its document (XT-02)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""Left, top, right and bottom on a page, in points from its top left corner."""


@dataclass(frozen=True, slots=True)
class Locator:
    """A run of characters that share a place in the document.

    Attributes:
        start_char: first code point of the run, in the extracted text.
        end_char: one past its last code point.
        locator: the place, as a URL fragment: `#char=a,b` counts code points of the decoded document (RFC
            5147), with its own line breaks (CR LF is two) and without a byte order mark; `#page=n&bbox=l,t,r,b` is
            a box on a page, see `page_locator`.
        confidence: of the run's characters where they were recognised in a picture, else None.
    """

    start_char: int
    end_char: int
    locator: str
    confidence: float | None = None


def page_locator(page: int, box: Box) -> str:
    """A place on a page: its number from 1 (RFC 8118), and left, top, right, bottom in points from the top left corner.

    The page is taken as it is shown, turned if it asks to be.
    """
    return f"#page={page}&bbox=" + ",".join(f"{value:.1f}" for value in box)


_ON_PAGE = re.compile(r"#page=(\d+)&bbox=" + ",".join([r"(-?\d+(?:\.\d+)?)"] * 4))


def box_on_page(locator: str) -> tuple[int, Box] | None:
    """The page and the box that `page_locator` wrote; None for a place of another kind."""
    found = _ON_PAGE.fullmatch(locator)
    if found is None:
        return None
    page, left, top, right, bottom = found.groups()
    return int(page), (float(left), float(top), float(right), float(bottom))


def fragment(locators: Sequence[Locator], start_char: int, end_char: int) -> str:
    """The fragment that leads to a range of the text (CI-01).

    Args:
        locators: of the document, in order.
        start_char, end_char: the range, in the extracted text.

    Returns:
        On pages: the page where the range begins, with the box around all of it that is on that page. Elsewhere:
        `#char=from,to` in the extracted text.
    """
    first = bisect_right(locators, start_char, key=lambda locator: locator.end_char)
    page: int | None = None
    boxes: list[Box] = []
    for locator in locators[first:]:
        if locator.start_char >= end_char:
            break
        found = box_on_page(locator.locator)
        if found is None or (page is not None and found[0] != page):
            break
        page, box = found
        boxes.append(box)
    if page is None:
        return f"#char={start_char},{end_char}"
    left, top, right, bottom = zip(*boxes, strict=True)
    return page_locator(page, (min(left), min(top), max(right), max(bottom)))


def line_break_locators(original: str) -> tuple[Locator, ...]:
    """Locators of a decoded text whose line breaks were made LF; one for the whole when nothing moved.

    Where CR LF became LF offsets shift by one a line: then each line is a run of its own. An empty text has
    none.
    """
    if not original:
        return ()
    if "\r\n" not in original:
        return (Locator(0, len(original), f"#char=0,{len(original)}"),)
    locators: list[Locator] = []
    source = target = 0
    for match in re.finditer("\r\n", original):
        end = target + match.start() - source + 1
        locators.append(Locator(target, end, f"#char={source},{match.end()}"))
        source, target = match.end(), end
    if source < len(original):
        end = target + len(original) - source
        locators.append(Locator(target, end, f"#char={source},{len(original)}"))
    return tuple(locators)
