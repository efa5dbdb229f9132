"""Captions of tables: which paragraph is whose (EL-05)."""

from __future__ import annotations

import pytest

from linkrag_dagster.markdown import parse, visible_words
from linkrag_dagster.markdown.captions import table_captions

TABLE = "| a |\n| - |\n| 1 |"


def described(text: str) -> list[str | None]:
    """What the caption of each table says."""
    elements = parse(text)
    found = table_captions(elements, text)
    captions = [
        elements[found[at]] if at in found else None for at, e in enumerate(elements) if e.kind == "table"
    ]
    return [None if e is None else visible_words(text[e.start_char : e.end_char]) for e in captions]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (["Table 1. Costs", TABLE], ["Table 1. Costs"]),
        ([TABLE, "Table 1. Costs"], ["Table 1. Costs"]),
        (["Table 1. Costs", TABLE, "Table 2. Gains", TABLE], ["Table 1. Costs", "Table 2. Gains"]),
        ([TABLE, "Table 1. Costs", TABLE, "Table 2. Gains"], ["Table 1. Costs", "Table 2. Gains"]),
        ([TABLE, "Table 1. Costs", TABLE], [None, "Table 1. Costs"]),
        (["Table 1. Costs", TABLE, "Table 2 shows the gains."], ["Table 1. Costs"]),
        (["Table 1. Costs", "Words between.", TABLE], [None]),
        (["## Table 1. Costs", TABLE], [None]),
        (["Figure 1. Costs", TABLE], [None]),
        (["> Table 1. Costs", TABLE], [None]),
        (["A table of costs", TABLE], [None]),
        (["**Table B.2** The *costs* of\nit all", TABLE], ["Table B.2 The costs of it all"]),
        (["TABLE IV", TABLE], ["TABLE IV"]),
        (["表3 水位登记", TABLE], ["表3 水位登记"]),
    ],
)
def test_captions_beside_tables(blocks: list[str], expected: list[str | None]) -> None:
    """EL-05: a table is described by the paragraph above or below that begins with a table's label."""
    assert described("\n\n".join(blocks) + "\n") == expected
