"""Captions of tables in chunks: of each part of the table its own, said once (CB-12 to CB-14)."""

from __future__ import annotations

from dataclasses import replace

from linkrag_dagster.chunking import chunk_elements, chunk_text
from linkrag_dagster.markdown import parse

CAPTION = "Table 3. Depth of the gauges, in metres."
ROWS = "".join(f"| gauge {n} | {n}.25 |\n" for n in range(60))
TEXT = f"# Gauges\n\nWords before it.\n\n{CAPTION}\n\n| gauge | depth |\n| --- | --- |\n{ROWS}\nWords after it.\n"


def test_each_part_of_a_large_table_has_its_caption() -> None:
    """CB-13: a part says what it is a part of, and repeats the header rows."""
    source, *parts = chunk_text(TEXT, settings={"tokenizer": "cl100k_base", "hard_max_tokens": 128}).chunks
    assert len(parts) > 2
    for part in parts:
        assert part.text.startswith(
            f"Gauges\n\n[table: table_001]\n{CAPTION}\n\n| gauge | depth |\n| --- | --- |\n"
        )
        assert CAPTION not in part.content
    assert f"{CAPTION}\n\n[table: table_001]\n| gauge | depth |" in source.content


def test_a_caption_is_no_context_of_its_table() -> None:
    """CB-14: it would be there twice; what stands before it is."""
    small = TEXT.replace(ROWS, "| gauge 1 | 2.5 |\n")
    source, derived = chunk_text(small, settings={"tokenizer": "cl100k_base"}).chunks
    assert derived.text == (
        f"Gauges\n\n[table: table_001]\n{CAPTION}\n\nWords before it.\n\n{derived.content}\n\nWords after it."
    )
    assert source.content.count(CAPTION) == 1


def test_a_summary_of_its_own_stands_instead() -> None:
    """EL-05, CB-12: what an extractor says of a table is its description; the caption is a paragraph beside it."""
    small = TEXT.replace(ROWS, "| gauge 1 | 2.5 |\n")
    elements = [replace(e, description="one gauge") if e.kind == "table" else e for e in parse(small)]
    source, derived = chunk_elements(elements, small, settings={"tokenizer": "cl100k_base"}).chunks
    assert derived.text.startswith(f"Gauges\n\n[table: table_001]\none gauge\n\n{CAPTION}\n\n| gauge")
    assert source.content.count(CAPTION) == 1
