"""Images of a page that are large enough to be figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkrag_dagster.extraction.pdf.words import Box, PageText, clipped, holds, turn

_LEAST_SHARE, _MOST_SHARE = 0.015, 0.8
"""Of the page's area: below are logos and bullets, above are scans behind the text."""

_LEAST_READ = 12
"""Recognised characters on an image from which on it is their picture."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image's box in the coordinates of the words' boxes, and its place on the page as shown."""

    box: Box
    place: Box


def find_images(page: Any, text: PageText) -> list[Image]:
    """The figures of a page among its images, from top to bottom."""
    size = (float(page.rect.width), float(page.rect.height))
    found: list[Image] = []
    for image in text.images:
        place = clipped(image, size)
        share = max(0.0, place[2] - place[0]) * max(0.0, place[3] - place[1]) / (size[0] * size[1])
        if _LEAST_SHARE <= share <= _MOST_SHARE and not _is_read(place, text):
            found.append(Image(turn(place, text.turned, size), place))
    return sorted(found, key=lambda image: (image.box[1], image.box[0]))


def _is_read(place: Box, text: PageText) -> bool:
    """Whether an image is a picture of text whose words were recognised: they stand in its stead."""
    read = 0
    for word in text.words():
        if word.confidence is not None and holds(place, word.place):
            read += len(word.text)
    return read >= _LEAST_READ
