"""Writing from the right to the left: stops, numbers beside words, ligatures, tables (XT-09)."""

from __future__ import annotations

from typing import Any

import pytest

from linkrag_dagster.extraction.pdf.right_to_left import gap_beside, in_order_of_speech, with_stops_last
from tests.extraction.test_pdf import Sheet

RAIN = "\u05d2\u05e9\u05dd"
HARBOUR = "\u05e0\u05de\u05dc"
STREAM = "\u05e0\u05d7\u05dc"
LAM, ALEF = "\u0644", "\u0627"


def characters(text: str, right: float, *, width: float = 6.0) -> list[dict[str, Any]]:
    """Characters in the order of speech, each further left than the one before it."""
    return [
        {"c": char, "bbox": (right - (at + 1) * width, 0.0, right - at * width, 10.0)}
        for at, char in enumerate(text)
    ]


def span(chars: list[dict[str, Any]]) -> dict[str, Any]:
    return {"font": "a", "size": 10.0, "chars": chars}


def said(spans: Any) -> str:
    return "".join(char["c"] for one in spans for char in one["chars"])


def test_a_stop_ends_its_line() -> None:
    """It stands leftmost, and the library has it first, in a span of its own or not."""
    words = characters(f"{RAIN} {HARBOUR}", 100.0)
    stop = characters(".", words[-1]["bbox"][0])
    assert said(with_stops_last([span([*stop, *words])])) == f"{RAIN} {HARBOUR}."
    assert said(with_stops_last([span(stop), span(words)])) == f"{RAIN} {HARBOUR}."


def test_a_stop_that_stands_first_stays_there() -> None:
    """What stands rightmost is read first; and a stop before Latin letters is none of this."""
    first = characters(f".{RAIN}", 100.0)
    assert said(with_stops_last([span(first)])) == f".{RAIN}"
    latin = [{"c": char, "bbox": (6.0 * at, 0.0, 6.0 * at + 6.0, 10.0)} for at, char in enumerate(".net")]
    assert said(with_stops_last([span(latin)])) == ".net"


@pytest.mark.parametrize(("space", "far"), [(0.0, False), (30.0, True)])
def test_a_number_beside_a_word(space: float, far: bool) -> None:
    """Its end, further right, is what stands beside the letter before it: 30 points off it is another cell's."""
    word = characters(RAIN, 100.0)
    end = word[-1]["bbox"][0] - space
    number = [
        {"c": digit, "bbox": (end - 24.0 + 6.0 * at, 0.0, end - 18.0 + 6.0 * at, 10.0)}
        for at, digit in enumerate("9470")
    ]
    assert (gap_beside([*word, *number], len(word)) > 5.0) is far
    assert gap_beside([*word, *number], 1) == 0.0


def test_lam_comes_before_alef() -> None:
    """Of the ligature of both, which the library takes apart, the alef is first and has no width."""
    alef = {"c": ALEF, "bbox": (50.0, 0.0, 50.0, 10.0)}
    lam = {"c": LAM, "bbox": (44.0, 0.0, 50.0, 10.0)}
    assert said([span(list(in_order_of_speech([alef, lam])))]) == LAM + ALEF
    apart = characters(ALEF + LAM, 50.0)
    assert said([span(list(in_order_of_speech(apart)))]) == ALEF + LAM


def test_a_sentence_and_a_table() -> None:
    """The stop is last; the first column of a table is the rightmost, and numbers are cells of their own."""
    sheet = Sheet()
    sheet.turn_over()
    sheet.page.insert_htmlbox((60, 60, 400, 100), f'<p dir="rtl">{RAIN} {HARBOUR} {STREAM}.</p>')
    rows = [(RAIN, "737", "5.2"), (HARBOUR, "9470", "96.0"), (STREAM, "608", "24.8")]
    sheet.grid((60, 160, 260, 400), [120 + 30 * at for at in range(4)])
    for at, row in enumerate(rows):
        y = 120 + 30 * at
        for (left, right), cell in zip(((262, 396), (162, 256), (62, 156)), row, strict=True):
            sheet.page.insert_htmlbox((left, y + 4, right, y + 28), f'<p dir="rtl">{cell}</p>')
    text = sheet.read().text
    assert f"{RAIN} {HARBOUR} {STREAM}." in text
    for row in rows:
        assert "| " + " | ".join(row) + " |" in text
