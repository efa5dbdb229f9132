"""Markdown text to elements: CommonMark and GFM tables by markdown-it, exact places by lines (EL-01 to EL-06)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from linkrag_dagster.markdown.block_rules import block_parser, inline_parser
from linkrag_dagster.markdown.elements import PROTECTED_KINDS, Element, ProtectedRange
from linkrag_dagster.markdown.front_matter import front_matter_end
from linkrag_dagster.markdown.images import image_spans

KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "blockquote",
    "fence": "code",
    "code_block": "code",
    "math_block": "math",
    "table_open": "table",
    "html_block": "html",
    "footnote_block": "footnote",
    "definition": "definition",
    "hr": "rule",
}
TRACKED_LEVELS = 5
"""Headings of level 1 to 5 lead the trail; level 6 is ordinary content to it (CB-04)."""

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_MARKED = re.compile(r"[\\`*_\[\]<>&!~]")
_CONTAINER_MARKS = re.compile(r"(?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*")
_HTML_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,}).*?^[ \t]*(?P=fence)[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_HTML_TABLE = re.compile(r"<table\b.*?</table\s*>", re.IGNORECASE | re.DOTALL)
_WHITE = " \t\n\r\v\f"


class MarkdownError(Exception):
    """A text that can't be parsed: says where and why. Other documents are not touched by it."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A top-level block before it has a number: kind, place, heading level, nested ranges."""

    kind: str
    start: int
    end: int
    first_line: int
    last_line: int
    level: int | None = None
    title: str | None = None
    description: str | None = None
    protected: tuple[ProtectedRange, ...] = ()


def parse(text: str) -> list[Element]:
    """The elements of a Markdown text, in order.

    Elements never overlap and what lies between two is white space only; offsets are code points of `text` as it is,
    whatever its line breaks, byte order mark or control characters (EL-03, EL-04).

    Raises:
        MarkdownError: the text is nested so deeply that it can't be parsed.
    """
    try:
        blocks = list(_blocks(text))
    except RecursionError as error:
        raise MarkdownError("blocks are nested too deeply to parse: flatten the document") from error
    return list(_elements(blocks))


def _elements(blocks: Sequence[_Block]) -> Iterator[Element]:
    trail: list[tuple[int, int, str]] = []
    counts = {"image": 0, "table": 0}
    for index, block in enumerate(blocks):
        own: list[tuple[int, int, str]] = []
        if block.kind == "heading" and block.level is not None:
            heading = (block.level, index, block.title or "")
            if block.level <= TRACKED_LEVELS:
                trail = [*(h for h in trail if h[0] < block.level), heading]
            else:
                own = [heading]
        element_id = None
        if block.kind in counts:
            counts[block.kind] += 1
            element_id = f"{block.kind}_{counts[block.kind]:03d}"
        yield Element(
            element_index=index,
            kind=block.kind,
            level=block.level,
            start_char=block.start,
            end_char=block.end,
            start_line=block.first_line,
            end_line=block.last_line,
            heading_trail=tuple(title for _, _, title in (*trail, *own)),
            trail_indexes=tuple(at for _, at, _ in (*trail, *own)),
            title=block.title,
            element_id=element_id,
            description=block.description,
            protected=block.protected,
        )


class _Lines:
    """Where the lines of a text begin and end; 0-based, line breaks not included."""

    def __init__(self, text: str) -> None:
        breaks = list(_LINE_BREAK.finditer(text))
        self.starts = [0, *(match.end() for match in breaks)]
        self.ends = [*(match.start() for match in breaks), len(text)]
        self.text = text

    def is_blank(self, line: int) -> bool:
        return not self.text[self.starts[line] : self.ends[line]].strip(_WHITE)


def _blocks(text: str) -> Iterator[_Block]:
    lines = _Lines(text)
    mark = 1 if text.startswith("\ufeff") else 0
    first = 0
    closed = front_matter_end(text)
    if closed is not None:
        first = next(n for n, start in enumerate(lines.starts) if start > closed or n == len(lines.starts) - 1)
        last = first - 1 if lines.starts[first] > closed else first
        yield _Block("front_matter", mark, lines.ends[last], 1, last + 1)
        if lines.starts[first] <= closed:
            return
    begin = lines.starts[first] if closed is not None else mark
    tokens = block_parser().parse(text[begin:], {})
    for at, token in _top_level(tokens):
        yield from _block(tokens, at, token, lines, first, mark)


def _top_level(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    for at, token in enumerate(tokens):
        if token.level == 0 and token.type in KINDS and token.map:
            yield at, token


def _block(
    tokens: Sequence[Token], at: int, token: Token, lines: _Lines, shift: int, mark: int
) -> Iterator[_Block]:
    text = lines.text
    assert token.map is not None
    first, last = token.map[0] + shift, min(token.map[1] + shift, len(lines.starts)) - 1
    while last > first and lines.is_blank(last):
        last -= 1
    kind = KINDS[token.type]
    start = max(lines.starts[first], mark if first == 0 else 0)
    end = lines.ends[last]
    if kind == "paragraph":
        images = image_spans(text[start:end])
        if images:
            for image in images:
                a, b = start + image.start, start + image.end
                head = first + len(_LINE_BREAK.findall(text, start, a)) + 1
                yield _Block("image", a, b, head, head + len(_LINE_BREAK.findall(text, a, b)), description=image.alt)
            return
    level = title = None
    if kind == "heading":
        level = int(token.tag[1:])
        title = visible_text(tokens[at + 1].content)
    protected: tuple[ProtectedRange, ...] = ()
    if kind in ("list", "blockquote", "footnote"):
        protected = tuple(_nested(tokens, at, lines, shift))
    elif kind == "html":
        protected = tuple(_in_html(text, start, end))
    yield _Block(kind, start, end, first + 1, last + 1, level, title, None, protected)


def _nested(tokens: Sequence[Token], at: int, lines: _Lines, shift: int) -> Iterator[ProtectedRange]:
    """Fences, tables and formulas inside a list or quote, from their marker (EL-06)."""
    for token in tokens[at + 1 :]:
        if token.level == 0:
            return
        kind = KINDS.get(token.type, "")
        if kind not in PROTECTED_KINDS or not token.map:
            continue
        first, last = token.map[0] + shift, min(token.map[1] + shift, len(lines.starts)) - 1
        while last > first and lines.is_blank(last):
            last -= 1
        yield ProtectedRange(kind, _marker(lines, first, token), lines.ends[last])


def _marker(lines: _Lines, line: int, token: Token) -> int:
    """Where a nested block's own first character stands, behind the marks of its containers."""
    start, end = lines.starts[line], lines.ends[line]
    if token.markup and token.type in ("fence", "math_block"):
        found = lines.text.find(token.markup, start, end)
        return found if found >= 0 else start
    marks = _CONTAINER_MARKS.match(lines.text, start, end)
    return marks.end() if marks and marks.end() < end else start


def _in_html(text: str, start: int, end: int) -> Iterator[ProtectedRange]:
    source = text[start:end]
    found = [("code", match) for match in _HTML_FENCE.finditer(source)]
    found += [("table", match) for match in _HTML_TABLE.finditer(source)]
    at = 0
    for kind, match in sorted(found, key=lambda item: item[1].start()):
        if match.start() >= at:
            yield ProtectedRange(kind, start + match.start(), start + match.end())
            at = match.end()


def visible_text(source: str) -> str:
    """What a reader sees of inline Markdown: text, code, the text of links and images; marks and tags left out."""
    if not _MARKED.search(source):
        return " ".join(source.split())
    parts: list[str] = []
    for block in inline_parser().parseInline(source):
        _collect(block.children or [], parts)
    return " ".join("".join(parts).split())


def _collect(tokens: Sequence[Token], parts: list[str]) -> None:
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.children:
            _collect(token.children, parts)
