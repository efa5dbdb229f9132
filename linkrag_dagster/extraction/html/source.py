"""The characters of a page as its parser sees them, and where each node stands among them."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from justhtml import Element, JustHTML, Text

from linkrag_dagster.extraction.html.visibility import Node

_LONE = re.compile(r"<(?![A-Za-z/!?])")
# Noncharacters: no text holds them, one that does leaves another free.
_STAND_INS = tuple(map(chr, range(0xFDD0, 0xFDF0)))
_XHTML = re.compile(r"\A\ufeff?\s*(?:<\?xml\b|<!DOCTYPE\s[^>]*XHTML)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"<\?[^<>]*>")
_TAG = re.compile("<[^<>]*>")
_FARTHEST = 128
"""Tags and texts among which the rest of a text is sought: so the time stays linear, whatever the page."""
_NUL: dict[int, None] = {0: None, 0xFFFD: None}
_EMPTY = re.compile(
    r"<(?:a|b|div|em|i|iframe|li|noscript|p|script|span|strong|style|textarea|title)(?:\s[^<>]*)?/>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed page.

    Attributes:
        text: the page's characters, as many as it has; positions in it are positions in the page.
        root: the document node of the HTML Standard's tree.
        stand_in: what stands in `text` and in the tree for `<` that opens no tag; empty where there is none.
    """

    text: str
    root: Node
    stand_in: str

    def restored(self, words: str) -> str:
        """Words of the tree, with `<` where the page has it, without NUL."""
        return words.replace(self.stand_in, "<") if self.stand_in else words

    def range_of(self, node: Text) -> tuple[int, int]:
        """Where a text stands, from its first character that is not white space to its last.

        The parser makes one text of several between which it ignores a tag, or from which it moves a table away, and
        tells where the first stood: the others are sought behind the tags that follow.
        """
        at = origin = node.origin_offset
        if at is None or origin is None:
            return 0, 0
        wanted = _bare(node.data or "")
        place: tuple[int, int] | None = None
        found = 0
        for number in range(_FARTHEST):
            stop = self.text.find("<", at + 1)
            stop = len(self.text) if stop < 0 else stop
            raw = self.text[at:stop]
            # What begins with `<` is a tag, unless the parser took it for words; in some elements `&amp;` is words too.
            read = [
                words for words in (_bare(raw), _bare(html.unescape(raw))) if wanted.startswith(words, found)
            ]
            if number == 0 and raw.strip() and not any(read):
                return self._trimmed(at, stop)
            if any(read):
                found += len(max(read, key=len))
                start, end = self._trimmed(at, stop)
                place = (start if place is None else place[0]), end
            elif tag := _TAG.match(self.text, at):
                stop = tag.end()
            if found == len(wanted) or stop == len(self.text):
                break
            at = stop
        return place or self._trimmed(origin, at)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """A range without the white space around its characters."""
        raw = self.text[start:end]
        kept = raw.strip()
        first = start + len(raw) - len(raw.lstrip()) if kept else start
        return first, first + len(kept)

    def tag_of(self, node: Element) -> tuple[int, int]:
        """Where an element's opening tag stands."""
        start = node.origin_offset
        if start is None:
            return 0, 0
        end = self.text.find(">", start)
        return start, len(self.text) if end < 0 else end + 1


def _bare(words: str) -> str:
    """Words without what the parser may leave out: white space, and NUL, whatever stands for it."""
    return "".join(words.translate(_NUL).split())


def parse_page(text: str) -> Source:
    """The tree of a page, as browsers build it: never an error, whatever is unclosed or misplaced."""
    is_xhtml = _XHTML.match(text) is not None
    if "<?" in text:
        # Of no meaning in HTML, but the parser takes some for words.
        text = _INSTRUCTION.sub(lambda tag: " " * len(tag[0]), text)
    if is_xhtml:
        # An HTML parser takes `<script/>` for an opening tag, and all that follows for a script.
        text = _EMPTY.sub(lambda tag: " " * len(tag[0]), text)
    stand_in = ""
    if _LONE.search(text):
        # The parser takes each `<` that opens no tag as a text of its own, in quadratic time.
        stand_in = next((char for char in _STAND_INS if char not in text), "")
        text = _LONE.sub(stand_in, text) if stand_in else text
    page = JustHTML(text, sanitize=False, track_node_locations=True)
    return Source(text, page.root, stand_in)
