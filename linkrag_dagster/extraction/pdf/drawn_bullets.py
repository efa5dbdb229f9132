"""Bullets in front of list items that are drawn, not written: browsers print them so (XT-06)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import Any

from linkrag_dagster.extraction.pdf.right_to_left import is_right_to_left
from linkrag_dagster.extraction.pdf.words import Box, Word, shown

_LEAST, _MOST = 0.12, 0.6
"""Sides of a bullet, in sizes of the font beside it."""
_NEAR, _FAR = 0.15, 2.5
"""Its distance from the line that it begins, in font sizes."""
_SQUARE = 1.4
"""The longer side over the shorter, at most."""
_LARGEST = 24.0
"""Points: side of a bullet beside type of 40 points."""
_BAND = 8.0
"""Points: height of the bands of the page by which shapes are looked up."""


def drawn_bullets(page: Any, lines: Sequence[Sequence[Word]], colours: Set[int]) -> list[Word]:
    """A word `•`, `◦` (drawn as an outline) or `▪` for each bullet drawn in front of a line.

    Before: a list printed by a browser, whose bullets are discs: `First item Second item` in one paragraph.
    After: `• First item`, `• Second item`.

    Args:
        page: a page of PyMuPDF.
        lines: words of the lines that run across the page, in reading order.
        colours: of the page's text, as 0xRRGGBB; marks in others, such as those of a chart's legend, are no bullets.
    """
    shapes: dict[int, list[tuple[float, Box, str]]] = defaultdict(list)
    for place, mark in _shapes(page, colours):
        shapes[int((place[1] + place[3]) / 2 // _BAND)].append((place[0], place, mark))
    for band in shapes.values():
        band.sort()
    found: dict[Box, Word] = {}
    for words in lines:
        beside = _beside(words[0], shapes) if words else None
        if beside is not None:
            place, mark = beside
            found.setdefault(place, Word(mark, place, place, words[0].base, words[0].size))
    return list(found.values())


def _shapes(page: Any, colours: Set[int]) -> Iterator[tuple[Box, str]]:
    """Places of small shapes, and the bullets that look like them."""
    for drawing in page.get_cdrawings():
        fill = drawing.get("fill")
        colour = drawing.get("color") if fill is None else fill
        place: Box = shown(page, tuple(drawing["rect"]))
        if colour is None or not _is_small(place) or _number(colour) not in colours:
            continue
        is_round = any(item[0] == "c" for item in drawing["items"])
        yield place, "▪" if not is_round else "◦" if fill is None else "•"


def _is_small(place: Box) -> bool:
    width, height = place[2] - place[0], place[3] - place[1]
    return 0 < max(width, height) <= min(_LARGEST, _SQUARE * min(width, height))


def _number(colour: Sequence[float]) -> int:
    red, green, blue = (round(255 * part) for part in colour)
    return red << 16 | green << 8 | blue


def _beside(word: Word, shapes: dict[int, list[tuple[float, Box, str]]]) -> tuple[Box, str] | None:
    """The shape in front of a line that begins with a word: left of it, or right where it is written from there."""
    if is_right_to_left(word.text):
        begin = word.place[2] + _NEAR * word.size
        end = word.place[2] + _FAR * word.size
    else:
        begin = word.place[0] - (_FAR + _MOST) * word.size
        end = word.place[0] - (_NEAR + _LEAST) * word.size
    top, bottom = word.base - 0.75 * word.size, word.base
    for number in range(int(top // _BAND), int(bottom // _BAND) + 1):
        band = shapes.get(number, [])
        for left, place, mark in band[bisect_left(band, begin, key=lambda one: one[0]) :]:
            if left > end:
                break
            side = max(place[2] - place[0], place[3] - place[1])
            if (
                _LEAST * word.size <= side <= _MOST * word.size
                and top <= (place[1] + place[3]) / 2 <= bottom
                and (place[0] >= word.place[2] or place[2] <= word.place[0] - _NEAR * word.size)
            ):
                return place, mark
    return None
