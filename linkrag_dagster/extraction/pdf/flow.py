"""Blocks of all columns and pages as one sequence: paragraphs that go on are joined (XT-04, XT-07)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkrag_dagster.extraction.pdf.blocks import Block

_STOPS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "；", ".”", ".’", '."', ".)", "。”")
_SMALL = 0.9


def flow(columns: Sequence[Sequence[Block]], body: float) -> list[Block]:
    """Blocks in the order of the text.

    Code that ends a column goes on in code that begins the next. A paragraph without an end is joined with its rest
    at the head of the next column or page. What floats between the two (tables, figures, footnotes, labels in small
    type) stands before it when it belongs to its page, and behind it when it belongs to the next.

    `body` is the size of most of the text.
    """
    made: list[Block] = []
    for column in columns:
        rest = list(column)
        end = len(made) - 1
        while end >= 0 and _floats(made[end], body):
            # What goes over pages itself floats in no sentence: pages would not follow each other.
            end = -1 if made[end].lines[-1].page != made[end].page else end - 1
        head = next((at for at, block in enumerate(rest) if not _floats(block, body)), None)
        if end >= 0 and head is not None and _goes_on(made[end], rest[head], floats=bool(head)):
            first, second = made.pop(end), rest.pop(head)
            first.parts = (*first.parts, len(first.lines))
            first.lines += second.lines
            first.full = second.full
            made.append(first)
        elif made and rest and made[-1].kind == rest[0].kind == "code":
            _continue_code(made[-1], rest.pop(0))
        made += rest
    return made


def _floats(block: Block, body: float) -> bool:
    return (
        block.kind in ("table", "image")
        or block.note
        or (block.kind != "code" and block.size <= _SMALL * body)
    )


def _continue_code(one: Block, other: Block) -> None:
    """The rest of a listing, with the indentation that it has against its beginning."""
    further = " " * max(0, round((other.inset - one.inset) / one.step))
    one.parts = (*one.parts, len(one.lines))
    one.lines += [replace(line, text=further + line.text if line.text else "") for line in other.lines]


def _goes_on(one: Block, other: Block, *, floats: bool) -> bool:
    if one.kind not in ("paragraph", "item") or other.kind != "paragraph":
        return False
    if abs(one.size - other.size) > 0.6 or one.weight != other.weight or other.note:
        return False
    text, rest = one.text.rstrip(), other.text.lstrip()
    if text.endswith(_STOPS) or not text or not rest:
        return False
    if rest[0].islower() or text.endswith(("-", "\u00ad", ",")):
        return True
    return one.full and not other.indented and not floats
