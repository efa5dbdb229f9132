"""A page with the words that were recognised in its pictures (XT-08)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from linkrag_dagster.extraction.ocr import OcrSettings, Reading, RecognisedLine, Recogniser, read_upright
from linkrag_dagster.extraction.ocr.lines import mean_confidence
from linkrag_dagster.extraction.pdf.legibility import are_alike, is_unreadable
from linkrag_dagster.extraction.pdf.library import pymupdf
from linkrag_dagster.extraction.pdf.recognised_lines import height_of, segments_of
from linkrag_dagster.extraction.pdf.scans import Unread
from linkrag_dagster.extraction.pdf.words import Box, PageText, Segment, segment, union

_SIDE, _LARGE_SIDE = 2_000, 3_600
"""Pixels of the longer side at which a page is recognised, and at which it is tried again when that read badly."""
_DOTS = 200
"""Dots per inch of smaller pictures."""
_RETRY_BELOW = 0.85
_SMALL = 14
"""Height of a line in pixels below which a larger picture is tried."""
_SURE = 0.8
_COVERS, _SAYS = 0.5, 0.8
"""Share of a word's box that lies in a line, and of the line's characters that such words have, so that it is said."""
_LEAST_CHARACTERS = 12
_LEAST_UNKNOWN = 30
"""Characters that unread lines should hold, from which on a page has words that recognition can't read."""
_INK = 60
"""Difference from the background, of 255, from which on a dot is ink."""
_WRITTEN = 0.6
"""Share of a picture's ink that its lines of text hold."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of a page, read: its lines, and whether it is a picture of text and nothing else."""

    reading: Reading
    is_text: bool


@dataclass(frozen=True, slots=True)
class Recognised:
    """A page after recognition.

    Attributes:
        text: the page, with the lines that were read well enough.
        confidence: mean over all recognised characters; None where there are none.
        left_out: lines that were read too badly.
        unreadable: the page's own segments that are not in `text`, as their characters stand for nothing.
    """

    text: PageText
    confidence: float | None
    left_out: tuple[Segment, ...] = ()
    unreadable: tuple[Segment, ...] = ()


def recognise(
    page: Any,
    text: PageText,
    missing: Unread,
    recogniser: Recogniser,
    settings: OcrSettings,
    known: dict[bytes, Picture],
) -> Recognised:
    """Recognises what of a page is missing, and puts it among its own words.

    `known` remembers the readings of a document's pictures by what they look like: a logo stands on every page.
    """
    size = (float(page.rect.width), float(page.rect.height))
    own, unreadable = _readable(text, size, drop=missing.drop)
    pictures = [(box, _read(page, box, recogniser, known)) for box in missing.boxes]
    readings = [(box, one.reading) for box, one in pictures if missing.whole or one.is_text]
    lines = [line for _, reading in readings for line in reading.lines if line.text]
    confidence = mean_confidence([line for _, reading in readings for line in reading.lines])
    if missing.doubt and not _is_better(lines, confidence, text):
        return Recognised(text, None)
    if not missing.drop and unreadable and confidence < _SURE:
        # Better the characters that the page has than ones that are guessed: a script that recognition can't read.
        return Recognised(text, None)
    if not lines:
        # A photograph, a drawing without words; or lines of which nothing could be read.
        empty = sum(line.expected for _, reading in readings for line in reading.lines)
        unknown = missing.whole and empty >= _LEAST_UNKNOWN
        return Recognised(own, 0.0 if unknown else None, (), unreadable)
    turned = readings[0][1].quarters if not own.segments and len(readings) == 1 else own.turned
    found = [line for box, reading in readings for line in segments_of(reading, box, turned, size)]
    own, found = _merged(own, found)
    bad = confidence < settings.leave_out_below
    gone = [line for line in found if bad or (line.words[0].confidence or 0.0) < settings.leave_out_below]
    out = {id(line) for line in gone}
    width, height = size if turned in (0, 2) else size[::-1]
    made = replace(
        own,
        width=width,
        height=height,
        turned=turned,
        segments=(*own.segments, *(line for line in found if id(line) not in out)),
    )
    return Recognised(made, confidence, tuple(gone), unreadable)


def _readable(
    text: PageText, size: tuple[float, float], *, drop: bool
) -> tuple[PageText, tuple[Segment, ...]]:
    """The page with its usable words, and the segments that are not."""
    if drop:
        return PageText(text.number, *size, 0, (), (), images=text.images), text.segments
    if not text.unreadable:
        return text, ()
    kept: list[Segment] = []
    gone: list[Segment] = []
    for one in text.segments:
        good = [word for word in one.words if not any(map(is_unreadable, word.text))]
        bad = [word for word in one.words if any(map(is_unreadable, word.text))]
        kept += [segment(good)] if good else []
        gone += [segment(bad)] if bad else []
    return replace(text, segments=tuple(kept)), tuple(gone)


def _read(page: Any, box: Box, recogniser: Recogniser, known: dict[bytes, Picture]) -> Picture:
    """The better reading of a part of the page: at the usual size, and larger where that read badly."""
    longest = max(box[2] - box[0], box[3] - box[1])
    zoom = min(_SIDE / longest, _DOTS / 72)
    image = _drawn(page, box, zoom)
    key = hashlib.sha256(image.data).digest()
    if key not in known:
        reading = read_upright(image, recogniser)
        larger = min(_LARGE_SIDE / longest, 2 * zoom)
        if _is_doubtful(reading) and larger >= 1.3 * zoom:
            again = read_upright(_drawn(page, box, larger), recogniser)
            reading = max(reading, again, key=_worth)
        known[key] = Picture(reading, _is_text(image, reading))
    return known[key]


def _is_doubtful(reading: Reading) -> bool:
    heights = [height_of(line) for line in reading.lines]
    return bool(heights) and (reading.confidence < _RETRY_BELOW or median(heights) < _SMALL)


def _worth(reading: Reading) -> float:
    """Characters that are likely to be right."""
    return sum(line.units * max(0.0, line.trust - 0.5) for line in reading.lines)


def _drawn(page: Any, box: Box, zoom: float) -> Any:
    library = pymupdf()
    drawn = page.get_pixmap(
        matrix=library.Matrix(zoom, zoom), colorspace="rgb", clip=library.Rect(box), alpha=False
    )
    pixels = np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.stride)
    return np.ascontiguousarray(pixels[:, : 3 * drawn.width].reshape(drawn.height, drawn.width, 3))


def _is_text(image: Any, reading: Reading) -> bool:
    """Whether a picture is one of text, no chart with labels or photograph with a sign: its ink is in its lines."""
    lines = [line for line in reading.lines if line.trust >= _SURE]
    if sum(len(line.text) for line in lines) < _LEAST_CHARACTERS:
        return False
    gray = np.rot90(image, k=reading.quarters).mean(axis=2)
    ink = np.abs(gray - np.median(gray)) > _INK
    across, down = ink.shape[1] / reading.width, ink.shape[0] / reading.height
    inside = np.zeros_like(ink)
    for line in lines:
        left, top, right, bottom = line.box
        rows = slice(max(0, int(top * down)), int(bottom * down) + 1)
        inside[rows, max(0, int(left * across)) : int(right * across) + 1] = True
    return int((ink & inside).sum()) >= _WRITTEN * int(ink.sum())


def _is_better(lines: Sequence[RecognisedLine], confidence: float, text: PageText) -> bool:
    """Whether what was recognised contradicts the page's own characters, and is to be believed."""
    said = " ".join(one.text for one in text.segments)
    read = " ".join(line.text for line in lines)
    return confidence >= _SURE and 2 * len(read) > len(said) and not are_alike(read, said)


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _merged(own: PageText, lines: Sequence[Segment]) -> tuple[PageText, list[Segment]]:
    """The page's own words and recognised lines, without what is there twice.

    Where a recognised line says what the page's own words say it goes; where it says more, they do.
    """
    held = own.words()
    if not held:
        return own, list(lines)
    gone: set[int] = set()
    kept: list[Segment] = []
    for line in lines:
        place = union(word.place for word in line.words)
        inside = [word for word in held if _overlap(word.place, place) > _COVERS * _area(word.place)]
        said = sum(len(word.text) for word in inside)
        if said >= _SAYS * sum(len(word.text) for word in line.words):
            continue
        gone.update(id(word) for word in inside)
        kept.append(line)
    segments: list[Segment] = []
    for one in own.segments:
        left = [word for word in one.words if id(word) not in gone]
        if left:
            segments.append(one if len(left) == len(one.words) else segment(left))
    aside = tuple(word for word in own.aside if id(word) not in gone)
    return replace(own, segments=tuple(segments), aside=aside), kept


def _overlap(one: Box, other: Box) -> float:
    return max(0.0, min(one[2], other[2]) - max(one[0], other[0])) * max(
        0.0, min(one[3], other[3]) - max(one[1], other[1])
    )
