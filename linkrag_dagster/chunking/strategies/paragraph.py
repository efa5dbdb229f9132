"""ST-08, `paragraph`: at blank lines, without a bound (seed 002)."""

from __future__ import annotations

import re

from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source, visible

PARAGRAPH = "paragraph"
_BLANK_LINES = re.compile(r"(?:\r\n|\n|\r)[^\S\r\n]*(?:\r\n|\n|\r)\s*")


def paragraph(source: Source) -> Cutting:
    """One piece a paragraph, without the white space around it; lines of white space only count as blank."""
    text = source.text
    starts = [0, *(m.end() for m in _BLANK_LINES.finditer(text))]
    spans = [visible(text, a, b) for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    spans = [(a, b) for a, b in spans if a < b]
    return Cutting([Piece(a, b, END if b == spans[-1][1] else PARAGRAPH) for a, b in spans])
