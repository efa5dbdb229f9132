"""Figures put together from strokes and pictures, known by their captions, and the words in them (XT-04, XT-06)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from linkrag_dagster.extraction.pdf.figures import Image
from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.words import Box, PageText, Segment, on_page, shown, turn, union
from linkrag_dagster.markdown.captions import FIGURE, is_caption

_TOUCH = 8.0
"""Points within which strokes belong to one drawing."""
_DEEPEST = 8
"""Cuts across and down, one within the other, by which drawings are told apart."""
_NEAR = 100.0
"""Points between a drawing and its caption, where no more than an axis' words stand between them."""
_NEXT_LINE = 0.8
"""Space between a caption's lines, in font sizes."""
_LEAST_WIDTH, _LEAST_HEIGHT = 40.0, 24.0
_MOST_SHARE = 0.8
"""Of the page's area; what covers more is its background."""
_NEXT, _SHORT = 1.0, 8.0
"""Distance up to which words around a drawing are its labels, and the length of short ones, in font sizes."""
_MOST_BETWEEN = 0.7
"""Share of a drawing's width that words between it and its caption fill at most."""
_CENTRED = 0.04
"""Share of a drawing's width by which the middle of its title is off its own."""
_PROSE = (6, 0.5, 3)
"""A row of so many words, over such a share of the drawing's width, is prose; so many rows are no labels."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure.

    Attributes:
        box: in the coordinates of the words' boxes.
        place: on the page as shown.
        labels: the words in it and at its sides, from top to bottom.
    """

    box: Box
    place: Box
    labels: tuple[Segment, ...] = ()


def figures_of(
    page: Any,
    text: PageText,
    segments: Sequence[Segment],
    images: Sequence[Image],
    tables: Sequence[Box],
) -> list[Figure]:
    """The figures of a page, from top to bottom.

    A drawing is one when a caption stands right below or above it, and what is written in it is no prose: that is a
    frame around text. Pictures in a drawing are parts of it; others are figures without labels.

    Before: `Reservoir`, `inlet` and `Pump`, written in a drawing, are paragraphs between those around it.
    After: they are labels of the figure.

    Args:
        page: a page of PyMuPDF.
        text: what was read of it.
        segments: lines of the page that are in no table and no furniture.
        images: its pictures.
        tables: boxes of its tables, in the coordinates of the words' boxes.
    """
    found: list[Figure] = []
    taken: set[int] = set()
    for box in _drawn(page, text, segments, images, tables):
        labels = _labels(box, segments, taken)
        if labels is not None:
            taken |= {id(label) for label in labels}
            found.append(Figure(box, turn(box, -text.turned, (text.width, text.height)), labels))
    drawn = [figure.box for figure in found]
    pictures = [image for image in images if not any(_holds(box, image.box) for box in drawn)]
    found += [Figure(image.box, image.place) for image in pictures]
    return sorted(found, key=lambda figure: (figure.box[1], figure.box[0]))


def _drawn(
    page: Any, text: PageText, segments: Sequence[Segment], images: Sequence[Image], tables: Sequence[Box]
) -> Iterator[Box]:
    """Boxes of drawings with one caption each."""
    captions = [one for one in segments if is_caption(one.text, FIGURE)]
    if not captions:
        return
    strokes = [
        box
        for box in _strokes(page, text)
        if not any(_holds(table, box) for table in tables) and not _underlines(box, captions)
    ]
    drawings = [
        box
        for group in _clusters([*strokes, *(image.box for image in images)])
        for box in (union(group),)
        if box[2] - box[0] >= _LEAST_WIDTH and box[3] - box[1] >= _LEAST_HEIGHT
    ]
    whole = [_whole(caption, segments) for caption in captions]
    claimed = [_nearest(caption, drawings, segments) for caption in whole]
    for box, caption in zip(claimed, whole, strict=True):
        if box is not None and claimed.count(box) == 1 and any(_holds(box, stroke) for stroke in strokes):
            yield union([box, *(one.box for one in _between(box, caption, segments))])


def _whole(caption: Segment, segments: Sequence[Segment]) -> Box:
    """The box of a caption with its further lines."""
    box = caption.box
    for one in sorted(segments, key=lambda one: one.base):
        follows = one.base > caption.base and one.box[1] - box[3] < _NEXT_LINE * caption.size
        if follows and abs(one.size - caption.size) < 0.3 and abs(one.box[0] - box[0]) < caption.size:
            box = union([box, one.box])
    return box


def _between(box: Box, caption: Box, segments: Sequence[Segment]) -> list[Segment]:
    """Words between a drawing and its caption: those of an axis, a title."""
    left, top, right, bottom = box
    first, last = (bottom - 2, caption[1]) if bottom - 2 <= caption[1] else (caption[3], top + 2)
    return [
        one
        for one in segments
        if left <= (one.box[0] + one.box[2]) / 2 <= right and first <= (one.box[1] + one.box[3]) / 2 <= last
    ]


def _strokes(page: Any, text: PageText) -> Iterator[Box]:
    """Boxes of what is drawn and seen on the page, but for its background."""
    width, height = size = text.size
    for drawing in page.get_cdrawings():
        if drawing.get("color") is None and drawing.get("fill") in (None, (1.0, 1.0, 1.0)):
            continue
        place = on_page(shown(page, tuple(drawing["rect"])), size)
        if (place[2] - place[0]) * (place[3] - place[1]) <= _MOST_SHARE * width * height:
            yield turn(place, text.turned, size)


def _underlines(box: Box, captions: Sequence[Segment]) -> bool:
    """Whether a line is drawn through or right below a caption."""
    return box[3] - box[1] <= 2 and any(
        one.box[1] <= box[1] <= one.box[3] + 3 and box[0] < one.box[2] and one.box[0] < box[2]
        for one in captions
    )


def _clusters(boxes: Sequence[Box]) -> Iterator[list[Box]]:
    """Boxes in groups with nothing but space between them, across or down."""
    waiting = [(list(boxes), 0, _DEEPEST)] if boxes else []
    while waiting:
        group, axis, depth = waiting.pop()
        parts = _parted(group, axis)
        if len(parts) == 1:
            axis = 1 - axis
            parts = _parted(group, axis)
        if len(parts) == 1 or not depth:
            yield group
        else:
            waiting += [(part, 1 - axis, depth - 1) for part in parts]


def _parted(boxes: Sequence[Box], axis: int) -> list[list[Box]]:
    parts: list[list[Box]] = []
    reach = 0.0
    for box in sorted(boxes, key=lambda one: one[axis]):
        if parts and box[axis] <= reach + _TOUCH:
            parts[-1].append(box)
            reach = max(reach, box[axis + 2])
        else:
            parts.append([box])
            reach = box[axis + 2]
    return parts


def _nearest(caption: Box, drawings: Sequence[Box], segments: Sequence[Segment]) -> Box | None:
    """The drawing that a caption stands below, else the one that it stands above, with few words between."""
    near = [
        box
        for box in drawings
        if box[0] < caption[2]
        and caption[0] < box[2]
        and all(
            one.box[2] - one.box[0] <= _MOST_BETWEEN * (box[2] - box[0])
            for one in _between(box, caption, segments)
        )
    ]
    above = [box for box in near if -2 <= caption[1] - box[3] <= _NEAR]
    below = [box for box in near if -2 <= box[1] - caption[3] <= _NEAR]
    return max(above, key=lambda box: box[3], default=None) or min(
        below, key=lambda box: box[1], default=None
    )


def _labels(box: Box, segments: Sequence[Segment], taken: Set[int]) -> tuple[Segment, ...] | None:
    """Words in a drawing and around it; None where those in it are prose, or code."""
    free = [one for one in segments if id(one) not in taken]
    inside = [one for one in free if _holds(box, one.box)]
    if _is_text(rows_of(inside), box):
        return None
    found = {id(one): one for one in [*inside, *_beside(box, free)]}
    for down in (False, True):
        found |= {id(one): one for one in _axis(box, free, down=down)}
    return tuple(part for one in rows_of(found.values()) for part in one.segments)


def _is_text(rows: Sequence[Row], box: Box) -> bool:
    words, share, most = _PROSE
    full = sum(
        _words(row.text) >= words and row.box[2] - row.box[0] >= share * (box[2] - box[0]) for row in rows
    )
    mono = all(word.mono for row in rows for part in row.segments for word in part.words)
    return full >= most or (len(rows) >= most and mono)


def _words(text: str) -> float:
    """Words of a line; two ideographs are about one."""
    return max(len(text.split()), sum(char > "\u2e80" for char in text) / 2)


def _beside(box: Box, segments: Sequence[Segment]) -> list[Segment]:
    """Short words right at the left or right of a drawing, or partly in it."""

    def is_near(one: Segment) -> bool:
        left, top, right, bottom = one.box
        near = _NEXT * one.size
        at_side = -1 <= box[0] - right <= near or -1 <= left - box[2] <= near
        level = box[1] - near <= (top + bottom) / 2 <= box[3] + near
        partly = left < box[2] and box[0] < right and top < box[3] and box[1] < bottom
        return right - left <= _SHORT * one.size and (partly or (at_side and level))

    return [one for one in segments if is_near(one)]


def _axis(box: Box, segments: Sequence[Segment], *, down: bool) -> list[Segment]:
    """Rows right below or above a drawing: those of an axis, with many short words, and one centred, a title."""
    near = [
        one
        for one in segments
        if box[0] - one.size <= one.box[0]
        and one.box[2] <= box[2] + one.size
        and (one.box[1] > box[3] - 2 if down else one.box[3] < box[1] + 2)
    ]
    found: list[Segment] = []
    edge = box[3] if down else box[1]
    for row in rows_of(near) if down else reversed(rows_of(near)):
        gap = row.box[1] - edge if down else edge - row.box[3]
        if gap > _NEXT * row.size or not (_are_ticks(row) or _is_centred(row, box)):
            break
        found += row.segments
        edge = row.box[3] if down else row.box[1]
    return found


def _are_ticks(row: Row) -> bool:
    return len(row.segments) > 2 and all(
        part.box[2] - part.box[0] <= _SHORT * row.size for part in row.segments
    )


def _is_centred(row: Row, box: Box) -> bool:
    left, _, right, _ = row.box
    if len(row.segments) > 1 or is_caption(row.text, FIGURE):
        return False
    inner = left > box[0] + row.size and right < box[2] - row.size
    return inner and abs(left + right - box[0] - box[2]) / 2 <= _CENTRED * (box[2] - box[0])


def _holds(box: Box, other: Box) -> bool:
    across, down = (other[0] + other[2]) / 2, (other[1] + other[3]) / 2
    return box[0] - 1 <= across <= box[2] + 1 and box[1] - 1 <= down <= box[3] + 1
