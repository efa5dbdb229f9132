"""Images and tables: how they stand in a source chunk, and the context of their derived chunks (CB-12 to CB-14)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.records import Span
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.markdown import visible_words
from linkrag_dagster.markdown.captions import table_captions
from linkrag_dagster.markdown.elements import Element

DERIVED_KINDS = frozenset({"image", "table"})
"""Kinds that also yield a derived chunk (CB-13)."""

_LINE = re.compile(r"[^\r\n]+")
_CELL_END = re.compile(r"(?<!\\)\|")
# A delimiter row, and what a quote puts before it.
_DELIMITER_MARKS = frozenset(" \t|:->")
_NO_CONTEXT = frozenset({"rule", "front_matter"})


def columns(table: str) -> int:
    """Most cells in any row of a GFM table's source; an escaped pipe ends no cell."""
    return _columns(_rows(table))


def _columns(rows: Sequence[str]) -> int:
    most = 0
    for row in rows:
        outer = row.startswith("|") + (len(row) > 1 and row.endswith("|") and not row.endswith("\\|"))
        ends = len(_CELL_END.findall(row)) if "\\" in row else row.count("|")
        most = max(most, ends + 1 - outer)
    return most


def is_small_table(table: str, tokens: int, settings: ChunkSettings) -> bool:
    """Whether a table stays verbatim in its source chunk (CB-12).

    Args:
        table: its source.
        tokens: tokens of its source.
        settings: limits in tokens, non-empty lines (header and delimiter included) and columns.
    """
    if tokens > settings.verbatim_table_tokens:
        return False
    rows = _rows(table)
    return len(rows) <= settings.small_table_lines and _columns(rows) <= settings.small_table_columns


def _rows(table: str) -> list[str]:
    lines = _LINE.findall(table) if "\r" in table else table.split("\n")
    return [row for line in lines if (row := line.strip())]


def is_rendered(element: Element, source: str, tokens: int, settings: ChunkSettings) -> bool:
    """Whether a reference stands for the element in its source chunk: images and larger tables."""
    if element.kind == "table":
        return not is_small_table(source, tokens, settings)
    return element.kind == "image"


def header_rows(table: str) -> str:
    """A table's header and delimiter rows, without their last line break; "" for what has no delimiter row."""
    rows = list(islice(_LINE.finditer(table), 2))
    if len(rows) < 2 or "-" not in rows[1].group() or not _DELIMITER_MARKS.issuperset(rows[1].group()):
        return ""
    return table[: rows[1].end()]


def reference(kind: str, element_id: str) -> str:
    """The stable line that stands for an image or a table: `[image: image_001]`."""
    return f"[{kind}: {element_id}]"


def rendering(element: Element, source: str) -> str:
    """Reference and description of an image, reference and summary of a table.

    A table without a summary shows its header row; its caption is a paragraph beside it. An image without a description
    shows the reference alone: that there is none is a fact of the row, never a text (EL-05).

    Raises:
        ValueError: the element has no id.
    """
    line = reference(element.kind, identifier(element))
    if element.description:
        return f"{line}\n{element.description}"
    if element.kind == "table":
        first = _LINE.search(source)
        return f"{line}\n{first.group().strip()}" if first else line
    return line


def identifier(element: Element) -> str:
    """An image's or table's id.

    Raises:
        ValueError: it has none.
    """
    if element.element_id is None:
        raise ValueError(
            f"element {element.element_index} ({element.kind}) has no element_id; "
            f"number images and tables in document order, as {element.kind}_001"
        )
    return element.element_id


class AdjacentContext:
    """The words beside an image or a table (CB-14): at most `adjacent_context_tokens` on each side.

    With `adjacent_context: section` the words never cross the section and headings are skipped, since the trail
    names them; with `physical` the nearest element counts, whatever its section. Front matter and rules never do, nor
    does a table's caption that is its description.

    Args:
        elements: all elements of the document.
        text: the document's text.
        measure: token counts of that text.
        settings: size and mode.
    """

    def __init__(
        self, elements: Sequence[Element], text: str, measure: Measure, settings: ChunkSettings
    ) -> None:
        self._elements = elements
        self._text = text
        self._measure = measure
        self._limit = settings.adjacent_context_tokens
        self._section = settings.adjacent_context == "section"
        self._captions = {
            table: caption
            for table, caption in table_captions(elements, text).items()
            if not elements[table].description
        }
        usable = [self._usable(e) for e in elements]
        self._before = _nearest_before(usable)
        last = len(elements) - 1
        self._after = [None if found is None else last - found for found in _nearest_before(usable[::-1])][
            ::-1
        ]

    def description(self, position: int) -> str | None:
        """What an image or a table is said to be: its own description, else the caption of a table (EL-05)."""
        element = self._elements[position]
        caption = self._captions.get(position)
        if caption is None:
            return element.description or None
        beside = self._elements[caption]
        return visible_words(self._text[beside.start_char : beside.end_char]) or None

    def around(self, position: int) -> tuple[Span | None, Span | None]:
        """Spans before and after the element at a position of the document's elements."""
        if self._limit == 0:
            return None, None
        before = self._neighbour(position, self._nearest(position, self._before))
        after = self._neighbour(position, self._nearest(position, self._after))
        return (
            None if before is None else self._last_words(before),
            None if after is None else self._first_words(after),
        )

    def _usable(self, element: Element) -> bool:
        return element.kind not in _NO_CONTEXT and not (self._section and element.kind == "heading")

    def _nearest(self, position: int, others: Sequence[int | None]) -> int | None:
        other = others[position]
        return others[other] if other is not None and self._captions.get(position) == other else other

    def _neighbour(self, position: int, other: int | None) -> Element | None:
        if other is None:
            return None
        here, there = self._elements[position], self._elements[other]
        apart = (here.trail_indexes, here.heading_trail) != (there.trail_indexes, there.heading_trail)
        return None if self._section and apart else there

    def _last_words(self, element: Element) -> Span | None:
        start = self._measure.suffix(self._text, element.start_char, element.end_char, self._limit)
        return _trimmed(self._text, start, element.end_char)

    def _first_words(self, element: Element) -> Span | None:
        end, inside_grapheme = self._measure.prefix(element.start_char, self._limit, element.end_char)
        return None if inside_grapheme else _trimmed(self._text, element.start_char, end)


def _nearest_before(usable: Sequence[bool]) -> list[int | None]:
    """For each position, the last usable one before it."""
    found: list[int | None] = []
    last: int | None = None
    for position, counts in enumerate(usable):
        found.append(last)
        if counts:
            last = position
    return found


def _trimmed(text: str, start: int, end: int) -> Span | None:
    words = text[start:end]
    first = start + len(words) - len(words.lstrip())
    last = start + len(words.rstrip())
    return Span(first, last) if first < last else None
