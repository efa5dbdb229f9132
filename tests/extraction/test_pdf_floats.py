"""Figures and tables around which text flows (XT-04, XT-06)."""

from __future__ import annotations

from typing import Any, cast

import pymupdf
import pytest

from tests.extraction.test_pdf import Sheet, prose

Pixmap = cast("Any", pymupdf).Pixmap


def picture(sheet: Sheet, left: float, top: float) -> None:
    """A grey square of 130 points, and its caption below it."""
    gray = Pixmap(cast("Any", pymupdf).csGRAY, cast("Any", pymupdf).IRect(0, 0, 60, 60))
    gray.clear_with(150)
    sheet.page.insert_image((left, top, left + 130, top + 130), pixmap=gray)
    sheet.line(left, top + 141, "Figure 1. A lantern", size=8)


def register(sheet: Sheet, left: float, top: float) -> None:
    """A table with rules of 130 points, and its title above it."""
    sheet.line(left, top + 10, "Gauges")
    y = [top + 16 + 18 * at for at in range(7)]
    sheet.grid((left, left + 80, left + 130), y)
    for at in range(6):
        sheet.line(left + 4, y[at] + 13, f"Gauge {at}")
        sheet.line(left + 84, y[at] + 13, f"{at}.5")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("what", ["picture", "register"])
@pytest.mark.parametrize("wide", ["above", "below", "both"])
def test_a_paragraph_flows_around(side: str, what: str, wide: str) -> None:
    """It stays whole, however far its lines reach; what it flows around comes behind, with its title or caption."""
    sheet = Sheet()
    sheet.turn_over()
    before = prose(1, 4, 450) if wide != "below" else []
    narrow = prose(2, 12, 290)
    after = prose(3, 5, 450) if wide != "above" else []
    lines = [line.removesuffix(".") for line in (*before, *narrow, *after)]
    y = sheet.lines(60, 80, lines[: len(before)])
    (picture if what == "picture" else register)(sheet, 385 if side == "right" else 60, y - 8)
    y = sheet.lines(60 if side == "right" else 220, y, lines[len(before) : len(before) + len(narrow)])
    sheet.lines(60, y, lines[len(before) + len(narrow) :])
    text = sheet.read().text
    assert text.startswith(" ".join(lines[: len(before) + len(narrow) - 1]))
    assert " ".join(lines) in text
    rest = text[text.index(lines[-1]) :]
    if what == "picture":
        assert "![Figure 1. A lantern]" in rest
    else:
        assert "Gauges\n\n| Gauge 0 | 0.5 |" in rest
