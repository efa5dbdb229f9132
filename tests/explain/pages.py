"""Reads a page back: what it says of chunks, gaps and cuts, and the words that a reader's clipboard would get."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "line", "rect", "circle", "path", "br", "img", "link"}


@dataclass
class Part:
    """A marked place of the page.

    Attributes:
        attributes: of its tag.
        words: of the block's words in it, odd characters back in place.
    """

    attributes: dict[str, str]
    words: str = ""


@dataclass
class ReadPage(HTMLParser):
    """A page, read.

    Attributes:
        chunks, cuts, gaps: in their order.
        parts: of each chunk, by its anchor: header, before, core, after.
        tags: all names of tags.
        anchors, links: ids, and targets of links.
        attributes: names of all attributes.
    """

    chunks: list[Part] = field(default_factory=list[Part])
    cuts: list[Part] = field(default_factory=list[Part])
    gaps: list[Part] = field(default_factory=list[Part])
    parts: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    tags: set[str] = field(default_factory=set[str])
    anchors: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    attributes: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.attributes |= set(found)
        if "id" in found:
            self.anchors.append(found["id"])
        if tag == "a":
            self.links.append(found["href"])
        kinds = found.get("class", "").split()
        if "chunk" in kinds:
            self.chunks.append(Part(found))
            self.parts[found["id"]] = {}
        if "cut" in kinds:
            self.cuts.append(Part(found))
        if "gap" in kinds:
            self.gaps.append(Part(found))
        if tag not in VOID:
            self._open.append((tag, found))
        if "data-code" in found:
            self._words(chr(int(found["data-code"], 16)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open and self._open[-1][0] == tag, f"</{tag}> closes {self._open[-1:]}"
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not any("data-code" in found for _, found in self._open):
            self._words(data)

    def _words(self, data: str) -> None:
        classes = {c for _, found in self._open for c in found.get("class", "").split()}
        part = next((f["data-part"] for _, f in self._open if "data-part" in f), None)
        anchor = next((f["id"] for _, f in self._open if "chunk" in f.get("class", "").split()), None)
        if anchor is not None and part is not None and "words" in classes:
            held = self.parts[anchor]
            held[part] = held.get(part, "") + data
        if self.cuts and "cut" in classes:
            self.cuts[-1].words += data

    def closed(self) -> bool:
        """Whether every tag was closed."""
        return not self._open


def read_page(page: str) -> ReadPage:
    """The page, read to its end."""
    found = ReadPage()
    found.feed(page)
    found.close()
    return found
