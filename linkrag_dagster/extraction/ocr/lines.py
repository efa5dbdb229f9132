"""What recognition yields: lines with their places and how sure it is of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Point = tuple[float, float]
Corners = tuple[Point, Point, Point, Point]


_LEAST_UNITS = 1.3
"""Characters for each square of a line's height, at least: Latin letters have 1.9 and more, ideographs count as two."""
_LONG = 4.0


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """A line of characters in a picture.

    Attributes:
        text: its characters; empty where they could not be read at all.
        corners: upper left, upper right, lower right, lower left, as the characters stand in the picture, in pixels
            from its top left.
        confidence: 0 to 1, the recogniser's own.
    """

    text: str
    corners: Corners
    confidence: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The box around it: left, top, right, bottom."""
        across, down = [x for x, _ in self.corners], [y for _, y in self.corners]
        return min(across), min(down), max(across), max(down)

    @property
    def units(self) -> int:
        """How much was read: characters without blanks, those of full width as two."""
        return sum(2 if char > "\u2e80" else 1 for char in self.text if not char.isspace())

    @property
    def expected(self) -> float:
        """How much a line of this length holds at least; 0 for short ones, which tell nothing."""
        (x0, y0), (x1, y1), _, (x3, y3) = self.corners
        across, down = math.hypot(x1 - x0, y1 - y0), math.hypot(x3 - x0, y3 - y0)
        long, short = max(across, down), min(across, down)
        return _LEAST_UNITS * long / short if long >= _LONG * short > 0 else 0.0

    @property
    def trust(self) -> float:
        """The confidence, less where the line holds more than was read: a script that the recogniser does not know."""
        return self.confidence * min(1.0, self.units / self.expected) if self.expected else self.confidence

    @property
    def is_tall(self) -> bool:
        """Whether it is much higher than wide: it runs up or down."""
        left, top, right, bottom = self.box
        return bottom - top > 1.5 * (right - left)


@dataclass(frozen=True, slots=True)
class Reading:
    """The lines of a picture that was turned so that they run to the right.

    Attributes:
        lines: with corners in the turned picture, those that could not be read among them.
        quarters: by how many quarters the lines run clockwise from the right in the picture as it was given.
        width, height: of the turned picture, in pixels.
    """

    lines: tuple[RecognisedLine, ...]
    quarters: int
    width: int
    height: int

    @property
    def confidence(self) -> float:
        """Mean over what was read and what should have been; 0 without any."""
        return mean_confidence(self.lines)


class Recogniser(Protocol):
    """Finds and reads the lines of a picture."""

    def read(self, image: Any) -> list[RecognisedLine]:
        """The lines of an image (height × width × 3 bytes), in no order. Lines that run up are read, too."""
        ...


def mean_confidence(lines: Sequence[RecognisedLine]) -> float:
    """Mean confidence over what was read and what should have been; 0 without any."""
    total = sum(max(line.units, line.expected) for line in lines)
    return sum(line.confidence * line.units for line in lines) / total if total else 0.0
