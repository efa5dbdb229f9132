"""Grapheme boundaries found near a position (TK-03)."""

from __future__ import annotations

import pytest
import regex

from linkrag_dagster.tokens.graphemes import last_boundary

SAMPLES = [
    "plain ASCII, and 中文。",
    "a\r\nb\n\r\rc",
    "e\u0301e\u0301\u0302 x",
    "👨‍👩‍👧👍🏽🇩🇪🇫🇷🇯🇵x🇩",
    "क्षेत्र कर्म",
    "각한국\u1100\u1161\u11a8",
    "\u0600" + "1 天\ufe0f は\u3099 ー\u309a",
    "\u0301starts with a mark\u200d",
]


@pytest.mark.parametrize("text", SAMPLES)
def test_boundaries_equal_a_scan_of_the_whole(text: str) -> None:
    """TK-03: looking back a little finds what a scan from the start finds."""
    boundaries = [0, *(match.end() for match in regex.finditer(r"\X", text))]
    for position in range(len(text) + 1):
        expected = max(boundary for boundary in boundaries if boundary <= position)
        assert last_boundary(text, 0, position) == expected, position


def test_the_start_counts_as_a_boundary() -> None:
    text = "a" + "\u0301" * 10
    assert last_boundary(text, 4, 7) == 4
    assert last_boundary(text, 4, 4) == 4
    assert last_boundary(text, 4, len(text)) == len(text)
