"""The words of a page with their places, in the order in which the page shows them (XT-03).

All boxes are (left, top, right, bottom) in points from the top left corner of the page as it is shown. On a page whose
text runs up or down, `Word.box` is turned so that its lines run to the right, and `Word.place` stays as shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from linkrag_dagster.extraction.locators import Box as Box


@dataclass(frozen=True, slots=True)
class Word:
    """Characters between two blanks.

    Attributes:
        text: as the page holds it; ligatures are taken apart.
        box: see the module.
        place: the box on the page as shown.
        base: where the line stands on which the word is written, from above.
        size: of the font, in points.
        bold, italic, mono, raised: how it is set.
        space: whether a blank follows it in its line.
        confidence: where it was recognised in a picture, else None.
    """

    text: str
    box: Box
    place: Box
    base: float
    size: float
    bold: bool = False
    italic: bool = False
    mono: bool = False
    raised: bool = False
    space: bool = True
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """Words of one line without a wide gap between them, in reading order, and what they say."""

    words: tuple[Word, ...]
    box: Box
    base: float
    size: float
    text: str


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page holds.

    Attributes:
        number: of the page, from 1.
        width, height: of the page in the coordinates of `Word.box`.
        turned: quarters by which the text's lines are turned against the page as shown.
        segments: lines that run in the page's main direction.
        aside: words that run in another direction.
        images: boxes of the page's images, on the page as shown.
        characters: how many the page's own text has, white space left out.
        unreadable: how many of them stand for nothing that a reader would see.
    """

    number: int
    width: float
    height: float
    turned: int
    segments: tuple[Segment, ...]
    aside: tuple[Word, ...]
    characters: int = 0
    unreadable: int = 0
    images: tuple[Box, ...] = ()

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the page as it is shown."""
        return (self.width, self.height) if self.turned % 2 == 0 else (self.height, self.width)

    def words(self) -> list[Word]:
        """All words, those in other directions too."""
        return [*(word for one in self.segments for word in one.words), *self.aside]


def joined(words: Sequence[Word]) -> str:
    """Words of a line with a blank where the page has one."""
    return "".join(word.text + (" " if word.space else "") for word in words).strip()


def union(boxes: Iterable[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def holds(box: Box, other: Box, slack: float = 0.0) -> bool:
    """Whether the middle of a box is in another, or at most `slack` points beyond its edges."""
    across, down = (other[0] + other[2]) / 2, (other[1] + other[3]) / 2
    return box[0] - slack <= across <= box[2] + slack and box[1] - slack <= down <= box[3] + slack


def segment(words: Sequence[Word]) -> Segment:
    """Words of a line; size and base are those of most of its characters."""
    if len(words) == 1:
        word = words[0]
        return Segment((word,), word.box, word.base, word.size, word.text.strip())
    weights: Counter[float] = Counter()
    for word in words:
        weights[word.size] += len(word.text) * (not word.raised)
    size = weights.most_common(1)[0][0]
    heaviest = max((word for word in words if word.size == size), key=lambda w: len(w.text) * (not w.raised))
    return Segment(tuple(words), union(word.box for word in words), heaviest.base, size, joined(words))


def within(box: Box, other: Box, slack: float) -> bool:
    """Whether all of a box is in another, or at most `slack` points beyond its edges."""
    return (
        other[0] - slack <= box[0]
        and other[1] - slack <= box[1]
        and box[2] <= other[2] + slack
        and box[3] <= other[3] + slack
    )


def clipped(box: Box, size: tuple[float, float]) -> Box:
    """What of a box is on a page of that width and height; turned inside out where nothing is."""
    return max(0.0, box[0]), max(0.0, box[1]), min(size[0], box[2]), min(size[1], box[3])


LEAST_EXTENT = 0.2
"""Points that a place extends each way at least: places are written with one decimal."""


def on_page(box: Box, size: tuple[float, float]) -> Box:
    """What of a box on the page as shown lies on the page, `LEAST_EXTENT` wide and high at least."""
    left, top, right, bottom = box
    width, height = size
    inside = left >= 0 and top >= 0 and right <= width and bottom <= height
    if inside and right - left >= LEAST_EXTENT and bottom - top >= LEAST_EXTENT:
        return box
    # The arguments' order matters: a number that is none, of a damaged file, is never the answer.
    left = max(0.0, min(width - LEAST_EXTENT, left))
    top = max(0.0, min(height - LEAST_EXTENT, top))
    right = max(left + LEAST_EXTENT, min(width, right))
    bottom = max(top + LEAST_EXTENT, min(height, bottom))
    return left, top, right, bottom


def turn(box: Box, quarters: int, size: tuple[float, float]) -> Box:
    """A box of the page as shown, in coordinates in which the text's lines run to the right."""
    left, top, right, bottom = box
    width, height = size
    match quarters % 4:
        case 1:  # lines run down
            return top, width - right, bottom, width - left
        case 2:
            return width - right, height - bottom, width - left, height - top
        case 3:  # lines run up
            return height - bottom, left, height - top, right
        case _:
            return box


def shown(page: Any, box: Box) -> Box:
    """A box in the coordinates of a page's contents, on the page as shown."""
    if not page.rotation:
        return box
    moved = page.rotation_matrix
    across = [x * moved.a + y * moved.c + moved.e for x in box[::2] for y in box[1::2]]
    down = [x * moved.b + y * moved.d + moved.f for x in box[::2] for y in box[1::2]]
    return min(across), min(down), max(across), max(down)
