"""Blocks that CommonMark does not know, or does not show: math, footnotes, link definitions. Rules for markdown-it."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference

FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
_INTERRUPTS = {"alt": ["paragraph", "reference", "blockquote", "list"]}
MAX_NESTING = 50
"""Containers inside containers beyond this are not looked into: their lines stay part of the outer block."""


@cache
def block_parser() -> MarkdownIt:
    """A parser of blocks alone: CommonMark, GFM tables, and the rules of this module. Inline text stays unparsed."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.before("fence", "math", _math, _INTERRUPTS)
    parser.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph"]})
    parser.block.ruler.at("reference", _definition, {"alt": []})
    return parser


@cache
def inline_parser() -> MarkdownIt:
    """A parser of inline text."""
    return MarkdownIt("commonmark").enable("strikethrough")


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _is_indented_code(state: StateBlock, line: int) -> bool:
    return state.sCount[line] - state.blkIndent >= 4


def _math(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""`$$ … $$` and `\[ … \]`: the opening begins a line, the closing ends one. Without a closing it is text."""
    if _is_indented_code(state, start):
        return False
    first = _line(state, start).rstrip()
    opening = first[:2]
    if opening not in ("$$", "\\["):
        return False
    closing = "$$" if opening == "$$" else "\\]"
    last = start
    rest = first[2:].rstrip()
    while not rest.endswith(closing):
        if closing in rest and last == start:
            return False
        last += 1
        if last >= end or state.sCount[last] < state.blkIndent:
            _remember_unclosed(state, opening, start)
            return False
        if _unclosed_from(state, opening) <= start:
            return False
        rest = _line(state, last).rstrip()
        if closing in rest and not rest.endswith(closing):
            return False
    if silent:
        return True
    token = state.push("math_block", "math", 0)
    token.map = [start, last + 1]
    token.markup = opening
    token.block = True
    state.line = last + 1
    return True


def _remember_unclosed(state: StateBlock, opening: str, line: int) -> None:
    # Lines behind an opening that found no closing need not be searched again: linear time.
    state.env.setdefault("unclosed", {})[(opening, state.lineMax)] = line


def _unclosed_from(state: StateBlock, opening: str) -> int:
    unclosed: dict[tuple[str, int], int] = state.env.get("unclosed", {})
    return unclosed.get((opening, state.lineMax), 1 << 60)


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`[^label]: text`, with its indented or lazily continued lines."""
    if _is_indented_code(state, start) or not FOOTNOTE.match(_line(state, start)):
        return False
    if silent:
        return True
    last = start
    line = start + 1
    after_blank = False
    while line < end and not (state.sCount[line] < state.blkIndent and not state.isEmpty(line)):
        if state.isEmpty(line):
            after_blank = True
        elif state.sCount[line] - state.blkIndent >= 4 or (not after_blank and not _begins_block(state, line, end)):
            last, after_blank = line, False
        else:
            break
        line += 1
    token = state.push("footnote_block", "", 0)
    token.map = [start, last + 1]
    token.block = True
    state.line = last + 1
    return True


def _begins_block(state: StateBlock, line: int, end: int) -> bool:
    """Whether a line begins a block that interrupts a paragraph, or another footnote."""
    if FOOTNOTE.match(_line(state, line)):
        return True
    return any(rule(state, line, end, True) for rule in state.md.block.ruler.getRules("paragraph"))


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """markdown-it's own rule for link definitions, with a token: their lines belong to the text too (EL-02)."""
    if not reference(state, start, end, silent):
        return False
    if not silent:
        token = state.push("definition", "", 0)
        token.map = [start, state.line]
        token.block = True
    return True
