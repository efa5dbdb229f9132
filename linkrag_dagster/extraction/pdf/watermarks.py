"""Watermarks: large words that lie over or under the text of several pages (XT-05)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from linkrag_dagster.extraction.pdf.words import PageText, Segment

_LARGER = 2.0
"""Times the usual size of the page's text."""
_SAME_PLACE = 4.0
"""Points by which its place may differ from page to page."""
_LEAST_LINES = 2
"""Lines of text that it lies over, on one of its pages."""


def watermarks(pages: Sequence[PageText]) -> list[list[Segment]]:
    """For each page the segments that are one: the same large words at the same place of pages, over lines of text.

    Those that run askew are no segments. A title stands at the same place of many pages, and over nothing.

    Before: `followed. CONFIDENTIAL` is a heading within a paragraph.
    After: `CONFIDENTIAL` is furniture, and the paragraph is whole.
    """
    large = [_large(page) for page in pages]
    places: dict[str, list[tuple[int, Segment]]] = defaultdict(list)
    for at, found in enumerate(large):
        for one in found:
            places[one.text].append((at, one))
    made: list[list[Segment]] = []
    for found in large:
        mine: list[Segment] = []
        for one in found:
            same = [(other, twin) for other, twin in places[one.text] if _is_at(one, twin)]
            if len({other for other, _ in same}) > 1 and any(
                _lies_over(twin, pages[other]) for other, twin in same
            ):
                mine.append(one)
        made.append(mine)
    return made


def _large(page: PageText) -> list[Segment]:
    sizes = [one.size for one in page.segments for _ in one.words]
    usual = median(sizes) if sizes else 0.0
    return [one for one in page.segments if one.size >= _LARGER * usual]


def _is_at(one: Segment, other: Segment) -> bool:
    return all(abs(a - b) <= _SAME_PLACE for a, b in zip(one.box, other.box, strict=True))


def _lies_over(one: Segment, page: PageText) -> bool:
    """Whether lines of smaller text run through a segment's letters."""
    left, right = one.box[0], one.box[2]
    top, bottom = one.base - 0.6 * one.size, one.base
    lines = {
        round(other.base)
        for other in page.segments
        if other.size < one.size / _LARGER
        and top <= (other.box[1] + other.box[3]) / 2 <= bottom
        and other.box[0] < right
        and left < other.box[2]
    }
    return len(lines) >= _LEAST_LINES
