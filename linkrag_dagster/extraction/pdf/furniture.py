"""Running headers, footers and page numbers: what stands at the same place of many pages (XT-05)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.words import PageText

_ZONE = 0.12
"""Share of the page's height, above and below, in which furniture stands."""
_SAME_PLACE = 4.0
"""Points by which its place may differ from page to page."""
_FAR = 2.5
"""Distance in font sizes."""
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"(?:page|p\.|seite|页|第)?\s*[-–—]?\s*(?:[A-Z]?\d{1,4}(?:-\d{1,4})?|[ivxlc]{1,7})\s*[-–—]?"
    r"(?:\s*(?:of|/|von|de|sur|页)\s*\d{0,4})?",
    re.IGNORECASE,
)


def furniture(pages: Sequence[PageText]) -> list[list[Row]]:
    """For each page the rows that are furniture.

    A row in the upper or lower margin is when another page has the same words (whatever their numbers) at the same
    place; so is a page number that stands alone as the outermost row, or far from other words in a row that stands
    far from the text.
    """
    margins = [_margins(page) for page in pages]
    places: dict[tuple[str, bool], list[tuple[int, float]]] = defaultdict(list)
    for at, rows in enumerate(margins):
        for row, above in rows:
            places[_key(row), above].append((at, row.base))
    found: list[list[Row]] = []
    for at, (page, rows) in enumerate(zip(pages, margins, strict=True)):
        mine: list[Row] = []
        for side in (True, False):
            outermost = True
            for row, above in rows if side else reversed(rows):
                if above != side:
                    continue
                repeated = any(
                    other != at and abs(base - row.base) <= _SAME_PLACE
                    for other, base in places[_key(row), above]
                )
                number = outermost and (
                    _PAGE_NUMBER.fullmatch(row.text.strip()) is not None
                    or (_holds_page_number(row) and _stands_apart(row, page))
                )
                if repeated or number:
                    mine.append(row)
                outermost = outermost and (repeated or number)
        found.append(mine)
    return found


def _holds_page_number(row: Row) -> bool:
    """Whether a row is a page number and, far from it, few other words: `Appendix B        200`."""
    parts = sorted(row.segments, key=lambda part: part.box[0])
    return 1 < len(parts) <= 3 and any(
        part.text.strip().isdigit()
        and _PAGE_NUMBER.fullmatch(part.text.strip()) is not None
        and all(
            max(part.box[0] - other.box[2], other.box[0] - part.box[2]) >= _FAR * row.size
            for other in parts
            if other is not part
        )
        for part in parts
    )


def _stands_apart(row: Row, page: PageText) -> bool:
    """Whether no other row is near, above or below."""
    own = {id(part) for part in row.segments}
    return all(
        id(part) in own
        or part.box[3] < row.box[1] - _FAR * row.size
        or part.box[1] > row.box[3] + _FAR * row.size
        for part in page.segments
    )


def _key(row: Row) -> str:
    return _DIGITS.sub("#", " ".join(row.text.split()))


def _margins(page: PageText) -> list[tuple[Row, bool]]:
    """Rows in the margins with whether they stand above, from top to bottom."""
    zone = _ZONE * page.height
    near = [s for s in page.segments if s.box[3] < zone or s.box[1] > page.height - zone]
    return [(row, row.box[3] < zone) for row in rows_of(near)]
