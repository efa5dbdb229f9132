"""Images of a page that are large enough to be figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkrag_dagster.extraction.pdf.words import Box, PageText, turn

_LEAST_SHARE, _MOST_SHARE = 0.015, 0.8
"""Of the page's area: below are logos and bullets, above are scans behind the text."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image's box in the coordinates of the words' boxes, and its place on the page as shown."""

    box: Box
    place: Box


def find_images(page: Any, text: PageText) -> list[Image]:
    """The figures of a page among its images, from top to bottom."""
    size = (float(page.rect.width), float(page.rect.height))
    found: list[Image] = []
    for info in page.get_image_info():
        left, top, right, bottom = info["bbox"]
        if page.rotation:
            moved = page.rotation_matrix
            x0, y0 = left * moved.a + top * moved.c + moved.e, left * moved.b + top * moved.d + moved.f
            x1, y1 = (
                right * moved.a + bottom * moved.c + moved.e,
                right * moved.b + bottom * moved.d + moved.f,
            )
            left, top, right, bottom = min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
        place = (max(0.0, left), max(0.0, top), min(size[0], right), min(size[1], bottom))
        share = max(0.0, place[2] - place[0]) * max(0.0, place[3] - place[1]) / (size[0] * size[1])
        if _LEAST_SHARE <= share <= _MOST_SHARE:
            found.append(Image(turn(place, text.turned, size), place))
    return sorted(found, key=lambda image: (image.box[1], image.box[0]))
