"""What begins a block, and where it ends: markdown-it's rules for CommonMark, and ours beside them.

A rule is called as markdown-it calls it: `rule(state, first line, one past the last, silent)`. It says whether a
block begins on that line; unless `silent`, it moves `state.line` past the block. Which rules may hold for a line
is decided by its first character, so most lines of prose ask none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping

from markdown_it import rules_block as commonmark
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock

from linkrag_dagster.markdown.block_state import BlockState

Rule = Callable[[StateBlock, int, int, bool], bool]

_RULE = re.compile(r"([-*_])[ \t]*\1[ \t]*\1(?:\1|[ \t])*")
_ITEM = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]|$)")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_DELIMITERS = re.compile(r"[-:|][-:| \t]+")
_DELIMITER = re.compile(r":?-+:?")
_PIPE = re.compile(r"(?<!\\)\|")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
# A label holds at most 999 characters; what cannot be a definition isn't read to the end of its paragraph.
_DEFINITION = re.compile(r"\[(?:[^\[\]\\]|\\.){1,999}\]:", re.DOTALL)
_HEADING = re.compile(r"#{1,6}(?=[ \t]|$)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
# Behind a formula may stand a stop and its number, `(2.1)`, `(eq:mean)` or `{#eq:mean}`, and nothing else.
_AFTER_MATH = re.compile(r"[ \t]*[.,;:!?。，；：！？]?[ \t]*(?:\([\w.:*-]{1,40}\)|\{[^{}]{1,80}\})?[ \t]*")
_MATH_CLOSERS = {"$$": "$$", "\\[": "\\]"}
_HTML_PAIR = re.compile(r"<(?P<close>/?)(?P<tag>pre|table)\b[^<>]*>", re.IGNORECASE)
_FOOTNOTE_INDENT = 4


def table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A GFM table. What its head is, is markdown-it's rule; its cells are nobody's to collect here."""
    if not _may_be_table(state, start, end) or not _is_table_head(state, start):
        return False
    if silent:
        return True
    parent, state.parentType = state.parentType, "table"
    line = start + 2
    while line < end and state.sCount[line] >= state.blkIndent and not state.isEmpty(line):
        if state.is_code_block(line) or interrupts(state, line, end, True):
            break
        line += 1
    state.parentType = parent
    state.push("table_open", "table", 0)
    state.line = line
    return True


def _may_be_table(state: StateBlock, line: int, end: int) -> bool:
    if line + 1 >= end:
        return False
    below = state.bMarks[line + 1] + state.tShift[line + 1]
    return (
        state.src[below : below + 1] in ("|", "-", ":")
        and "|" in state.src[state.bMarks[line] : state.eMarks[line]]
    )


def _is_table_head(state: StateBlock, line: int) -> bool:
    """Whether a row of names and a row of delimiters have as many cells as one another."""
    below = line + 1
    if state.sCount[below] < state.blkIndent or state.is_code_block(below) or state.is_code_block(line):
        return False
    delimiters = state.src[state.bMarks[below] + state.tShift[below] : state.eMarks[below]]
    # `- ` begins an item.
    if not _DELIMITERS.fullmatch(delimiters) or delimiters.startswith(("- ", "-\t")):
        return False
    cells = [cell.strip(" \t") for cell in delimiters.split("|")]
    if not cells[0]:
        del cells[0]
    if cells and not cells[-1]:
        del cells[-1]
    names = mdTrim(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])
    pipes = _PIPE.findall(names)
    outer = names.startswith("|") + (names.endswith("|") and not names.endswith("\\|"))
    return (
        bool(cells)
        and "|" in names
        and len(pipes) + 1 - outer == len(cells)
        and all(_DELIMITER.fullmatch(cell) for cell in cells)
    )


def rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A thematic break: three or more of one mark, and blanks."""
    del end
    if state.is_code_block(start):
        return False
    if not _RULE.fullmatch(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start]):
        return False
    if not silent:
        state.push("hr", "hr", 0)
        state.line = start + 1
    return True


def items(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A list. Most lines of prose that begin with a digit or a star hold no marker."""
    if not _ITEM.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start]):
        return False
    return commonmark.list_block(state, start, end, silent)


def fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A fenced code block, to its closing fence or to the end of what holds it."""
    if state.is_code_block(start):
        return False
    opening = _FENCE.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if opening is None or silent:
        return opening is not None
    marks, source = opening[0], state.src
    line = start + 1
    if state.level == 0 and state.blkIndent == 0:
        # Outside every container only a line with the marks can end it: the lines before need no look.
        found = source.find(marks, state.eMarks[start], state.eMarks[end - 1])
        line = end if found < 0 else bisect_right(state.bMarks, found, line, end) - 1
    while line < end:
        position = state.bMarks[line] + state.tShift[line]
        if state.sCount[line] < state.blkIndent and position < state.eMarks[line]:
            break
        if source.startswith(marks, position, state.eMarks[line]) and not state.is_code_block(line):
            tail = source[position : state.eMarks[line]].lstrip(marks[0])
            if not tail.strip(" \t"):
                line += 1
                break
        line += 1
    state.push("fence", "code", 0)
    state.line = line
    return True


def indented_code(state: StateBlock, start: int, end: int) -> None:
    """A block of lines indented as code, to the last of them before any other."""
    line = last = start + 1
    while line < end:
        if not state.isEmpty(line):
            if not state.is_code_block(line):
                break
            last = line + 1
        line += 1
    state.push("code_block", "code", 0)
    state.line = last


def math(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""`$$ … $$` or `\[ … \]`: the opening begins a line, the closing ends one; without a closing it is text."""
    assert isinstance(state, BlockState)
    if state.is_code_block(start):
        return False
    position = state.bMarks[start] + state.tShift[start]
    opening = state.src[position : position + 2]
    closing = _MATH_CLOSERS.get(opening)
    if closing is None or state.src[position + 2 : position + 3] == "$":
        return False
    last = _math_end(state, start, end, position + 2, closing)
    if last is None:
        return False
    if not silent:
        state.push("math", "math", 0)
        state.line = last + 1
    return True


def _math_end(state: BlockState, start: int, end: int, position: int, closing: str) -> int | None:
    """The line that closes a formula."""
    # An opening that is outdented from here belongs to a container around this one.
    indent = state.blkIndent if state.sCount[start] >= state.blkIndent else max(state.listIndent, 0)
    searched = state.unclosed.get((closing, indent, end), (0, 0))
    if searched[0] <= start < searched[1]:
        return None
    for line in range(start, end):
        if line > start:
            position = state.bMarks[line] + state.tShift[line]
            if state.sCount[line] < indent and not state.isEmpty(line):
                break
        stop = state.eMarks[line]
        found = state.src.find(closing, position, stop)
        while found > 0 and closing == "\\]" and state.src[found - 1] == "\\":
            found = state.src.find(closing, found + 1, stop)
        if found >= 0:
            inside = line > start or state.src[position:found].strip()
            closed = inside and _AFTER_MATH.fullmatch(state.src, found + 2, stop)
            return line if closed else None
    else:
        line = end
    # Openings between here and there find no closing either: they aren't searched again (linear time).
    state.unclosed[closing, indent, end] = (start, line)
    return None


def footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`[^label]: text` and the blocks that are indented below it."""
    if state.is_code_block(start):
        return False
    mark = _FOOTNOTE.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if mark is None:
        return False
    if silent:
        return True
    saved = state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType
    column = initial = state.sCount[start] + mark.end() - mark.start()
    position = mark.end()
    while state.src[position : position + 1] in (" ", "\t"):
        column += 4 - column % 4 if state.src[position] == "\t" else 1
        position += 1
    state.push("footnote", "", 1)
    state.blkIndent += _FOOTNOTE_INDENT
    state.bMarks[start], state.tShift[start] = mark.end(), position - mark.end()
    state.sCount[start] = column - initial + state.blkIndent
    state.parentType = "footnote"
    state.md.block.tokenize(state, start, end)
    state.blkIndent -= _FOOTNOTE_INDENT
    state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType = saved
    state.push("footnote", "", -1)
    return True


def definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A link reference definition. markdown-it notes it and makes no token of it."""
    if not _DEFINITION.match(state.src, state.bMarks[start] + state.tShift[start]):
        return False
    return commonmark.reference(state, start, end, silent)


def html(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """An HTML block, and what must not be cut inside it (EL-06)."""
    assert isinstance(state, BlockState)
    state.reads = False
    found = commonmark.html_block(state, start, end, silent)
    state.reads = True
    if not found:
        return False
    if not silent:
        look_inside(state, start, state.line)
        first, last = state.bMarks[start], state.eMarks[state.last_line(start)]
        opened: tuple[str, int] | None = None
        depth = 0
        for tag in _HTML_PAIR.finditer(state.src, first, last):
            name = tag["tag"].lower()
            if opened is None and not tag["close"]:
                opened, depth = (name, tag.start()), 1
            elif opened is not None and name == opened[0]:
                depth += -1 if tag["close"] else 1
                if depth == 0:
                    state.protect("code" if name == "pre" else "table", opened[1], tag.end())
                    opened = None
        if opened is not None:
            state.protect("code" if opened[0] == "pre" else "table", opened[1], last)
    return True


def look_inside(state: BlockState, start: int, end: int) -> None:
    """Protects the fences, formulas and tables of lines that are no Markdown of their own, however indented."""
    saved = state.blkIndent
    state.blkIndent, state.flat = 0, True
    line = start
    while line < end:
        state.line = line + 1
        if not state.isEmpty(line):
            position = state.bMarks[line] + state.tShift[line]
            rules = _INSIDE.get(state.src[position], ())
            kind = next((kind for kind, begins in rules if begins(state, line, end, False)), None)
            if kind is None and table(state, line, end, False):
                kind = "table"
            if kind is not None:
                state.protect(kind, position, state.eMarks[state.last_line(line)])
        line = state.line
    state.blkIndent, state.flat, state.line = saved, False, end


def heading(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """An ATX heading, without its closing run of `#`."""
    found = None if state.is_code_block(start) else heading_of(state, start)
    if found is None:
        return False
    if not silent:
        level, content = found
        state.push("heading_open", f"h{level}", 0).content = content
        state.line = start + 1
    return True


def heading_of(state: StateBlock, line: int) -> tuple[int, str] | None:
    """Level and content of the ATX heading on a line that is not indented as code; None if there is none."""
    position = state.bMarks[line] + state.tShift[line]
    mark = _HEADING.match(state.src, position, state.eMarks[line])
    if mark is None:
        return None
    content = state.src[mark.end() : state.eMarks[line]].strip(" \t")
    bare = content.rstrip("#")
    if not bare or bare[-1] in " \t":
        content = bare
    return mark.end() - position, content


def paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Lines up to a blank one or another block; with an underline (`===`, `---`) they are a heading."""
    del silent  # nothing is interrupted by a paragraph
    parent, state.parentType = state.parentType, "paragraph"
    line = start + 1
    level = 0
    while line < end:
        position = state.bMarks[line] + state.tShift[line]
        if position >= state.eMarks[line]:
            break
        indent = state.sCount[line] - state.blkIndent
        # Deeper it would be code, which interrupts no paragraph; a quote has judged the lines below zero.
        if indent <= 3:
            first = state.src[position]
            if (
                indent >= 0
                and first in "-="
                and _UNDERLINE.fullmatch(state.src, position, state.eMarks[line])
            ):
                level = 1 if first == "=" else 2
                break
            if state.sCount[line] >= 0 and (
                interrupts(state, line, end, True) or table(state, line, end, True)
            ):
                break
        line += 1
    state.parentType = parent
    if level:
        state.push("heading_open", f"h{level}", 0).content = state.getLines(
            start, line, state.blkIndent, False
        )
        state.line = line + 1
    else:
        state.push("paragraph_open", "p", 0)
        state.line = line
    return True


BY_FIRST_CHARACTER: Mapping[str, tuple[Rule, ...]] = {
    "#": (heading,),
    ">": (commonmark.blockquote,),
    "`": (fence,),
    "~": (fence,),
    "$": (math,),
    "\\": (math,),
    "<": (html,),
    "[": (footnote, definition),
    "_": (rule,),
    "*": (rule, items),
    "-": (rule, items),
    "+": (items,),
    **dict.fromkeys("0123456789", (items,)),
}
"""Rules that may hold for a line that begins so, in markdown-it's order; tables and paragraphs begin anyhow."""

_INTERRUPTING = {
    first: tuple(begins for begins in rules if begins is not definition)
    for first, rules in BY_FIRST_CHARACTER.items()
}
_LIST_ENDERS = (commonmark.blockquote, fence, rule, math, footnote)
_ENDS_LIST = {
    first: tuple(begins for begins in rules if begins in _LIST_ENDERS)
    for first, rules in BY_FIRST_CHARACTER.items()
}
_INSIDE: Mapping[str, tuple[tuple[str, Rule], ...]] = {
    "`": (("code", fence),),
    "~": (("code", fence),),
    "$": (("math", math),),
    "\\": (("math", math),),
}


def interrupts(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Whether a block that may interrupt a paragraph or leave a quote begins on the line."""
    return _any(_INTERRUPTING, state, line, end)


def ends_list(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Whether a block begins on the line that is no further item of a list."""
    return _any(_ENDS_LIST, state, line, end)


def _any(rules: Mapping[str, tuple[Rule, ...]], state: StateBlock, line: int, end: int) -> bool:
    position = state.bMarks[line] + state.tShift[line]
    for begins in rules.get(state.src[position : position + 1], ()):  # noqa: SIM110 a generator costs more, for most lines
        if begins(state, line, end, True):
            return True
    return False
