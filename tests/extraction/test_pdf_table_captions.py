"""A captioned table of a PDF, from the page to the chunks (XT-06, EL-05, CB-13)."""

from __future__ import annotations

import pytest

from linkrag_dagster.chunking import chunk_text
from linkrag_dagster.extraction import extract
from linkrag_dagster.markdown import parse
from tests.extraction.test_pdf import Sheet, prose
from tests.extraction.test_pdf_continued_tables import HEAD, part, register

CAPTION = "Table 3. Accounts of the north."


def statement(*, ruled: bool, below: bool, bold: bool) -> Sheet:
    """Prose, a table over two pages with its caption, prose."""
    sheet = Sheet()
    font = "hebo" if bold else "helv"
    sheet.turn_over()
    sheet.lines(60, 80, prose(1, 4, 400))
    if not below:
        sheet.line(60, 380, CAPTION, font=font)
    part(sheet, 790 - 21 * 18, [HEAD, *register(20)], ruled=ruled, bold=True)
    sheet.turn_over()
    end = part(sheet, 80, [HEAD, *register(40)[20:]], ruled=ruled, bold=True)
    if below:
        sheet.line(60, end + 18, CAPTION, font=font)
    sheet.lines(60, end + 60, prose(2, 4, 400))
    return sheet


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("below", [True, False])
@pytest.mark.parametrize("bold", [True, False])
def test_each_part_of_a_large_table_has_its_caption(ruled: bool, below: bool, bold: bool) -> None:
    """XT-06: bold captions are no headings; the caption is the table's description, and stands in all its parts."""
    text = extract(statement(ruled=ruled, below=below, bold=bold).bytes(), "a.pdf").text
    elements = parse(text)
    assert [e.kind for e in elements if e.kind != "paragraph"] == ["table"]
    chunks = chunk_text(text, settings={"tokenizer": "cl100k_base", "hard_max_tokens": 256}).chunks
    parts = [chunk for chunk in chunks if chunk.role == "derived"]
    assert len(parts) > 2
    assert "".join(chunk.content for chunk in parts).count("AC-") == 40
    for chunk in parts:
        assert chunk.text.startswith(f"[table: table_001]\n{CAPTION}\n\n| {' | '.join(HEAD)} |\n| ---")
