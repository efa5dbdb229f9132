"""Words read are words written, and words left out: none is lost, none is said twice (XT-03, XT-05, XT-06).

On pages where something stands in a table's box and in none of its cells: marks and notes between its rows, lines of
the column beside it, a watermark.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.extraction import Extraction, extract
from tests.extraction.test_pdf_places import Press

MARK = "CONFIDENTIAL"
_WORD = re.compile(rf"{MARK}|[a-z]+\d+", re.IGNORECASE)


def words_in(text: str) -> Counter[str]:
    """Words as a press sets them; those that stand together without a blank are two all the same."""
    return Counter(_WORD.findall(text))


def kept(found: Extraction) -> Counter[str]:
    return words_in("\n".join([found.text, *(one.text for one in found.left_out)]))


class Leaf(Press):
    """A press that knows what it has set."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.written: Counter[str] = Counter()

    def put(self, x: float, y: float, text: str, size: float = 10, font: str = "helv") -> None:
        super().put(x, y, text, size, font)
        self.written += words_in(text)

    def rows(self, x: float, y: float, columns: int, rows: int, pitch: float, drawn: str) -> float:
        """A table, its first base at `y`; `drawn` is how rows are set apart. Its columns are 75 points wide."""
        wide = 75.0 * columns
        for row in range(rows):
            base = y + pitch * row
            top, bottom = base - pitch + 4, base + 4
            if drawn == "stripes" and row % 2:
                self.page.draw_rect((x - 3, top, x + wide, bottom), fill=(0.9, 0.9, 0.9), color=None)
            if drawn in ("rules", "grid"):
                self.rule(x - 3, top, x + wide, top)
            for column in range(columns):
                self.put(x + 75 * column, base, self.word())
                if drawn == "grid":
                    self.rule(x - 3 + 75 * column, top, x - 3 + 75 * column, bottom)
        end = y + pitch * (rows - 1) + 4
        if drawn in ("rules", "grid"):
            self.rule(x - 3, end, x + wide, end)
        if drawn == "grid":
            self.rule(x + wide, y - pitch + 4, x + wide, end)
        return end


@st.composite
def leaves(draw: st.DrawFn) -> Leaf:
    """Pages of tables of each kind, with small words near and between their rows, prose beside, and a watermark."""
    leaf = Leaf(draw(st.integers(0, 10_000)))
    marked, beside = draw(st.booleans()), draw(st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        leaf.turn_over(0)
        if marked:
            leaf.put(60, 330, MARK, 60)
        if beside:
            leaf.paragraph(320, 90 + draw(st.floats(0, 12)), 220, draw(st.integers(4, 40)))
        y = 110.0
        while y < 600 and draw(st.booleans()):
            columns = draw(st.integers(2, 3 if beside else 6))
            count, pitch = draw(st.integers(2, 9)), draw(st.sampled_from([12.0, 14.0, 18.0]))
            drawn = draw(st.sampled_from(["nothing", "nothing", "rules", "stripes", "grid"]))
            end = leaf.rows(60, y, columns, count, pitch, drawn)
            for _ in range(draw(st.integers(0, 3))):
                leaf.put(
                    draw(st.sampled_from([60.0, 98.0, 60 + 75.0 * (columns - 1)])),
                    draw(st.sampled_from([y, y + pitch, end])) + draw(st.floats(-9, 9)),
                    leaf.word(),
                    draw(st.sampled_from([5.0, 6.0, 7.0, 8.0])),
                )
            y = leaf.paragraph(60, end + 22, 220, draw(st.integers(0, 3))) + 20
    leaf.paragraph(60, 780, 220, 1)
    return leaf


@settings(max_examples=80, deadline=None)
@given(leaves())
def test_words_read_are_words_written_and_left_out(leaf: Leaf) -> None:
    """Each word once: also what stands in a table's box, and in no cell of it."""
    assert kept(extract(leaf.document.tobytes(), "a.pdf")) == leaf.written


@pytest.mark.parametrize(
    ("x", "down", "size", "count"),
    [
        pytest.param(98, -5.5, 6, 1, id="a note's mark"),
        pytest.param(60, -6.5, 6, 1, id="a note right above"),
        pytest.param(60, 54, 7, 6, id="a source below"),
    ],
)
def test_small_words_at_a_table_without_rules(x: float, down: float, size: float, count: int) -> None:
    """XT-06: they stand in its box, since lines overlap; its rows are as they are without them."""
    leaf = Leaf(1)
    leaf.turn_over(0)
    leaf.rows(60, 208, 3, 5, 12, "nothing")
    leaf.put(x, 208 + down, " ".join(leaf.word() for _ in range(count)), size)
    found = extract(leaf.document.tobytes(), "a.pdf")
    assert kept(found) == leaf.written
    assert found.text.count("\n|") + found.text.startswith("|") == 6


@pytest.mark.parametrize("drawn", ["rules", "stripes"])
def test_a_watermark_over_a_table_is_left_out(drawn: str) -> None:
    """XT-05: it is in none of its cells, and so among what is left out, page by page."""
    leaf = Leaf(2)
    for _ in range(3):
        leaf.turn_over(0)
        leaf.put(120, 400, MARK, 60)
        leaf.rows(60, 263, 6, 14, 18, drawn)
    found = extract(leaf.document.tobytes(), "a.pdf")
    assert [(one.page, one.text, one.reason) for one in found.left_out] == [
        (page, MARK, "furniture") for page in (1, 2, 3)
    ]
    assert kept(found) == leaf.written
