"""Which way the lines of a picture run, found by reading them (XT-08, XT-09)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkrag_dagster.extraction.ocr.lines import Corners, Reading, RecognisedLine, Recogniser

SURE = 0.8
"""Mean confidence from which on a picture is taken to be read the right way round."""


def read_upright(image: Any, recogniser: Recogniser) -> Reading:
    """Reads an image as it stands, and turned where that reads better.

    Lines that run up or down come from the recogniser as tall ones, read as if they ran down: a page of them is
    turned by a quarter, or by three where the other way reads better. A page of vertical Chinese or Japanese ends as
    rows from its right column to its left, which is their order. A page upside down reads badly and is turned.

    Args:
        image: height × width × 3 bytes.
        recogniser: what reads it.
    """
    height, width = image.shape[:2]
    lines = recogniser.read(image)
    if _mostly_tall(lines):
        # As the recogniser has turned them itself there is no need to read them again.
        turned = tuple(_turned(line, width) for line in lines if line.is_tall)
        first, other = Reading(turned, 1, height, width), 3
    else:
        first, other = Reading(tuple(lines), 0, width, height), 2
    if not lines or first.confidence >= SURE:
        return first
    rotated = np.ascontiguousarray(np.rot90(image, k=other))
    second = Reading(tuple(recogniser.read(rotated)), other, rotated.shape[1], rotated.shape[0])
    if other == 3 and max(first.confidence, second.confidence) < SURE and len(lines) < 3:
        # A few tall boxes prove nothing: it may be a page of short lines.
        upright = Reading(tuple(lines), 0, width, height)
        return max(first, second, upright, key=lambda reading: reading.confidence)
    return second if second.confidence > first.confidence else first


def _mostly_tall(lines: Sequence[RecognisedLine]) -> bool:
    tall = wide = 0.0
    for line in lines:
        left, top, right, bottom = line.box
        if line.is_tall:
            tall += bottom - top
        else:
            wide += right - left
    return tall > wide


def _turned(line: RecognisedLine, width: int) -> RecognisedLine:
    """A tall line as it stands in the image turned by a quarter against the clock: its right edge is its top."""
    left, top, right, bottom = line.box
    corners: Corners = (
        (top, width - right),
        (bottom, width - right),
        (bottom, width - left),
        (top, width - left),
    )
    return RecognisedLine(line.text, corners, line.confidence)
