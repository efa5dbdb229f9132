"""The top-level blocks of a text: CommonMark, GFM tables, formulas, footnotes, definitions. No inline text is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock

from linkrag_dagster.markdown import block_rules
from linkrag_dagster.markdown.block_state import BlockState
from linkrag_dagster.markdown.elements import PROTECTED_KINDS

KINDS = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "blockquote",
    "fence": "code",
    "code_block": "code",
    "math": "math",
    "table_open": "table",
    "html_block": "html",
    "footnote": "footnote",
    "hr": "rule",
}
MAX_NESTING = 64
"""Containers in containers (a list counts twice, for itself and its item) beyond which lines are read flat: they stay
part of their block, and their fences, formulas and tables are protected, but no further list or quote is told apart."""


class Block(NamedTuple):
    """A top-level block; a tuple, for there is one a block of every text.

    Attributes:
        kind: of the element it becomes.
        first, last: its lines, from 0, inclusive.
        level: of a heading.
        content: a heading's inline source.
        protected: kind, start and end of nested ranges, in coordinates of the lines' `source`.
    """

    kind: str
    first: int
    last: int
    level: int | None = None
    content: str = ""
    protected: tuple[tuple[str, int, int], ...] = ()


class BlockParser(ParserBlock):
    """markdown-it's block parser with `block_rules` in place of its table of rules."""

    def __init__(self) -> None:
        self.ruler = Ruler[block_rules.Rule]()
        self.ruler.push(
            "interrupts", block_rules.interrupts, {"alt": ["paragraph", "reference", "blockquote"]}
        )
        self.ruler.push("table", block_rules.table, {"alt": ["paragraph", "reference"]})
        self.ruler.push("ends_list", block_rules.ends_list, {"alt": ["list"]})

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:
        """Reads the blocks inside a container, and protects those that must not be cut."""
        assert isinstance(state, BlockState)
        line = startLine
        while line < endLine:
            state.line = line = state.skipEmptyLines(line)
            if line >= endLine or state.sCount[line] < state.blkIndent:
                break
            if state.level >= MAX_NESTING:
                line += 1
                while line < endLine and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent):
                    line += 1
                block_rules.look_inside(state, state.line, line)
                continue
            position = state.bMarks[line] + state.tShift[line]
            kind, _ = read_block(state, line, endLine)
            if kind in PROTECTED_KINDS:
                state.protect(kind, position, state.eMarks[state.last_line(line)])
            line = state.line


def read_block(state: BlockState, line: int, end: int) -> tuple[str, int]:
    """Reads the one block that begins on a line. Returns its kind and the index of its first token."""
    at = len(state.tokens)
    if state.is_code_block(line):
        block_rules.indented_code(state, line, end)
        return "code", at
    first = state.src[state.bMarks[line] + state.tShift[line]]
    for rule in (block_rules.table, *block_rules.BY_FIRST_CHARACTER.get(first, ()), block_rules.paragraph):
        if rule(state, line, end, False):
            break
    # The rule for definitions is the only one that leaves no token.
    return (KINDS[state.tokens[at].type], at) if len(state.tokens) > at else ("definition", at)


def read_blocks(state: BlockState, first_line: int) -> Iterator[Block]:
    """The top-level blocks from a line on, in order; definitions are noted in `state.env`."""
    begins, shifts, ends, source, count = state.bMarks, state.tShift, state.eMarks, state.src, state.lineMax
    line = state.skipEmptyLines(first_line)
    while line < count:
        below = line + 1
        # Most blocks are a line of their own, outside every container: seen here, most calls are saved.
        if state.sCount[line] < 4 and (below >= count or begins[below] + shifts[below] >= ends[below]):
            first = source[begins[line] + shifts[line]]
            found = block_rules.heading_of(state, line) if first == "#" else None
            if found is not None or first not in block_rules.BY_FIRST_CHARACTER:
                if found is None:
                    yield Block("paragraph", line, line)
                else:
                    yield Block("heading", line, line, *found)
                line += 2
                while line < count and begins[line] + shifts[line] >= ends[line]:
                    line += 1
                continue
        state.line, state.parentType = line, "root"
        kind, at = read_block(state, line, state.lineMax)
        level, content = None, ""
        if kind == "heading":
            level, content = int(state.tokens[at].tag[1:]), state.tokens[at].content
        yield Block(kind, line, state.last_line(line), level, content, _outermost(state.protected))
        state.tokens.clear()
        state.protected.clear()
        line = state.skipEmptyLines(state.line)


def _outermost(ranges: list[tuple[str, int, int]]) -> tuple[tuple[str, int, int], ...]:
    """Ranges in order without those that another one reaches into."""
    if not ranges:
        return ()
    kept: list[tuple[str, int, int]] = []
    for kind, start, end in sorted(ranges, key=lambda found: (found[1], -found[2])):
        if not kept or start >= kept[-1][2]:
            kept.append((kind, start, end))
    return tuple(kept)


class Markdown(MarkdownIt):
    """markdown-it as we use it: links are read, never followed, so their addresses are neither judged nor encoded."""

    def validateLink(self, url: str) -> bool:
        return True

    def normalizeLink(self, url: str) -> str:
        return url

    def normalizeLinkText(self, link: str) -> str:
        return link
