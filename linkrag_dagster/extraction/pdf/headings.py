"""Which blocks are headings, and of which level: the outline, else size, weight and place (XT-06)."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import pairwise, zip_longest

from linkrag_dagster.extraction.pdf.blocks import Block
from linkrag_dagster.extraction.pdf.captions import plain
from linkrag_dagster.markdown.captions import FIGURE, is_caption

_LARGER = 1.1
_LONGEST = 200
_LONGEST_STANDING_OUT = 120
_MOST_STANDING_OUT = 0.4
"""Share of a document's characters in bold, or italic, from which on that says nothing."""
_STOPS = (".", ",", ";", ":", "。")
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2}){1,3}\.?\s+(?=[^\W\d_])")
_LETTERS = re.compile(r"[^\W\d_]{2,}|[\u3040-\u9fff]")
_CAPITALS = (4, 60)
"""Letters that a heading in capitals alone has: fewer are an abbreviation."""
_PROSE = 80
"""Characters of what such a heading heads, at least: below labels stand others."""


def mark_headings(blocks: Sequence[Block], body: float, outline: Sequence[tuple[int, str, int]]) -> None:
    """Turns blocks into headings with levels.

    `outline` holds (level, title, page) of the document's own outline, which decides where it names a block. Other
    headings are levelled by their size: the largest first, bold and italic ones of the text's size last.
    """
    named = {(page, plain(title)): level for level, title, page in outline if plain(title)}
    characters = sum(len(block.text) for block in blocks) or 1
    telling = {
        one
        for one in (1, 2)
        if sum(len(b.text) for b in blocks if b.weight == one) <= _MOST_STANDING_OUT * characters
    }
    captions = _captions_of_tables(blocks)
    found: list[Block] = []
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.kind not in ("paragraph", "item") or block.note:
            continue
        level = named.get((block.page, plain(block.text)))
        if level is not None:
            block.kind, block.level = "heading", min(6, level)
        elif id(block) not in captions and _is_one(block, after, body, telling):
            block.kind = "heading"
            found.append(block)
    # What the outline leaves out stands below what it names, unless it is larger than all of that.
    known = [block for block in blocks if block.kind == "heading" and block.level]
    deepest = max((block.level for block in known), default=0)
    largest = max((_style(block) for block in known), default=None)
    styles = sorted({_style(b) for b in found if largest is None or _style(b) <= largest}, reverse=True)
    for block in found:
        style = _style(block)
        block.level = min(6, deepest + 1 + styles.index(style)) if style in styles else 1


def _captions_of_tables(blocks: Sequence[Block]) -> set[int]:
    """Blocks (by identity) that begin as captions do right above or below a table: bold ones look like headings."""
    return {
        id(caption)
        for pair in pairwise(blocks)
        for table, caption in (pair, pair[::-1])
        if table.kind == "table" and is_caption(caption.text)
    }


def _is_one(block: Block, after: Block | None, body: float, telling: Set[int]) -> bool:
    text = block.text.strip()
    if len(text) > _LONGEST or len(block.lines) > 4 or not _LETTERS.search(text) or FIGURE.match(text):
        return False
    return _looks_like_one(block, text, body, telling) or _is_in_capitals(block, text, after, body)


def _is_in_capitals(block: Block, text: str, after: Block | None, body: float) -> bool:
    """Whether a line is in capitals and heads prose.

    Before: `SOURCES OF WATER`, in the type of the text, is a paragraph.
    After: it is a heading.
    """
    if block.kind != "paragraph" or len(block.lines) > 1 or block.size < 0.95 * body or text.endswith(_STOPS):
        return False
    least, most = _CAPITALS
    letters = sum(map(str.isalpha, text))
    return (
        least <= letters <= most
        and text.isupper()
        and after is not None
        and after.kind == "paragraph"
        and len(after.text) >= _PROSE
        and not after.text.isupper()
    )


def _looks_like_one(block: Block, text: str, body: float, telling: Set[int]) -> bool:
    if block.size >= _LARGER * body + 0.2:
        if block.kind == "paragraph":
            return not _is_set_large(block, text)
        return not text.endswith((".", ";", ","))
    if len(block.lines) == 1 and _NUMBERED.match(text) and not text[-1].isdigit():
        # Recognition tells no bold type, and not all headings are set in it: a section's number has to do. What ends
        # with a number is a line of a table of contents.
        return len(text) <= _LONGEST_STANDING_OUT and not text.endswith(_STOPS)
    return (
        block.weight in telling
        and block.size >= 0.95 * body
        and len(block.lines) <= 2
        and len(text) <= _LONGEST_STANDING_OUT
        and not text.endswith(_STOPS)
    )


def _is_set_large(block: Block, text: str) -> bool:
    """Whether a block in large type is prose: a sentence over lines, not in bold.

    Before: a quotation of two lines, set large between paragraphs, is a heading.
    After: it is a paragraph.
    """
    return len(block.lines) > 1 and block.weight != 2 and text.endswith((".", "。"))


def _style(block: Block) -> tuple[float, int]:
    return round(block.size * 2) / 2, block.weight
