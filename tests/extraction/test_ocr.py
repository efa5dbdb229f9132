"""Recognition of characters: which way a picture is read, how sure it is, and the recogniser itself (XT-08)."""

from __future__ import annotations

import socket
from typing import Any

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.extraction.ocr import (
    OcrSettings,
    RecognisedLine,
    components,
    is_installed,
    read_upright,
    recogniser,
)
from linkrag_dagster.extraction.ocr.lines import Corners, mean_confidence

needs_extra = pytest.mark.skipif(not is_installed(), reason="the extra ocr is not installed")


def line(text: str, box: tuple[float, float, float, float], confidence: float = 0.95) -> RecognisedLine:
    """An upright line."""
    left, top, right, bottom = box
    corners: Corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return RecognisedLine(text, corners, confidence)


class Fake:
    """Reads what it was told, picture by picture."""

    def __init__(self, *readings: list[RecognisedLine]) -> None:
        self.readings = list(readings)
        self.shapes: list[tuple[int, ...]] = []

    def read(self, image: Any) -> list[RecognisedLine]:
        self.shapes.append(image.shape)
        return self.readings.pop(0)


IMAGE = np.zeros((300, 200, 3), np.uint8)
GOOD = [line("a line of words", (10, 10, 190, 30)), line("and one more", (10, 40, 150, 60))]
BAD = [line("e)q@", (10, 10, 190, 30), 0.4), line("!!", (10, 40, 150, 60), 0.3)]
TALL = [
    line("a line of words that runs down a page", (10, 10, 30, 290)),
    line("and one more that does as well", (40, 10, 60, 250)),
]


def test_an_upright_picture_is_read_once() -> None:
    """What reads well is not turned."""
    fake = Fake(GOOD)
    reading = read_upright(IMAGE, fake)
    assert (reading.quarters, reading.width, reading.height) == (0, 200, 300)
    assert [one.text for one in reading.lines] == ["a line of words", "and one more"]
    assert fake.shapes == [(300, 200, 3)]


def test_a_picture_upside_down_is_turned() -> None:
    """XT-08: what reads badly is read the other way round, and the better reading is kept."""
    assert read_upright(IMAGE, Fake(BAD, GOOD)).quarters == 2
    assert read_upright(IMAGE, Fake(GOOD[:1], GOOD)).quarters == 0
    assert read_upright(IMAGE, Fake(BAD, [])).quarters == 0


def test_lines_that_run_down_need_no_second_look() -> None:
    """XT-09: tall lines that read well run down; their corners are moved, their upper edge is the picture's right."""
    reading = read_upright(IMAGE, Fake(TALL))
    assert (reading.quarters, reading.width, reading.height) == (1, 300, 200)
    assert reading.lines[0].box == (10, 170, 290, 190)
    assert reading.lines[1].box == (10, 140, 250, 160)


def test_lines_that_run_up_are_turned_by_three_quarters() -> None:
    """XT-09: tall lines that read badly are read the other way."""
    bad = [line("x", one.box, 0.3) for one in TALL]
    fake = Fake(bad, GOOD)
    reading = read_upright(IMAGE, fake)
    assert reading.quarters == 3
    assert fake.shapes == [(300, 200, 3), (200, 300, 3)]


@given(st.integers(0, 40), st.floats(0, 1), st.floats(10, 400))
def test_a_line_is_trusted_less_where_it_holds_more_than_was_read(
    n: int, confidence: float, width: float
) -> None:
    """XT-08: a script that the recogniser does not know gives a few characters, of which it is quite sure."""
    one = line("a" * n, (0, 0, width, 20), confidence)
    assert 0 <= one.trust <= confidence
    if n >= 2 * width / 20:
        assert one.trust == confidence
    assert 0 <= mean_confidence([one]) <= confidence + 1e-9


def test_unread_lines_lower_the_mean() -> None:
    """XT-08: a page of which half could not be read is no good page."""
    read, unread = line("a" * 40, (0, 0, 400, 20), 0.9), line("", (0, 30, 600, 50), 0.0)
    assert mean_confidence([read]) == pytest.approx(0.9)
    assert mean_confidence([read, unread]) < 0.5
    assert mean_confidence([line("字" * 20, (0, 0, 400, 20), 0.9)]) == pytest.approx(0.9)


def test_settings_come_from_the_declaration() -> None:
    """XT-08: under `ocr`; a typing error is named."""
    assert OcrSettings.of({}) == OcrSettings()
    assert OcrSettings.of({"ocr": {"enabled": False, "mark_below": 0.9}}) == OcrSettings(False, 0.9)
    for wrong in ({"enabledd": True}, {"enabled": 0.5}, {"mark_below": True}, {"mark_below": "0.5"}):
        with pytest.raises(ValueError, match=r"options\.ocr"):
            OcrSettings.of({"ocr": wrong})


@needs_extra
def test_what_recognition_depends_on() -> None:
    """VE-02: the library, its runtime, and the models by their hash."""
    found = components()
    assert set(found) == {"rapidocr", "rapidocr_models", "onnxruntime"}
    assert len(found["rapidocr_models"]) == 32


@needs_extra
def test_english_and_chinese_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """XT-08: the models are in the package: both languages are read with no network to reach."""

    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    document: Any = pymupdf.open()  # pyright: ignore[reportUnknownMemberType]
    page = document.new_page(width=260, height=70)
    page.insert_text((10, 25), "Harbour lights at 21:45", fontsize=14)
    page.insert_text((10, 55), "扫描页没有文本", fontname="china-s", fontsize=14)
    drawn = page.get_pixmap(dpi=150)
    image = np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.width, 3)
    lines = sorted(recogniser().read(image), key=lambda one: one.box[1])
    assert [one.text for one in lines] == ["Harbour lights at 21:45", "扫描页没有文本"]
    assert all(one.trust > 0.9 for one in lines)
    left, top, right, bottom = (value * 72 / 150 for value in lines[0].box)
    assert left == pytest.approx(10, abs=4)
    assert right == pytest.approx(10 + pymupdf.get_text_length("Harbour lights at 21:45", "helv", 14), abs=4)
    assert 8 < top < 16 < 25 < bottom < 33
