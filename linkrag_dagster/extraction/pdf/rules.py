"""The rules of a page: its straight lines, and the sides of its boxes (XT-06)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from linkrag_dagster.extraction.pdf.words import Box, PageText, turn

THIN = 3.0
"""Points up to which a filled box is a line."""
SNAP = 2.5
"""Points within which lines are one."""
_SHORTEST = 6.0
_MOST_LINES = 6_000
"""Lines of a page beyond which it is a drawing."""


@dataclass(frozen=True, slots=True)
class Line:
    """A rule: `at` is its height (or its distance from the left when upright), from `start` to `end`."""

    at: float
    start: float
    end: float


def rules_of(page: Any, drawings: Sequence[Any], text: PageText) -> tuple[list[Line], list[Line]]:
    """The page's lines across and upright, in the coordinates of the words' boxes; each once."""
    across: list[Line] = []
    upright: list[Line] = []
    matrix = page.rotation_matrix if page.rotation else None
    size = (float(page.rect.width), float(page.rect.height))
    for left, top, right, bottom in _strokes(drawings):
        box = (left, top, right, bottom)
        if matrix is not None:
            box = _moved(box, matrix)
        x0, y0, x1, y1 = turn(box, text.turned, size)
        if y1 - y0 <= THIN and x1 - x0 >= _SHORTEST:
            across.append(Line((y0 + y1) / 2, x0, x1))
        elif x1 - x0 <= THIN and y1 - y0 >= _SHORTEST:
            upright.append(Line((x0 + x1) / 2, y0, y1))
    if len(across) + len(upright) > _MOST_LINES:
        return [], []
    return _merged(across), _merged(upright)


def _moved(box: Box, matrix: Any) -> Box:
    x0 = box[0] * matrix.a + box[1] * matrix.c + matrix.e
    y0 = box[0] * matrix.b + box[1] * matrix.d + matrix.f
    x1 = box[2] * matrix.a + box[3] * matrix.c + matrix.e
    y1 = box[2] * matrix.b + box[3] * matrix.d + matrix.f
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _strokes(drawings: Sequence[Any]) -> Iterator[Box]:
    """Boxes of all straight strokes; a larger box counts as its four sides."""
    for drawing in drawings:
        for item in drawing.get("items", ()):
            if item[0] == "l":
                (x0, y0), (x1, y1) = item[1], item[2]
                yield min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
            elif item[0] in ("re", "qu"):
                if item[0] == "re":
                    x0, y0, x1, y1 = item[1]
                else:
                    xs = [float(point[0]) for point in item[1]]
                    ys = [float(point[1]) for point in item[1]]
                    x0, y0, x1, y1 = min(xs), min(ys), max(xs), max(ys)
                if x1 - x0 <= THIN or y1 - y0 <= THIN:
                    yield x0, y0, x1, y1
                else:
                    yield x0, y0, x1, y0
                    yield x0, y1, x1, y1
                    yield x0, y0, x0, y1
                    yield x1, y0, x1, y1


def _merged(lines: Sequence[Line]) -> list[Line]:
    """Lines at the same place that touch, as one."""
    made: list[Line] = []
    groups: list[list[Line]] = []
    for line in sorted(lines, key=lambda one: one.at):
        if groups and line.at - groups[-1][-1].at <= SNAP and line.at - groups[-1][0].at <= 2 * SNAP:
            groups[-1].append(line)
        else:
            groups.append([line])
    for group in groups:
        at = sum(line.at for line in group) / len(group)
        start: float | None = None
        end = 0.0
        for line in sorted(group, key=lambda one: one.start):
            if start is None:
                start, end = line.start, line.end
            elif line.start <= end + SNAP:
                end = max(end, line.end)
            else:
                made.append(Line(at, start, end))
                start, end = line.start, line.end
        if start is not None:
            made.append(Line(at, start, end))
    return made
