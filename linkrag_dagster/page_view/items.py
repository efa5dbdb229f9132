"""An extracted text page by page: its blocks in reading order, each with its boxes on the page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.extraction.locators import Box, box_on_page
from linkrag_dagster.extraction.records import Extraction, LeftOut, Page
from linkrag_dagster.markdown.elements import Element


@dataclass(frozen=True, slots=True)
class Run:
    """Characters that share a box; `confidence` where they were recognised."""

    start_char: int
    end_char: int
    box: Box
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Item:
    """A block of the text as far as it stands on one page.

    Attributes:
        number: its place in the reading order of the page, from 1.
        kind: of the Markdown element, `paragraph` where there is none.
        runs: its parts, in order; never empty.
        continued: whether it began on an earlier page.
    """

    number: int
    kind: str
    runs: tuple[Run, ...]
    continued: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """Words of the page that are not in the text; `box` where their place is known."""

    record: LeftOut
    box: Box | None


@dataclass(frozen=True, slots=True)
class PageItems:
    """All that is known of a page."""

    page: Page
    items: tuple[Item, ...]
    missing: tuple[Missing, ...]


def pages_of(found: Extraction, elements: Sequence[Element]) -> list[PageItems]:
    """The pages of a document with what was read on each; empty for formats without pages.

    Args:
        found: what extraction made of it.
        elements: of its text, in order.
    """
    runs: dict[int, dict[int, list[Run]]] = {page.page: {} for page in found.pages}
    starts = [element.start_char for element in elements]
    first_page: dict[int, int] = {}
    for locator in found.locators:
        where = box_on_page(locator.locator)
        if where is None or where[0] not in runs:
            continue
        page, box = where
        at = bisect_right(starts, locator.start_char) - 1
        first_page.setdefault(at, page)
        run = Run(locator.start_char, locator.end_char, box, locator.confidence)
        runs[page].setdefault(at, []).append(run)
    missing: dict[int, list[Missing]] = {page.page: [] for page in found.pages}
    for record in found.left_out:
        where = box_on_page(record.locator)
        missing.setdefault(record.page, []).append(Missing(record, where[1] if where else None))
    return [
        PageItems(
            page,
            tuple(
                Item(
                    number,
                    elements[at].kind if at >= 0 else "paragraph",
                    tuple(parts),
                    continued=first_page[at] < page.page,
                )
                for number, (at, parts) in enumerate(runs[page.page].items(), start=1)
            ),
            tuple(missing[page.page]),
        )
        for page in found.pages
    ]
