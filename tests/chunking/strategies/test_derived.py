"""Images and tables under strategies for comparison: like with like, where that is asked for (CB-13, SD-14)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linkrag_dagster.choices.strategies import COMPARISON_STRATEGIES
from linkrag_dagster.chunking import FinalChunk, chunk_text
from tests.chunking.strategies.support import by_topic, chunks

TABLE = "| boat | quay |\n| --- | --- |\n| Ann | 3 |\n| Bob | 4 |"
IMAGE = "![the old quay](quay.png)"
TEXT = (
    "# Harbour\n\nWords before the image. More of them here.\n\n"
    f"{IMAGE}\n\nWords between. And again some words.\n\n## Boats\n\nAbout boats.\n\n{TABLE}\n\nThe last words.\n"
)
# What the seed's own chunker loses or takes for a part of another thing is not in it.
SCORER = by_topic("words", "boat")


def finals(name: str, **settings: Any) -> list[FinalChunk]:
    made, _, _ = chunks(name, TEXT, scorer=SCORER, **settings)
    return made


@pytest.mark.parametrize("name", COMPARISON_STRATEGIES)
def test_every_image_and_table_once(name: str) -> None:
    """CB-13, CB-14, SD-14: its raw Markdown, the words beside it, and the piece that holds it; pieces stay the same."""
    plain, made = finals(name), finals(name, derived=True)
    assert all(c.role == "source" for c in plain)
    sources = [c for c in made if c.role == "source"]
    assert [replace(c, final_id="", final_index=0) for c in sources] == [
        replace(c, final_id="", final_index=0) for c in plain
    ]
    derived = [c for c in made if c.role == "derived"]
    assert [(c.element_id, c.content) for c in derived] == [("image_001", IMAGE), ("table_001", TABLE)]
    by_id = {c.final_id: c for c in sources}
    for c in derived:
        assert c.element_id in by_id[c.source_final_id or ""].contained_element_ids
    _, exported, _ = chunks(name, TEXT, scorer=SCORER, derived=True)
    image, table = (c for c in exported if c.role == "derived")
    assert "[image: image_001]\nthe old quay" in image.text and "Words between." in image.text
    assert "About boats." in table.text and table.content == TABLE


def test_the_same_derived_chunks_as_by_structure() -> None:
    """CB-13: text, header, context and place are those that `pack` gives."""

    def derived(strategy: str, **settings: object) -> list[tuple[object, ...]]:
        made = chunk_text(TEXT, strategy=strategy, settings={"tokenizer": "cl100k_base", **settings}).chunks
        return [
            (c.content, c.text, c.header, c.start_char, c.context_spans, c.element_id, c.tokens)
            for c in made
            if c.role == "derived"
        ]

    assert derived("fixed", size=40, unit="chars", derived=True) == derived("pack") != []
    assert derived("fixed", size=40, unit="chars") == []


def test_a_table_cut_in_pieces_has_one_source() -> None:
    """SD-14: the first piece that holds some of it."""
    made = finals("fixed", size=30, unit="chars", derived=True)
    holders = [c for c in made if c.role == "source" and "table_001" in c.contained_element_ids]
    (table,) = (c for c in made if c.element_id == "table_001")
    assert len(holders) > 1 and table.source_final_id == holders[0].final_id


def test_seed_headers_leave_derived_chunks_alone() -> None:
    """ST-06: the seed's program knows of none, so theirs are the usual headers' absence."""
    _, exported, _ = chunks("header", TEXT, compat=True, derived=True)
    assert all(c.text.startswith("[") for c in exported if c.role == "source")
