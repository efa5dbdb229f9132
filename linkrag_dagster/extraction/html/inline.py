"""Words of a page within one block: white space collapsed, code, images, raised and lowered words as Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from justhtml import Element, Text

from linkrag_dagster.extraction.html.source import Source
from linkrag_dagster.extraction.html.visibility import Node, attribute, is_shown, texts
from linkrag_dagster.extraction.markup import code_span, escape_line, escape_words, image

CODE = frozenset(("code", "kbd", "samp", "tt"))
_WHITE = re.compile(r"[ \t\n\r\f]+")
_RAISED_AT_MOST = 16
"""Code points of a superscript or subscript that stays one; what is longer is a sentence in small type."""


@dataclass(slots=True)
class Inline:
    """The inline content of a block while it is collected.

    Attributes:
        start: first code point in the source that the content comes from; None when nothing came yet.
        end: one past the last.
    """

    source: Source
    start: int | None = None
    end: int | None = None
    # Words are escaped together when all are known; finished Markdown (code, images) stands between them.
    _pieces: list[tuple[bool, str]] = field(default_factory=list[tuple[bool, str]])

    def add_text(self, node: Text) -> None:
        """Words as they stand between tags."""
        data = self.source.restored(node.data or "")
        if data.strip():
            self._seen(*self.source.range_of(node))
        self.add_words(data)

    def add_words(self, words: str) -> None:
        if self._pieces and not self._pieces[-1][0]:
            words = self._pieces.pop()[1] + words if len(self._pieces[-1][1]) < 256 else words
        self._pieces.append((False, words))

    def add_break(self) -> None:
        """A line break that the page asks for."""
        self._pieces.append((True, "\n"))

    def add_element(self, node: Element) -> bool:
        """Takes an element whose content isn't mere words; whether it did. Otherwise its children are to be added."""
        if node.name == "br":
            self.add_break()
        elif node.name == "wbr":
            pass
        elif node.name == "img":
            self._add_image(node, attribute(node, "alt") or attribute(node, "title") or "")
        elif node.name == "svg":
            label = attribute(node, "aria-label") or _svg_title(node)
            if label:
                self._add_image(node, label)
        elif node.name == "math":
            self._add_formula(node)
        elif node.name in CODE:
            words = self._words_below(node)
            if words:
                self._pieces.append((True, code_span(words)))
        elif node.name in ("sup", "sub"):
            return self._add_raised(node)
        elif node.name == "q":
            self.add_words("“")
            for text in texts(node):
                self.add_text(text)
            self.add_words("”")
        else:
            return False
        return True

    def lines(self) -> list[str]:
        """The content as lines of a Markdown paragraph; none when it is white space only."""
        rows: list[str] = []
        for row in "".join(self._markdown()).split("\n"):
            line = row.strip()
            if line:
                rows.append(escape_line(line))
        return rows

    def line(self) -> str:
        """The content in one line, for a heading or a cell."""
        return _WHITE.sub(" ", "".join(self._markdown())).strip()

    def _markdown(self) -> list[str]:
        made: list[str] = []
        run: list[str] = []
        for finished, piece in [*self._pieces, (True, "")]:
            if not finished:
                run.append(piece)
                continue
            if run:
                words = _WHITE.sub(" ", "".join(run))
                if words.startswith(" ") and made and made[-1].endswith(" "):
                    words = words[1:]
                made.append(escape_words(words))
                run = []
            if piece:
                made.append(piece)
        return made

    def _seen(self, start: int, end: int) -> None:
        self.start = start if self.start is None else min(self.start, start)
        self.end = end if self.end is None else max(self.end, end)

    def _words_below(self, node: Element) -> str:
        words: list[str] = []
        for text in texts(node):
            data = self.source.restored(text.data or "")
            if data.strip():
                self._seen(*self.source.range_of(text))
            words.append(data)
        return _WHITE.sub(" ", "".join(words)).strip(" ")

    def _add_image(self, node: Element, alt: str) -> None:
        """An image that says what it shows. One without words is decoration, unless it is a figure's."""
        target = attribute(node, "src") or ""
        if not alt.strip() and not (_in_figure(node) and target):
            return
        self._seen(*self.source.tag_of(node))
        self._pieces.append((True, image(self.source.restored(alt), self.source.restored(target).strip())))

    def _add_formula(self, node: Element) -> None:
        """MathML: its TeX where it carries it, else its words."""
        tex = _annotation(node)
        if tex is None:
            words = self._words_below(node)
            self.add_words(f" {words} " if words else "")
            return
        self._seen(*self.source.tag_of(node))
        self._pieces.append((True, f"${_WHITE.sub(' ', self.source.restored(tex)).strip()}$"))

    def _add_raised(self, node: Element) -> bool:
        words = "".join(text.data or "" for text in texts(node)).strip()
        if not words or len(words) > _RAISED_AT_MOST or _has_link(node):
            return False
        words = self._words_below(node)
        self._pieces.append((True, f"<{node.name}>{escape_words(words)}</{node.name}>"))
        return True


def _below(node: Node, name: str) -> Element | None:
    """The first element of that name below a node."""
    stack: list[object] = list(reversed(node.children or ()))
    while stack:
        child = stack.pop()
        if isinstance(child, Element):
            if child.name == name:
                return child
            stack += reversed(child.children)
    return None


def _svg_title(node: Element) -> str:
    title = next((c for c in node.children if isinstance(c, Element) and c.name == "title"), None)
    return "" if title is None else " ".join((t.data or "") for t in title.children if isinstance(t, Text))


def _annotation(node: Element) -> str | None:
    found = _below(node, "annotation")
    if found is None or "tex" not in (attribute(found, "encoding") or "").lower():
        return None
    return "".join(t.data or "" for t in found.children if isinstance(t, Text)) or None


def _has_link(node: Element) -> bool:
    return _below(node, "a") is not None or (isinstance(node.parent, Element) and node.parent.name == "a")


def _in_figure(node: Element) -> bool:
    parent = node.parent
    for _ in range(4):  # picture, link and wrapper stand between at most
        if parent is None:
            return False
        if parent.name == "figure":
            return True
        parent = parent.parent
    return False


def flat(node: Node, source: Source) -> Inline:
    """All that is shown below an element, in one run: the content of a cell."""
    inline = Inline(source)
    stack: list[object] = list(reversed(node.children or ()))
    while stack:
        child = stack.pop()
        if isinstance(child, str):
            inline.add_words(child)
        elif isinstance(child, Text):
            inline.add_text(child)
        elif (
            isinstance(child, Element)
            and (child.name == "svg" or is_shown(child))
            and not inline.add_element(child)
        ):
            if child.name in BLOCKS:
                inline.add_words(" ")
                stack.append(" ")
            stack += reversed(child.children)
    return inline


_BLOCKS = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p plaintext pre search
section summary table tbody td tfoot th thead tr ul xmp
"""
BLOCKS = frozenset(_BLOCKS.split())
"""Elements that begin and end a block (HTML Standard, section 15.3); all others stand in a line."""
