"""Grapheme boundaries found near a position (TK-03)."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linkrag_dagster.tokens.graphemes import last_boundary, next_boundary

SAMPLES = [
    "plain ASCII, and 中文。",
    "a\r\nb\n\r\rc",
    "e\u0301e\u0301\u0302 x",
    "👨‍👩‍👧👍🏽🇩🇪🇫🇷🇯🇵x🇩",
    "क्षेत्र कर्म",
    "각한국\u1100\u1161\u11a8\u1100가\u1100각",
    "\u0600" + "1 天\ufe0f は\u3099 ー\u309a",
    "\u0301starts with a mark\u200d",
    "\n\u0301 \u0301\u200d\u0301",
    "Слово за словом. كلمة بعد كلمة",
]
PIECES = st.sampled_from(
    [
        *"a \n\r1.é中。カแก่ا\u0301\u200d\ufe0f\u0600\u1100\u1161\u11a8가각한क्षि",
        *"\u094d\u0bcb🇩🇪👍🏽👩©\u00ad\ufeff\x00\x85",
    ]
)


def _boundaries(text: str) -> list[int]:
    return [0, *(match.end() for match in regex.finditer(r"\X", text))]


def _agrees_with_a_scan(text: str) -> None:
    boundaries = _boundaries(text)
    for position in range(len(text) + 1):
        assert last_boundary(text, 0, position) == max(b for b in boundaries if b <= position), position
        assert next_boundary(text, 0, position) == min(b for b in boundaries if b >= position), position


@pytest.mark.parametrize("text", SAMPLES)
def test_boundaries_equal_a_scan_of_the_whole(text: str) -> None:
    """TK-03: looking back a little finds what a scan from the start finds."""
    _agrees_with_a_scan(text)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(st.characters(), max_size=30)))
@example("\u0600\uac00\u1100\uac00\u0600a")
def test_boundaries_of_any_text(text: str) -> None:
    """TK-03: in any mixture of scripts, emoji, marks and controls."""
    _agrees_with_a_scan(text)


def test_the_start_counts_as_a_boundary() -> None:
    text = "a" + "\u0301" * 10
    assert last_boundary(text, 4, 7) == 4
    assert last_boundary(text, 4, 4) == 4
    assert last_boundary(text, 4, len(text)) == len(text)
    assert next_boundary(text, 4, 4) == 4
    assert next_boundary(text, 4, 5) == len(text)


def test_between_common_characters_there_is_a_boundary() -> None:
    """TK-03: ASCII, ideographs and marks of CJK and full width are told apart without an expression."""
    ranges = (range(0x20, 0x7F), range(0x3000, 0x3031), range(0x4E00, 0xA000, 300), range(0xFF01, 0xFF61))
    common = [chr(code) for codes in ranges for code in codes]
    for left in common:
        for right in common:
            expected = len(regex.findall(r"\X", left + right)) == 2
            assert (next_boundary(left + right + "x", 0, 1) == 1) == expected, (left, right)
