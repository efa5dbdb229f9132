"""Where markdown-it's block rules stand in a text, and what they found that must not be cut."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import EnvType

from linkrag_dagster.markdown.lines import Lines


class BlockState(StateBlock):
    """markdown-it's own state, filled line by line instead of character by character.

    Attributes:
        protected: kind, start and end of what stands inside the block at hand, in coordinates of `src`.
        unclosed: (closing mark, indent, end) → lines between which an opening formula finds no closing.
        flat: lines are read without regard to their indent, as inside HTML.
    """

    def __init__(self, lines: Lines, md: MarkdownIt, env: EnvType) -> None:
        self.src = lines.source
        self.md = md
        self.env = env
        self.tokens: list[Token] = []
        self.bMarks = lines.marks.copy()
        self.eMarks = [mark + len(row) for mark, row in zip(lines.marks, lines.rows, strict=False)]
        self.eMarks.append(len(lines.source))
        self.lineMax = len(lines.rows)
        self.tShift = [0] * (self.lineMax + 1)
        self.sCount = [0] * (self.lineMax + 1)
        self.bsCount = [0] * (self.lineMax + 1)
        for line, row in enumerate(lines.rows):
            if row and row[0] in " \t":
                blanks = row[: len(row) - len(row.lstrip(" \t"))]
                self.tShift[line] = len(blanks)
                self.sCount[line] = len(blanks.expandtabs(4))
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
