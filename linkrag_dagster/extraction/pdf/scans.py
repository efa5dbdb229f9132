"""Which parts of a page hold words that its text does not: scans, pictures of text, broken fonts (XT-08).

Pages are routed one by one. What is asked is cheap: how many of a page's characters can be read, which images lie
where no words are, and whether these look like writing when drawn small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkrag_dagster.extraction.pdf.legibility import is_suspicious
from linkrag_dagster.extraction.pdf.library import pymupdf
from linkrag_dagster.extraction.pdf.words import Box, PageText, clipped, holds, within

_BROKEN, _HOPELESS = 0.05, 0.3
"""Share of characters that stand for nothing: from the first on the page is recognised, from the second on none of its
own is kept."""
_WHOLE_PAGE = 0.6
"""Share of the page that images without words on them cover, from which on all of it is recognised."""
_LEAST_IMAGE = (36.0, 8.0)
"""Width and height in points of the smallest image that is looked at."""
_LEAST_SHARE = 0.01
"""Of the page's area."""
_FEW = 0.1
"""Characters for each square of 10 points below which an image counts as without words on it: a page of text has 1."""
_LOOK = 100
"""Dots per inch at which an image is looked at."""
_INK = 60
"""Difference from the background, of 255, from which on a dot is ink."""
_STROKES = 0.07
"""Changes between paper and ink for each dot of a row of writing; a drawing's rows have few."""
_LEAST_STROKES = 10
_WRITTEN, _HOLDING = 0.1, 0.5
"""Share of rows that look like writing, and share of the ink in them, from which on an image does."""
_MOST_INK = 0.45
_LAYERS = 1.0
"""Points by which one layer of a picture may be larger than another."""
_MOST_PARTS = 4
"""Images inside an image, itself among them, beyond which it is a drawing put together from parts."""
_PLAIN, _LEAST_PLAIN = 24, 0.4
"""Difference from the background, of 255, up to which a dot is paper, and share of such dots in a picture of text."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What of a page is to be recognised.

    Attributes:
        boxes: on the page as shown; the whole page, or pictures of text.
        whole: whether that is the whole page.
        drop: whether the page's own characters can't be used at all.
        doubt: whether they only look as if they couldn't: then the two readings are to be compared.
    """

    boxes: tuple[Box, ...]
    whole: bool
    drop: bool = False
    doubt: bool = False


def unread(page: Any, text: PageText) -> Unread | None:
    """What of a page is to be recognised; None where its characters say it all."""
    size = (float(page.rect.width), float(page.rect.height))
    everything = ((0.0, 0.0, *size),)
    if not text.characters:
        return Unread(everything, whole=True) if _has_ink(page) else None
    if text.unreadable >= _BROKEN * text.characters:
        return Unread(everything, whole=True, drop=text.unreadable >= _HOPELESS * text.characters)
    if is_suspicious(" ".join(one.text for one in text.segments)):
        return Unread(everything, whole=True, drop=True, doubt=True)
    bare = [box for box in _images(text, size) if _is_bare(box, text)]
    if not bare:
        return None
    if _covered(bare, size) >= _WHOLE_PAGE:
        return Unread(everything, whole=True)
    written = tuple(
        box
        for box in _without_twins(bare)
        if sum(within(part, box, _LAYERS) for part in text.images) <= _MOST_PARTS
        and _looks_written(page, box)
    )
    return Unread(written, whole=False) if written else None


def _images(text: PageText, size: tuple[float, float]) -> list[Box]:
    found: list[Box] = []
    for image in text.images:
        box = clipped(image, size)
        width, height = box[2] - box[0], box[3] - box[1]
        large = width * height >= _LEAST_SHARE * size[0] * size[1]
        if large and max(width, height) >= _LEAST_IMAGE[0] and min(width, height) >= _LEAST_IMAGE[1]:
            found.append(box)
    return found


def _is_bare(box: Box, text: PageText) -> bool:
    """Whether few of the page's words stand on an image."""
    characters = sum(len(word.text) for word in text.words() if holds(box, word.place))
    area = (box[2] - box[0]) * (box[3] - box[1])
    return characters < _FEW * area / 100


def _covered(boxes: Sequence[Box], size: tuple[float, float]) -> float:
    """Share of the page that boxes cover, on a grid of 50 by 50."""
    grid = np.zeros((50, 50), dtype=bool)
    for left, top, right, bottom in boxes:
        rows = slice(round(50 * top / size[1]), round(50 * bottom / size[1]))
        grid[rows, round(50 * left / size[0]) : round(50 * right / size[0])] = True
    return float(grid.mean())


def _without_twins(boxes: Sequence[Box]) -> list[Box]:
    """Boxes without those that lie inside another: layers of one picture."""
    kept: list[Box] = []
    for box in sorted(boxes, key=lambda b: (b[0] - b[2]) * (b[3] - b[1])):
        if not any(within(box, k, _LAYERS) for k in kept):
            kept.append(box)
    return kept


def _gray(page: Any, box: Box | None, dots: float) -> Any:
    clip = None if box is None else pymupdf().Rect(box)
    drawn = page.get_pixmap(dpi=int(dots), colorspace="gray", clip=clip)
    return np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.stride)[:, : drawn.width]


def _has_ink(page: Any) -> bool:
    """Whether anything is drawn on a page: a page that is blank, or of one colour, needs no recognition."""
    gray = _gray(page, None, 36)
    return bool(gray.size) and int(gray.max()) - int(gray.min()) > _INK


def _looks_written(page: Any, box: Box) -> bool:
    """Whether a picture looks like lines of writing, upright or on their side: strokes on plain paper.

    Photographs and shaded drawings have no plain ground; in charts and drawings most rows cross few strokes; a logo
    with a name holds more ink than the name does. All of that would be recognised in vain: `recognition` keeps a
    reading only where it accounts for the picture's ink.
    """
    gray = _gray(page, box, _LOOK).astype(np.int16)
    if min(gray.shape) < _LEAST_IMAGE[1]:
        return False
    away = np.abs(gray - int(np.median(gray)))
    ink = away > _INK
    if (away <= _PLAIN).mean() < _LEAST_PLAIN:
        return False
    if not 0.01 <= ink.mean() <= _MOST_INK:
        return False
    return _is_written(ink) or _is_written(ink.T)


def _is_written(ink: Any) -> bool:
    """Whether rows of dots look like writing: enough of them, and with most of the ink."""
    changes = np.count_nonzero(ink[:, 1:] != ink[:, :-1], axis=1)
    any_ink = ink.any(axis=1)
    length = ink.shape[1] - np.argmax(ink[:, ::-1], axis=1) - np.argmax(ink, axis=1)
    written = (changes >= _LEAST_STROKES) & (changes >= _STROKES * length)
    # From the first row with ink to the last: margins say nothing.
    rows = np.flatnonzero(any_ink)
    if not rows.size or written[rows[0] : rows[-1] + 1].mean() < _WRITTEN:
        return False
    return int(ink[written].sum()) >= _HOLDING * int(ink.sum())
