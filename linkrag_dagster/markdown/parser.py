"""Markdown to elements: markdown-it says what a block is, the text itself where it stands (EL-01 to EL-06)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from markdown_it.utils import EnvType

from linkrag_dagster.markdown.block_state import BlockState
from linkrag_dagster.markdown.blocks import Block, BlockParser, Markdown, read_blocks
from linkrag_dagster.markdown.elements import Element, ProtectedRange
from linkrag_dagster.markdown.front_matter import front_matter_end
from linkrag_dagster.markdown.inline import images, inline_math, visible_text, without_stand_ins
from linkrag_dagster.markdown.lines import Lines

TRACKED_LEVELS = 5
"""Headings of level 1 to 5 lead the trail; to it, level 6 is ordinary content (CB-04)."""


class MarkdownError(Exception):
    """A text that cannot be parsed, and what to do about it. Other documents are not touched by it."""


def parse(text: str) -> list[Element]:
    """The elements of a Markdown text, in order, in linear time.

    Elements never overlap and what lies between two is white space only. Offsets are code points of `text` as
    it is, whatever its line breaks (LF, CR LF, CR), byte order mark, NULs or lone surrogates (EL-03, EL-04).

    Raises:
        MarkdownError: the caller's own stack leaves no room for nested blocks.
    """
    try:
        return list(_elements(text))
    except RecursionError as error:
        message = "blocks are nested too deeply for what is left of the stack: flatten lists and quotes"
        raise MarkdownError(message) from error


@cache
def _markdown() -> Markdown:
    md = Markdown("commonmark")
    md.enable("strikethrough")
    md.inline.ruler.before("escape", "math", inline_math)
    md.block = BlockParser()
    return md


class _Trail:
    """The headings above a place: (level, title, element index)."""

    def __init__(self) -> None:
        self._above: list[tuple[int, str, int]] = []
        self.titles: tuple[str, ...] = ()
        self.indexes: tuple[int, ...] = ()

    def enter(self, level: int, title: str, index: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The trail of a heading, ending with itself; a tracked one leads what follows."""
        if level > TRACKED_LEVELS:
            return (*self.titles, title), (*self.indexes, index)
        while self._above and self._above[-1][0] >= level:
            self._above.pop()
        self._above.append((level, title, index))
        self.titles = tuple([title for _, title, _ in self._above])
        self.indexes = tuple([index for _, _, index in self._above])
        return self.titles, self.indexes


def visible_words(source: str) -> str:
    """What a reader sees of a paragraph, on one line; links by references that stand elsewhere stay as written."""
    words = visible_text(source, _markdown(), {})
    return without_stand_ins(words, source) if "\ufffd" in words else words


def _elements(text: str) -> Iterator[Element]:
    lines = Lines(text)
    env: EnvType = {}
    md = _markdown()
    first = 0
    index = 0
    closed = front_matter_end(text)
    if closed is not None:
        first = bisect_right(lines.starts, closed)
        yield Element(0, "front_matter", None, lines.starts[0], lines.ends[first - 1], 1, first)
        index = 1
    # All blocks come first: an image or a title may refer to a definition that stands further down.
    state = BlockState(lines, md, env)
    blocks = list(read_blocks(state, first))
    trail = _Trail()
    images_seen = tables_seen = 0
    starts, ends, marks, shifts, source = lines.starts, lines.ends, lines.marks, state.tShift, lines.source
    for block in blocks:
        kind, first, last, level, content, inside = block
        start, end = starts[first], ends[last]
        if text[start].isspace() and not text[start:end].strip():
            continue  # spaces that Markdown doesn't count as blank, but a reader does
        title = element_id = None
        titles, indexes = trail.titles, trail.indexes
        if level is not None:
            title = visible_text(content, md, env)
            if "\ufffd" in title:
                title = without_stand_ins(title, text[start:end])
            titles, indexes = trail.enter(level, title, index)
        elif kind == "table":
            tables_seen += 1
            element_id = f"table_{tables_seen:03d}"
        elif kind == "paragraph" and source.startswith("![", marks[first] + shifts[first]):
            found = list(_images(lines, block, md, env))
            for start, end, first, last, alt in found:
                said = without_stand_ins(alt, text[start:end]) or None if alt and "\ufffd" in alt else alt
                images_seen += 1
                element_id = f"image_{images_seen:03d}"
                yield Element(
                    index,
                    "image",
                    None,
                    start,
                    end,
                    first + 1,
                    last + 1,
                    titles,
                    indexes,
                    None,
                    element_id,
                    said,
                )
                index += 1
            if found:
                continue
        protected = tuple(_protected(lines, block)) if inside else ()
        yield Element(
            index,
            kind,
            level,
            start,
            end,
            first + 1,
            last + 1,
            titles,
            indexes,
            title,
            element_id,
            None,
            protected,
        )
        index += 1


def _images(
    lines: Lines, block: Block, md: Markdown, env: EnvType
) -> Iterator[tuple[int, int, int, int, str | None]]:
    """Start, end, first line, last line and alternative text of each image of a paragraph of them."""
    first, last = block.first, block.last
    begin = lines.marks[first]
    source = lines.source[begin : lines.stops[last]]
    found = images(source, md, env)
    line = first
    behind = begin  # where the image before ended
    for image, after in zip(found, [*found[1:], None], strict=False):
        line += source.count("\n", behind - begin, image.start)
        head = line
        line += source.count("\n", image.start, image.end)
        # Alone on its lines, an image is a block like any other: with the blanks around it.
        opens = lines.marks[head] >= behind
        closes = after is None or begin + after.start > lines.stops[line]
        start = lines.starts[head] if opens else lines.place(head, begin + image.start)
        end = lines.ends[line] if closes else lines.place(line, begin + image.end)
        yield start, end, head, line, image.alt
        behind = begin + image.end


def _protected(lines: Lines, block: Block) -> Iterator[ProtectedRange]:
    for kind, start, end in block.protected:
        first = bisect_right(lines.marks, start, block.first, block.last + 1) - 1
        last = bisect_right(lines.marks, end, block.first, block.last + 1) - 1
        yield ProtectedRange(kind, lines.place(first, start), lines.place(last, end))
