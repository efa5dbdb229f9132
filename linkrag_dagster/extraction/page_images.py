"""Pictures of a document's pages, as a reader sees them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.pdf.library import pymupdf

PIXELS = (1000, 1400)
"""A picture is as large as fits: width and height in pixels, whatever size the page declares."""

_PAPER = (595.0, 842.0)
_QUALITY = 80


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page's picture.

    Attributes:
        page: its number, from 1.
        width, height: of the page as it is shown, in points: what boxes of locators are measured in.
        media_type: of the picture.
        data: the picture; empty where the page can't be drawn.
    """

    page: int
    width: float
    height: float
    media_type: str
    data: bytes


def draw_pages(data: bytes, *, name: str, pages: Sequence[int]) -> tuple[PageImage, ...]:
    """Pictures of some pages of a PDF document, numbered from 1; numbers beyond its last page are left out.

    Raises:
        ExtractionError: `corrupt` (can't be opened), `encrypted`.
    """
    library = pymupdf()
    failures = (RuntimeError, ValueError, library.mupdf.FzErrorBase)
    try:
        document = library.open(stream=data, filetype="pdf")
    except failures as error:
        raise ExtractionError("corrupt", f"{name} can't be opened as PDF: repair or print it anew") from error
    try:
        if document.needs_pass:
            raise ExtractionError("encrypted", f"{name} asks for a password: save it without")
        drawn: list[PageImage] = []
        for number in pages:
            if 1 <= number <= document.page_count:
                try:
                    drawn.append(_drawn(library, document[number - 1], number))
                except failures:
                    drawn.append(PageImage(number, *_PAPER, "image/png", b""))
        return tuple(drawn)
    finally:
        document.close()


def _drawn(library: Any, page: Any, number: int) -> PageImage:
    width, height = float(page.rect.width), float(page.rect.height)
    if not (math.isfinite(width) and math.isfinite(height) and width > 0 and height > 0):
        return PageImage(number, *_PAPER, "image/png", b"")
    scale = min(PIXELS[0] / width, PIXELS[1] / height, 4.0)
    pixels = page.get_pixmap(matrix=library.Matrix(scale, scale), alpha=False)
    # Drawings and text are smaller as PNG, photographs and scans as JPEG.
    pictures = [
        ("image/png", pixels.tobytes("png")),
        ("image/jpeg", pixels.tobytes("jpeg", jpg_quality=_QUALITY)),
    ]
    media_type, data = min(pictures, key=lambda picture: len(picture[1]))
    return PageImage(number, width, height, media_type, data)
