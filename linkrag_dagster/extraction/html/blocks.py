"""The blocks of a page in reading order: headings, paragraphs, lists, quotes, code, tables (XT-10)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from justhtml import Element, Text

from linkrag_dagster.extraction.html.inline import BLOCKS, Inline
from linkrag_dagster.extraction.html.source import Source
from linkrag_dagster.extraction.html.tables import Table, is_data, read_table
from linkrag_dagster.extraction.html.visibility import (
    Node,
    attribute,
    begins_section,
    is_furniture,
    is_shown,
    texts,
)
from linkrag_dagster.extraction.markup import code_block, table

HEADINGS = {f"h{level}": level for level in range(1, 7)}
DEEPEST = 8
"""Lists and quotes nested deeper than this are written at this depth: indentation would grow with the square."""

_LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-source-|brush:)\s*([A-Za-z0-9_+#.-]+)")
_ANCHOR_MARKS = frozenset(("¶", "#", "§", "🔗", "⚓", "¶︎"))


@dataclass(frozen=True, slots=True)
class Block:
    """A block as lines of Markdown.

    Attributes:
        lines: without the marks of lists and quotes around it.
        runs: (first line, one past the last, start in the source, end in the source), which cover all lines.
        containers: the lists' items and quotes around it, outermost first.
    """

    lines: Sequence[str]
    runs: Sequence[tuple[int, int, int, int]]
    containers: Sequence[Container]


@dataclass(slots=True, eq=False)
class Container:
    """A list item (`mark` like `- ` or `12. `) or a quote (`> `)."""

    mark: str
    used: bool = False
    """Whether a block of it was written: a list item has its mark once, a quote on each line."""

    @property
    def is_quote(self) -> bool:
        return self.mark == "> "


@dataclass(slots=True)
class _List:
    """A list while its items are walked; `number` is None for one without numbers."""

    number: int | None = None
    step: int = 1


@dataclass(slots=True)
class Walk:
    """Walks a part of a page and yields its blocks. Iterative: pages may nest as deep as they like."""

    source: Source
    whole: bool
    """Whether furniture is kept too."""
    arranging: Set[int]
    """Identities of tables and lists that arrange sections and hold no data or items of their own."""
    _inline: Inline = field(init=False)
    _heading: int = 0
    _containers: list[Container] = field(default_factory=list[Container])
    _lists: list[_List] = field(default_factory=list[_List])

    def blocks(self, root: Node) -> Iterator[Block]:
        """The blocks below `root`."""
        self._inline = Inline(self.source)
        # (node, whether a section is around it); a tuple of what to undo stands behind an element's children.
        stack: list[tuple[object, bool]] = [(root, begins_section(root))]
        while stack:
            node, sectioned = stack.pop()
            if isinstance(node, Text):
                self._inline.add_text(node)
            elif isinstance(node, _Leave):
                yield from self._flush()
                self._heading = 0
                del self._containers[node.containers :]
                del self._lists[node.lists :]
            elif isinstance(node, Node):
                yield from self._enter(node, sectioned, stack, root)
        yield from self._flush()

    def _enter(
        self, node: Node, sectioned: bool, stack: list[tuple[object, bool]], root: Node
    ) -> Iterator[Block]:
        name = node.name
        if isinstance(node, Element) and node is not root:
            if name == "svg" and (attribute(node, "aria-hidden") or "") != "true":
                self._inline.add_element(node)
                return
            if not is_shown(node) or (not self.whole and is_furniture(node, sectioned=sectioned)):
                return
            if name not in BLOCKS:
                if (self._heading and _is_anchor(node)) or self._inline.add_element(node):
                    return
                stack += [(child, sectioned) for child in reversed(node.children)]
                return
        if name in BLOCKS:
            yield from self._flush()
        if isinstance(node, Element):
            if name in ("pre", "listing", "xmp", "plaintext") and not self._heading:
                yield from self._code(node)
                return
            if name == "table" and id(node) not in self.arranging and is_data(node):
                found = read_table(node, self.source)
                yield from self._caption(node)
                if found is not None:
                    yield self._table(found)
                return
        if name in BLOCKS:
            stack.append((_Leave(len(self._containers), len(self._lists)), sectioned))
            self._open(node)
        inner = sectioned or begins_section(node)
        stack += [(child, inner) for child in reversed(node.children or ())]

    def _open(self, node: Node) -> None:
        name = node.name
        if name in HEADINGS:
            self._heading = HEADINGS[name]
        elif name in ("ul", "ol", "menu", "dir", "dl") and id(node) not in self.arranging:
            self._lists.append(_numbering(node) if name == "ol" else _List())
        elif name in ("li", "dt") and self._lists and len(self._containers) < DEEPEST:
            self._containers.append(Container(_mark(self._lists[-1], node)))
        elif name == "dd" and self._lists and len(self._containers) < DEEPEST:
            # Belongs to the term before it: the same item, a block more.
            self._containers.append(Container("- ", used=True))
        elif name == "blockquote" and len(self._containers) < DEEPEST:
            self._containers.append(Container("> "))

    def _flush(self) -> Iterator[Block]:
        inline, self._inline = self._inline, Inline(self.source)
        if self._heading:
            line = inline.line()
            lines = [f"{'#' * self._heading} {_closed(line)}"] if line else []
        else:
            lines = inline.lines()
        if lines:
            start, end = inline.start or 0, inline.end or 0
            yield Block(lines, [(0, len(lines), start, end)], tuple(self._containers))

    def _code(self, node: Element) -> Iterator[Block]:
        words: list[str] = []
        ranges: list[tuple[int, int]] = []
        stack: list[object] = list(reversed(node.children))
        language = _language(node)
        while stack:
            child = stack.pop()
            if isinstance(child, Text):
                words.append(self.source.restored(child.data or ""))
                if words[-1].strip():
                    ranges.append(self.source.range_of(child))
            elif isinstance(child, Element) and is_shown(child):
                if child.name == "br":
                    words.append("\n")
                language = language or (_language(child) if child.name == "code" else "")
                stack += reversed(child.children)
        code = "".join(words)
        while code.startswith("\n"):
            code = code[1:]
        code = code.rstrip()
        if code.strip():
            lines = code_block(code, language)
            start, end = min(a for a, _ in ranges), max(b for _, b in ranges)
            yield Block(lines, [(0, len(lines), start, end)], tuple(self._containers))

    def _caption(self, node: Element) -> Iterator[Block]:
        for child in node.children:
            if isinstance(child, Element) and child.name == "caption" and is_shown(child):
                for text in texts(child):
                    self._inline.add_text(text)
                yield from self._flush()

    def _table(self, found: Table) -> Block:
        lines = table([row.cells for row in found.rows], header=found.header)
        # The header's lines (names and delimiters, or the empty ones) belong to the first row.
        extra = len(lines) - len(found.rows)
        runs = [
            (0 if number == 0 else number + extra, number + extra + 1, row.start, row.end)
            for number, row in enumerate(found.rows)
        ]
        if found.header:
            runs[0] = (0, 2, found.rows[0].start, found.rows[0].end)
        return Block(lines, runs, tuple(self._containers))


@dataclass(frozen=True, slots=True)
class _Leave:
    """The end of a block element: how many containers and lists were open when it began."""

    containers: int
    lists: int


def arranging(root: Node) -> frozenset[int]:
    """Tables and lists that hold headings or, tables, other tables: arrangements of sections (by identity)."""
    found: set[int] = set()
    # Each node with the nearest table or list around it; marks spread outward until one is marked already.
    outer: dict[int, int | None] = {}
    stack: list[tuple[Node, int | None]] = [(root, None)]
    while stack:
        node, around = stack.pop()
        if node.name in HEADINGS or node.name == "table":
            at = around
            while at is not None and at not in found:
                found.add(at)
                at = outer[at]
        if node.name in ("table", "ul", "ol", "menu", "dl"):
            outer[id(node)] = around
            around = id(node)
        stack += [(child, around) for child in node.children or () if isinstance(child, Element)]
    return frozenset(found)


def _numbering(node: Node) -> _List:
    def number(name: str, default: int) -> int:
        value = (attribute(node, name) or "").strip()
        return int(value) if value.isascii() and value.isdigit() and len(value) < 8 else default

    if attribute(node, "reversed") is not None:
        items = sum(isinstance(child, Element) and child.name == "li" for child in node.children or ())
        return _List(number("start", items), -1)
    return _List(number("start", 1))


def _mark(around: _List, node: Node) -> str:
    if around.number is None:
        return "- "
    value = (attribute(node, "value") or "").strip()
    if value.isascii() and value.isdigit() and len(value) < 8:
        around.number = int(value)
    mark = f"{max(0, around.number)}. "
    around.number += around.step
    return mark


def _closed(title: str) -> str:
    """A heading's words: a run of `#` at their end would be taken for its closing."""
    bare = title.rstrip("#")
    return title if bare == title or not bare.endswith(" ") else f"{bare}\\{title[len(bare) :]}"


def _is_anchor(node: Element) -> bool:
    """A link of a heading to itself, which shows a sign."""
    return node.name == "a" and "".join(text.data or "" for text in texts(node)).strip() in _ANCHOR_MARKS


def _language(node: Element) -> str:
    found = _LANGUAGE.search(attribute(node, "class") or "")
    return "" if found is None else found[1]
