"""Images of a page that are large enough to be figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkrag_dagster.extraction.pdf.words import Box, PageText, turn

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
    for left, top, right, bottom in text.images:
        place = (max(0.0, left), max(0.0, top), min(size[0], right), min(size[1], bottom))
        share = max(0.0, place[2] - place[0]) * max(0.0, place[3] - place[1]) / (size[0] * size[1])
        if _LEAST_SHARE <= share <= _MOST_SHARE and not _is_read(place, text):
            found.append(Image(turn(place, text.turned, size), place))
    return sorted(found, key=lambda image: (image.box[1], image.box[0]))


def _is_read(place: Box, text: PageText) -> bool:
    """Whether an image is a picture of text whose words were recognised: they stand in its stead."""
    read = 0
    for word in text.words():
        across, down = (word.place[0] + word.place[2]) / 2, (word.place[1] + word.place[3]) / 2
        if word.confidence is not None and place[0] <= across <= place[2] and place[1] <= down <= place[3]:
            read += len(word.text)
    return read >= _LEAST_READ
