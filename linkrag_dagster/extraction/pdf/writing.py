"""Blocks of a PDF as canonical text, with page and box of each part (XT-02)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from linkrag_dagster.extraction.locators import Locator, page_locator
from linkrag_dagster.extraction.markup import code_block, escape_line, escape_words, image, table
from linkrag_dagster.extraction.pdf.blocks import PAGE_BREAK, Block, CellLines, TextLine
from linkrag_dagster.extraction.pdf.forms import TICKED
from linkrag_dagster.extraction.pdf.hyphens import Vocabulary, junction
from linkrag_dagster.extraction.pdf.marks import BULLET, TICK
from linkrag_dagster.extraction.pdf.right_to_left import is_right_to_left
from linkrag_dagster.extraction.pdf.words import union
from linkrag_dagster.extraction.records import Page

_MARK = re.compile(r"(\d{1,9}[.)])\s+")


@dataclass(slots=True)
class Writer:
    """Collects the text.

    Attributes:
        known: the document's words, for those that line ends broke.
        locators: one for each part of a block on one column of a page.
    """

    known: Vocabulary
    locators: list[Locator] = field(default_factory=list[Locator])
    _parts: list[str] = field(default_factory=list[str])
    _at: int = 0
    _before: str = ""

    def write(self, block: Block) -> None:
        """Appends a block.

        The first column of a table is the rightmost where its words run from the right to the left.
        """
        gap = "" if not self._parts else "\n" if block.kind == self._before == "item" else "\n\n"
        if block.kind == "table":
            step = -1 if is_right_to_left("".join(cell for row in block.cells for cell in row)) else 1
            lines = table([[escape_words(cell) for cell in row[::step]] for row in block.cells])
            held = [(0, lines[0] + "\n" + lines[1]), *enumerate(lines[2:], start=1)]
            self._put(gap)
            for at, line in held:
                self._put("\n" if at else "")
                if at in block.broken:
                    self._broken_row(line, *(cells[::step] for cells in block.broken[at]))
                else:
                    self._run(line, block.lines[at : at + 1])
        elif block.kind == "code":
            self._put(gap)
            self._code(block)
        elif block.kind == "image":
            self._put(gap)
            self._image(block)
        else:
            self._put(gap)
            self._paragraph(block)
        self._before = block.kind

    def text(self) -> str:
        return "".join(self._parts) + ("\n" if self._parts else "")

    def pages(self, count: int) -> tuple[Page, ...]:
        """Each page's range, from the first of its characters to the last; an empty one for a page without text.

        Of a row that a page's end broke, all belongs to the page on which it begins.
        """
        ranges: dict[int, tuple[int, int]] = {}
        for run in self.locators:
            number = int(run.locator.removeprefix("#page=").split("&")[0])
            start, end = ranges.get(number, (run.start_char, run.end_char))
            ranges[number] = min(start, run.start_char), max(end, run.end_char)
        found: list[Page] = []
        last = 0
        for number in range(1, count + 1):
            start, end = ranges.get(number, (last, last))
            start, end = max(start, last), max(end, last)
            found.append(Page(number, start, end))
            last = end
        return tuple(found)

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._at += len(text)

    def _run(self, text: str, lines: Sequence[TextLine]) -> None:
        place = union(line.place for line in lines)
        start = self._at
        self._put(text)
        sure = [line.confidence for line in lines if line.confidence is not None]
        confidence = sum(sure) / len(sure) if sure else None
        self.locators.append(Locator(start, self._at, page_locator(lines[0].page, place), confidence))

    def _broken_row(self, line: str, first: CellLines, rest: CellLines) -> None:
        """A row of which some cells go on on the next page: each part with the place of its words.

        The page's end stands in those cells alone that have words on both pages.
        """
        begin = 0
        for at, more in enumerate(rest):
            if more is None:
                continue
            before, line = line.split(PAGE_BREAK, 1)
            self._run(before, [one for one in first[begin : at + 1] if one is not None])
            end = line.index(" |") + 1
            self._run(line[:end], [more])
            line, begin = line[end:], at + 1
        left = [one for one in first[begin:] if one is not None]
        self._run(line, left or [one for one in first if one is not None])

    def _image(self, block: Block) -> None:
        """A figure: its caption and labels as its description, and its place as its address."""
        caption = " ".join(self._joined(part) for part in _parts(block)).strip()
        labels = "; ".join(label.text for label in block.labels)
        said = [line for line in (*block.lines, *block.labels) if line.text.strip()]
        words = " ".join(filter(None, (caption, labels)))
        self._run(image(words, page_locator(block.page, block.box)), said or block.lines)

    def _paragraph(self, block: Block) -> None:
        parts = _parts(block)
        texts = [self._joined(part) for part in parts]
        for at, (part, text) in enumerate(zip(parts, texts, strict=True)):
            if at + 1 < len(parts):
                dropped, between = junction(text, texts[at + 1], self.known)
                text = text[: len(text) - dropped]
            else:
                between = ""
            text = escape_words(text)
            if at == 0:
                text = _opened(block, text)
            self._run(text, part)
            self._put(between)

    def _code(self, block: Block) -> None:
        lines = code_block("\n".join(line.text for line in block.lines))
        parts = _parts(block)
        at = 1
        for number, part in enumerate(parts):
            # The fences belong to the first part and to the last.
            begin = 0 if number == 0 else at
            at += len(part)
            end = len(lines) if number + 1 == len(parts) else at
            self._put("\n" if number else "")
            self._run("\n".join(lines[begin:end]), part)

    def _joined(self, lines: Sequence[TextLine]) -> str:
        text = ""
        for line in lines:
            words = " ".join(line.text.split())
            if text and words:
                dropped, between = junction(text, words, self.known)
                text = text[: len(text) - dropped] + between + words
            else:
                text = text or words
        return text


def _parts(block: Block) -> list[list[TextLine]]:
    """Lines that share a locator: those of a column, and each recognised one by itself, for its confidence."""
    cuts = {0, *block.parts, len(block.lines)}
    for at, line in enumerate(block.lines):
        if line.confidence is not None:
            cuts |= {at, at + 1}
    return [block.lines[a:b] for a, b in pairwise(sorted(cuts))]


def _opened(block: Block, text: str) -> str:
    """The beginning of a block: the marks of a heading or an item, or none."""
    if block.kind == "heading":
        bare = text.rstrip("#")
        return "#" * block.level + " " + (text if bare == text or not bare.endswith(" ") else bare.rstrip())
    if block.kind == "item":
        tick = TICK.match(text)
        if tick is not None:
            return f"- [{'x' if tick[1] == TICKED else ' '}] {text[tick.end() :]}"
        bullet = BULLET.match(text.removeprefix("\\"))
        if bullet is not None:
            return "- " + text.removeprefix("\\")[bullet.end() :]
        if _MARK.match(text):
            return text
    return escape_line(text)
