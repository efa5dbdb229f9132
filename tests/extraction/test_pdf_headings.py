"""Which blocks of a PDF are headings (XT-06)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pymupdf
import pytest

from linkrag_dagster.extraction import extract

open_pdf = cast("Callable[..., Any]", cast("Any", pymupdf).open)
PROSE = (
    "The survey of the northern gauges began in the spring of that year, and",
    "went on until the first snow closed the road to the reservoir.",
)


def printed(large: tuple[str, ...], font: str = "helv", size: float = 14) -> str:
    """The text of a page on which lines in large type stand between two paragraphs."""
    page = open_pdf().new_page(width=595, height=842)
    down = 80.0
    for lines, name, height in ((PROSE, "helv", 10), (large, font, size), (PROSE, "helv", 10)):
        for line in lines:
            page.insert_text((60, down), line, fontsize=height, fontname=name)
            down += 1.25 * height
        down += 12
    return extract(page.parent.tobytes(), "page.pdf").text


@pytest.mark.parametrize("font", ["helv", "heit"])
def test_a_sentence_set_large_over_lines_is_no_heading(font: str) -> None:
    """XT-06: a quotation between paragraphs."""
    text = printed(("What we measured in that year has never", "been measured there since."), font)
    assert "\n\nWhat we measured in that year has never been measured there since.\n\n" in text


@pytest.mark.parametrize(
    ("lines", "font"),
    [
        (("What we measured in that year, and what", "became of it"), "helv"),
        (("What was measured in that year.",), "helv"),
        (("What we measured in that year has never", "been measured there since."), "hebo"),
    ],
)
def test_titles_set_large_are_headings(lines: tuple[str, ...], font: str) -> None:
    """XT-06: over lines without a stop, on one line with it, or in bold."""
    assert f"\n\n# {' '.join(lines)}\n\n" in printed(lines, font)
