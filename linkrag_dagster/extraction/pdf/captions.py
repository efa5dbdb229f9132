"""Captions on pages: of tables that go on, of figures side by side, and which figure has which (XT-06)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from linkrag_dagster.extraction.pdf.blocks import Block
from linkrag_dagster.extraction.pdf.rows import Row
from linkrag_dagster.markdown.captions import FIGURE, TABLE, is_caption

_CONTINUED = re.compile(
    r"\bcont(?:inued|inues|['\u2019]?d|\b\.?)(?:\s+(?:on|from)\s+(?:the\s+)?(?:next|previous|following)\s+page)?"
    r"|\b(?:fortsetzung|suite)\b|[\u7eed\u7e8c\u63a5](?:[\u4e0a\u4e0b][\u9875\u9801\u8868]|(?=\u8868)|(?=[)\uff09]))",
    re.IGNORECASE,
)
"""Words for a table that goes on: `continued on next page`, `cont'd`, and the Chinese ones."""
_LONGEST = 200
_AROUND = " ()[]\uff08\uff09.:,;\u2026\u2013\u2014-"


def says_continued(text: str, captions: Collection[str] = ()) -> bool:
    """Whether a line says no more than that a table goes on, with its label, or words of one of the captions.

    >>> says_continued("(continued)"), says_continued("Table 3 (cont.)"), says_continued("We continued in June.")
    (True, True, False)
    >>> says_continued("Table 3. Costs (continued)")
    False
    >>> says_continued("Table 3. Costs (continued)", ["Table 3. Costs of the north"])
    True
    """
    if len(text) > _LONGEST or not _CONTINUED.search(text):
        return False
    rest = _CONTINUED.sub("", text).strip(_AROUND)
    if not rest or TABLE.fullmatch(rest):
        return True
    said = plain(rest)
    return any(plain(caption).startswith(said) for caption in captions)


def without_continued(text: str) -> str:
    return _CONTINUED.sub("", text)


def plain(text: str) -> str:
    """Letters and digits alone, in small letters: two ways of writing the same words."""
    return "".join(char for char in text.casefold() if char.isalnum())


def is_caption_of_table(row: Row) -> bool:
    """Whether a row stands above or below a table, and is none of its rows: a caption, or that it goes on."""
    if len(row.segments) > 1:
        return are_captions(row)
    return TABLE.match(row.text) is not None or says_continued(row.text)


def are_captions(row: Row) -> bool:
    """Whether a row is captions side by side."""
    return len(row.segments) > 1 and all(
        is_caption(part.text, label=FIGURE) or is_caption(part.text) for part in row.segments
    )


def with_captions(blocks: Sequence[Block]) -> list[Block]:
    """Figures with the caption right below them, or else above, as their description."""
    figures = {at for at, block in enumerate(blocks) if block.kind == "image"}
    captions = [at for at, block in enumerate(blocks) if _is_caption_of_figure(block)]
    owners: dict[int, int] = {}
    for side in (-1, 1):
        for at in captions:
            if at not in owners and at + side in figures:
                owners[at] = at + side
                figures.remove(at + side)
    for at, figure in owners.items():
        blocks[figure].lines, blocks[figure].size = blocks[at].lines, blocks[at].size
    return [block for at, block in enumerate(blocks) if at not in owners]


def _is_caption_of_figure(block: Block) -> bool:
    return block.kind in ("paragraph", "item") and FIGURE.match(block.text) is not None
