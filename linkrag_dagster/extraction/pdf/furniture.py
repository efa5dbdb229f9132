"""Running headers, footers and page numbers: what stands at the same place of many pages (XT-05)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.rows import row as as_row
from linkrag_dagster.extraction.pdf.watermarks import watermarks
from linkrag_dagster.extraction.pdf.words import PageText, Segment

_ZONE = 0.12
"""Share of the page's height, above and below, in which furniture stands."""
_SAME_PLACE = 4.0
"""Points by which its place may differ from page to page."""
_FAR = 2.5
_NEXT_LINE, _NEXT_ROW = 1.5, 2.6
"""Distances in font sizes."""
_IN_LINE = 2.0
"""Points by which columns of a table may be out of line."""
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"(?:page|p\.|seite|页|第)?\s*[-–—]?\s*(?:[A-Z]?\d{1,4}(?:-\d{1,4})?|[ivxlc]{1,7})\s*[-–—]?"
    r"(?:\s*(?:of|/|von|de|sur|页)\s*\d{0,4})?",
    re.IGNORECASE,
)

_Place = tuple[str, bool, int]
"""Words but for their numbers, whether they stand in the upper margin, and about how high."""


def furniture(pages: Sequence[PageText]) -> list[list[Row]]:
    """For each page the rows that are furniture.

    A row in the upper or lower margin is when another page has the same words (whatever their numbers) at the same
    place, unless it goes with a row that is none: as a line of a paragraph (two footnotes may end alike), or as a row
    of a table. So is a page number that stands alone as the outermost row, or far from other words in a row that
    stands far from the text. So is a watermark.
    """
    marks = watermarks(pages)
    margins = [_margins(page, one) for page, one in zip(pages, marks, strict=True)]
    places: dict[_Place, list[tuple[int, Row]]] = defaultdict(list)
    for at, rows in enumerate(margins):
        for row, above in rows:
            places[_key(row), above, _level(row)].append((at, row))
    repeated = [
        _repeated(at, page, rows, places) for at, (page, rows) in enumerate(zip(pages, margins, strict=True))
    ]
    found: list[list[Row]] = []
    for at, (page, rows) in enumerate(zip(pages, margins, strict=True)):
        mine = [as_row([one]) for one in marks[at]]
        again = repeated[at]
        for side in (True, False):
            outermost = True
            for row, above in rows if side else reversed(rows):
                if above != side:
                    continue
                is_again = id(row.segments[0]) in again and not _is_of_table(at, row, above, places, repeated)
                number = outermost and (
                    _PAGE_NUMBER.fullmatch(row.text.strip()) is not None
                    or (_holds_page_number(row) and _stands_apart(row, page))
                )
                if is_again or number:
                    mine.append(row)
                outermost = outermost and (is_again or number)
        found.append(mine)
    return found


def _repeated(
    at: int,
    page: PageText,
    rows: Sequence[tuple[Row, bool]],
    places: Mapping[_Place, Sequence[tuple[int, Row]]],
) -> set[int]:
    """The parts of a page's rows that stand on other pages too, and do not go with text (by identity)."""
    again = {
        id(part)
        for row, above in rows
        if _is_repeated(row, ((other - at, one) for other, one in _likes(at, row, above, places)))
        for part in row.segments
    }
    # From the text outwards: what goes with text is text.
    for row, _ in sorted(rows, key=lambda one: one[0].base, reverse=True):
        if id(row.segments[0]) in again and _goes_with_text(row, page, again):
            again -= {id(part) for part in row.segments}
    for row, _ in rows:
        if id(row.segments[0]) in again and _goes_with_text(row, page, again):
            again -= {id(part) for part in row.segments}
    return again


def _level(row: Row) -> int:
    """Rows at the same place have the same level, or neighbouring ones."""
    return int(row.base // _SAME_PLACE)


def _likes(
    at: int, row: Row, above: bool, places: Mapping[_Place, Sequence[tuple[int, Row]]]
) -> Iterator[tuple[int, Row]]:
    """Rows of other pages with the same words at the same place, with their pages; looked for as they are asked for."""
    key, level = _key(row), _level(row)
    for near in (level, level - 1, level + 1):
        for other, one in places.get((key, above, near), ()):
            if other != at and abs(one.base - row.base) <= _SAME_PLACE:
                yield other, one


def _is_repeated(row: Row, others: Iterable[tuple[int, Row]]) -> bool:
    """Whether a row has its like on other pages, given with how many pages they are further.

    On one other page alone a number that differs has to count pages.

    Before: `print("value 15")` is furniture where the next page begins with `print("value 35")`.
    After: it is text; `page 15` above `page 16` is furniture, as is what three pages have.
    """
    alike: list[tuple[int, Row]] = []
    for pages, one in others:
        if alike and alike[0][0] != pages:
            return True
        alike.append((pages, one))
    mine = _numbers(row)
    for pages, one in alike:
        pairs = list(zip(mine, _numbers(one), strict=False))
        differ = [(a, b) for a, b in pairs if a != b]
        if not differ or any(a is not None and b is not None and b - a == pages for a, b in differ):
            return True
    return False


def _numbers(row: Row) -> list[int | None]:
    """A row's numbers; None for one in Roman numerals, or for letters that look like one."""
    found = _DIGITS.findall(" ".join(row.text.split()))
    return [int(one) if one.isdecimal() else None for one in found]


def _is_of_table(
    at: int,
    row: Row,
    above: bool,
    places: Mapping[_Place, Sequence[tuple[int, Row]]],
    repeated: Sequence[Set[int]],
) -> bool:
    """Whether a row of three parts or more has its like on other pages among rows of tables alone.

    Before: the row that is left over on a last page, `AC-1049   49.25   147.50`, is furniture since the page before
    begins with `AC-1011   11.25   33.50`.
    After: it is text, as that is.
    """
    return len(row.segments) >= 3 and not any(
        id(one.segments[0]) in repeated[other] for other, one in _likes(at, row, above, places)
    )


def _goes_with_text(row: Row, page: PageText, again: Set[int]) -> bool:
    """Whether words that are not `again` on other pages, of the same size, stand right above or below a row.

    As lines of one paragraph, or further off as a row of as many columns, three at least.
    """
    near = [
        part
        for part in page.segments
        if id(part) not in again
        and abs(part.size - row.size) < 0.3
        and 0 < abs(part.base - row.base) < _NEXT_ROW * row.size
    ]
    if any(
        part.box[0] < row.box[2]
        and row.box[0] < part.box[2]
        and abs(part.base - row.base) < _NEXT_LINE * row.size
        for part in near
    ):
        return True
    below = sum(
        any(abs(part.box[side] - one.box[side]) < _IN_LINE for part in near for side in (0, 2))
        for one in row.segments
    )
    return below >= 3 and below >= len(row.segments) - 1


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


def _margins(page: PageText, marks: Sequence[Segment]) -> list[tuple[Row, bool]]:
    """Rows in the margins with whether they stand above, from top to bottom."""
    zone = _ZONE * page.height
    gone = set(map(id, marks))
    near = [
        s for s in page.segments if id(s) not in gone and (s.box[3] < zone or s.box[1] > page.height - zone)
    ]
    return [(row, row.box[3] < zone) for row in rows_of(near)]
