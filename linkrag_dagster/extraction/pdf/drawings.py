"""Figures put together from strokes and pictures, known by their captions, and the words in them (XT-04, XT-06)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Generic, TypeVar

from linkrag_dagster.extraction.pdf.figures import Image
from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.words import Box, PageText, Segment, holds, on_page, shown, turn, union
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
_WITHIN = 1.0
"""Points beyond its edges up to which a box is in another."""
_AXIS = 150.0
"""Points from a drawing up to which words are looked at first, for those of its axes."""

_T = TypeVar("_T")


class _ByHeight(Generic[_T]):
    """Things in the order of a height of theirs, for looking at near ones alone."""

    def __init__(self, held: Sequence[_T], height: Callable[[_T], float]) -> None:
        self._held = held
        self._order = sorted(range(len(held)), key=lambda at: height(held[at]))
        self._heights = [height(held[at]) for at in self._order]

    def between(self, top: float, bottom: float) -> list[_T]:
        """Those from one height to the other, in the order in which they were given."""
        first, last = bisect_left(self._heights, top), bisect_right(self._heights, bottom)
        return [self._held[at] for at in sorted(self._order[first:last])]


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
    drawings: Sequence[Any],
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
        drawings: what is drawn on it.
        text: what was read of it.
        segments: lines of the page that are in no table and no furniture.
        images: its pictures.
        tables: boxes of its tables, in the coordinates of the words' boxes.
    """
    found: list[Figure] = []
    taken: set[int] = set()
    lines = _ByHeight(segments, lambda one: _middle(one.box))
    margin = max((max(_NEXT * one.size, one.box[3] - one.box[1]) for one in segments), default=0.0)
    for box in _drawn(page, drawings, text, segments, lines, images, tables):
        labels = _labels(box, lines, margin, taken)
        if labels is not None:
            taken |= {id(label) for label in labels}
            found.append(Figure(box, turn(box, -text.turned, (text.width, text.height)), labels))
    drawn = [figure.box for figure in found]
    pictures = [image for image in images if not any(holds(box, image.box, _WITHIN) for box in drawn)]
    found += [Figure(image.box, image.place) for image in pictures]
    return sorted(found, key=lambda figure: (figure.box[1], figure.box[0]))


def _drawn(
    page: Any,
    drawings: Sequence[Any],
    text: PageText,
    segments: Sequence[Segment],
    lines: _ByHeight[Segment],
    images: Sequence[Image],
    tables: Sequence[Box],
) -> Iterator[Box]:
    """Boxes of drawings with one caption each."""
    captions = [one for one in segments if is_caption(one.text, FIGURE)]
    if not captions:
        return
    tops = _ByHeight(captions, lambda one: one.box[1])
    tallest = max(one.box[3] - one.box[1] for one in captions)
    strokes = [
        box
        for box in _strokes(page, drawings, text)
        if not any(holds(table, box, _WITHIN) for table in tables) and not _underlines(box, tops, tallest)
    ]
    grouped = [
        box
        for group in _clusters([*strokes, *(image.box for image in images)])
        for box in (union(group),)
        if box[2] - box[0] >= _LEAST_WIDTH and box[3] - box[1] >= _LEAST_HEIGHT
    ]
    whole = _whole(captions, segments)
    bottoms, heads = _ByHeight(grouped, itemgetter(3)), _ByHeight(grouped, itemgetter(1))
    claimed = [_nearest(caption, bottoms, heads, lines) for caption in whole]
    claims = Counter(claimed)
    middles = _ByHeight(strokes, _middle)
    for box, caption in zip(claimed, whole, strict=True):
        if box is None or claims[box] > 1:
            continue
        if any(holds(box, stroke, _WITHIN) for stroke in middles.between(box[1] - 1, box[3] + 1)):
            yield union([box, *(one.box for one in _between(box, caption, lines))])


def _whole(captions: Sequence[Segment], segments: Sequence[Segment]) -> list[Box]:
    """The boxes of captions with their further lines.

    Captions right below each other go on alike: how one goes on behind a line is found once.
    """
    lines = sorted(segments, key=lambda one: one.base)
    bases = [one.base for one in lines]
    rise = max((one.base - one.box[1] for one in segments), default=0.0)
    known: dict[tuple[int, float, float, float], Box | None] = {}
    found: list[Box] = []
    for caption in captions:
        box, size = caption.box, caption.size
        at = bisect_right(bases, caption.base)
        path: list[tuple[tuple[int, float, float, float], Box]] = []
        rest: Box | None = None
        while at < len(lines) and bases[at] - rise - box[3] < _NEXT_LINE * size:
            one = lines[at]
            at += 1
            follows = one.box[1] - box[3] < _NEXT_LINE * size
            if follows and abs(one.size - size) < 0.3 and abs(one.box[0] - box[0]) < size:
                box = union([box, one.box])
                state = (at, box[0], box[3], size)
                path.append((state, one.box))
                if state in known:
                    rest = known[state]
                    break
        for state, part in reversed(path):
            known[state] = rest
            rest = part if rest is None else union([part, rest])
        found.append(caption.box if rest is None else union([caption.box, rest]))
    return found


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2


def _between(box: Box, caption: Box, lines: _ByHeight[Segment]) -> list[Segment]:
    """Words between a drawing and its caption: those of an axis, a title."""
    left, top, right, bottom = box
    first, last = (bottom - 2, caption[1]) if bottom - 2 <= caption[1] else (caption[3], top + 2)
    return [one for one in lines.between(first, last) if left <= (one.box[0] + one.box[2]) / 2 <= right]


def _strokes(page: Any, drawings: Sequence[Any], text: PageText) -> Iterator[Box]:
    """Boxes of what is drawn and seen on the page, but for its background."""
    width, height = size = text.size
    for drawing in drawings:
        if drawing.get("color") is None and drawing.get("fill") in (None, (1.0, 1.0, 1.0)):
            continue
        place = on_page(shown(page, tuple(drawing["rect"])), size)
        if (place[2] - place[0]) * (place[3] - place[1]) <= _MOST_SHARE * width * height:
            yield turn(place, text.turned, size)


def _underlines(box: Box, captions: _ByHeight[Segment], tallest: float) -> bool:
    """Whether a line is drawn through or right below a caption; captions are by their tops."""
    return box[3] - box[1] <= 2 and any(
        one.box[1] <= box[1] <= one.box[3] + 3 and box[0] < one.box[2] and one.box[0] < box[2]
        for one in captions.between(box[1] - tallest - 4, box[1])
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


def _nearest(
    caption: Box, bottoms: _ByHeight[Box], tops: _ByHeight[Box], lines: _ByHeight[Segment]
) -> Box | None:
    """The drawing that a caption stands below, else the one that it stands above, with few words between."""

    def is_near(box: Box) -> bool:
        return (
            box[0] < caption[2]
            and caption[0] < box[2]
            and all(
                one.box[2] - one.box[0] <= _MOST_BETWEEN * (box[2] - box[0])
                for one in _between(box, caption, lines)
            )
        )

    above = filter(is_near, bottoms.between(caption[1] - _NEAR, caption[1] + 2))
    below = filter(is_near, tops.between(caption[3] - 2, caption[3] + _NEAR))
    return max(above, key=lambda box: box[3], default=None) or min(
        below, key=lambda box: box[1], default=None
    )


def _labels(
    box: Box, lines: _ByHeight[Segment], margin: float, taken: Set[int]
) -> tuple[Segment, ...] | None:
    """Words in a drawing and around it; None where those in it are prose, or code.

    Args:
        box: the drawing.
        lines: the page's words.
        margin: how far above or below it the middle of words may be that stand beside it.
        taken: words that are labels of other drawings (by identity).
    """
    free = [one for one in lines.between(box[1] - margin - 1, box[3] + margin + 1) if id(one) not in taken]
    inside = [one for one in free if holds(box, one.box, _WITHIN)]
    if _is_text(rows_of(inside), box):
        return None
    found = {id(one): one for one in [*inside, *_beside(box, free)]}
    for down in (False, True):
        found |= {id(one): one for one in _axis(box, lines, taken, down=down)}
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


def _axis(box: Box, lines: _ByHeight[Segment], taken: Set[int], *, down: bool) -> list[Segment]:
    """Rows right below or above a drawing: those of an axis, with many short words, and one centred, a title."""
    reach = _AXIS
    while True:
        span = (box[3] - 2, box[3] + reach) if down else (box[1] - reach, box[1] + 2)
        near = [
            one
            for one in lines.between(*span)
            if id(one) not in taken
            and box[0] - one.size <= one.box[0]
            and one.box[2] <= box[2] + one.size
            and (one.box[1] > box[3] - 2 if down else one.box[3] < box[1] + 2)
        ]
        found: list[Segment] = []
        edge = begin = box[3] if down else box[1]
        for row in rows_of(near) if down else reversed(rows_of(near)):
            gap = row.box[1] - edge if down else edge - row.box[3]
            if gap > _NEXT * row.size or not (_are_ticks(row) or _is_centred(row, box)):
                break
            found += row.segments
            edge = row.box[3] if down else row.box[1]
        # Rows near the end of what was looked at may not be whole.
        if abs(edge - begin) > reach / 2:
            reach *= 2
        else:
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
