"""Where markdown-it's block rules stand in a text, and what they found that must not be cut."""

from __future__ import annotations

from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import EnvType

from linkrag_dagster.markdown.lines import Lines


class BlockState(StateBlock):
    """markdown-it's own state, filled line by line instead of character by character, and sparing with tokens.

    Blocks are known by the first token that their rule leaves; what stands inside them is nobody's to collect.

    Attributes:
        protected: kind, start and end of what stands inside the block at hand, in coordinates of `src`.
        unclosed: (closing mark, indent, end) → lines between which an opening formula finds no closing.
        flat: lines are read without regard to their indent, as inside HTML.
        reads: whether `getLines` does.
    """

    def __init__(self, lines: Lines, md: MarkdownIt, env: EnvType) -> None:
        self.src = lines.source
        self.md = md
        self.env = env
        self.tokens: list[Token] = []
        self.bMarks = lines.marks.copy()
        self.eMarks = [*lines.stops, len(lines.source)]
        self.lineMax = len(lines.rows)
        self.tShift = [len(row) - len(row.lstrip(" \t")) for row in lines.rows]
        self.tShift.append(0)
        self.sCount = self.tShift.copy()
        self.bsCount = [0] * (self.lineMax + 1)
        if "\t" in self.src:
            for line, row in enumerate(lines.rows):
                if self.tShift[line]:
                    self.sCount[line] = len(row[: self.tShift[line]].expandtabs(4))
        self.blkIndent = 0
        self.line = 0
        self.tight = False
        self.ddIndent = -1
        self.listIndent = -1
        self.parentType = "root"
        self.level = 0
        self.result = ""
        self.protected: list[tuple[str, int, int]] = []
        self.unclosed: dict[tuple[str, int, int], tuple[int, int]] = {}
        self.flat = False
        self.reads = True

    def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:
        """The content of lines; "" while nobody asks for it."""
        return super().getLines(begin, end, indent, keepLastLF) if self.reads else ""

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        """A token with as much as block rules ask of it: type, tag and level."""
        token = Token.__new__(Token)
        token.type, token.tag = ttype, tag
        if nesting < 0:
            self.level -= 1
        token.level = self.level
        if nesting > 0:
            self.level += 1
        self.tokens.append(token)
        return token

    def is_code_block(self, line: int) -> bool:
        """Whether the line is indented as code is."""
        return not self.flat and self.sCount[line] - self.blkIndent >= 4

    def skipEmptyLines(self, from_pos: int) -> int:
        """The first line from `from_pos` on that is not blank."""
        begins, shifts, ends = self.bMarks, self.tShift, self.eMarks
        while from_pos < self.lineMax and begins[from_pos] + shifts[from_pos] >= ends[from_pos]:
            from_pos += 1
        return from_pos

    def last_line(self, start: int) -> int:
        """The last line of the block from `start` to before `line` that isn't blank."""
        last = self.line - 1
        while last > start and self.isEmpty(last):
            last -= 1
        return last

    def protect(self, kind: str, start: int, end: int) -> None:
        """Notes what no cut may enter (EL-06)."""
        self.protected.append((kind, start, end))
