"""Boxes of forms that are ticked or not (XT-09). What is typed into fields is text of the page already."""

from __future__ import annotations

from typing import Any

from linkrag_dagster.extraction.pdf.library import pymupdf
from linkrag_dagster.extraction.pdf.words import Box, Word, on_page, shown

TICKED, EMPTY = "\u2611", "\u2610"


def ticks(page: Any) -> list[Word]:
    """A word for each check box and radio button: `☑` where it is on, `☐` where it is off."""
    library = pymupdf()
    kinds = (library.PDF_WIDGET_TYPE_CHECKBOX, library.PDF_WIDGET_TYPE_RADIOBUTTON)
    size = (float(page.rect.width), float(page.rect.height))
    found: list[Word] = []
    for widget in page.widgets(types=kinds):
        place: Box = on_page(shown(page, tuple(widget.rect)), size)
        height = place[3] - place[1]
        on = str(widget.field_value) not in ("Off", "False", "None", "")
        base = place[3] - 0.2 * height
        found.append(Word(TICKED if on else EMPTY, place, place, base, 0.9 * height))
    return found
