"""Images and tables: how they stand in the text, and the derived chunk that each yields (CB-12 to CB-14)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from linkrag_dagster.chunking.records import Span
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.tokens import TokenCounter

_DELIMITER = re.compile(r"[ \t>|:-]*-[ \t|:-]*")
_CELL_BREAK = re.compile(r"(?<!\\)\|")
DERIVED_KINDS = ("image", "table")
"""Elements that yield a derived chunk each (CB-13)."""

_SKIPPED = ("front_matter", "rule")


def columns(table: str) -> int:
    """Most cells in any row; an escaped pipe separates none."""
    return max((_cells(line) for line in table.splitlines() if line.strip()), default=0)


def _cells(line: str) -> int:
    row = line.strip()
    row = row[1:] if row.startswith("|") else row
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return len(_CELL_BREAK.findall(row)) + 1


def is_small_table(source: str, tokens: int, settings: ChunkSettings) -> bool:
    """Whether a table stays in the text as it is."""
    return (
        tokens <= min(settings.small_table_tokens, settings.max_tokens)
        and sum(1 for line in source.splitlines() if line.strip()) <= settings.small_table_lines
        and columns(source) <= settings.small_table_columns
    )


def is_rendered(element: Element, source: str, tokens: int, settings: ChunkSettings) -> bool:
    """Whether the text holds a reference in the element's place."""
    return element.kind == "image" or (
        element.kind == "table" and not is_small_table(source, tokens, settings)
    )


def reference(kind: str, element_id: str) -> str:
    """The stable name of an image or table in the text: `[image: image_001]`."""
    return f"[{kind}: {element_id}]"


def header_rows(table: str) -> str:
    """Header and delimiter row of a table's source, without the last line break; "" where it has no delimiter."""
    lines = table.splitlines()
    if len(lines) < 2 or not _DELIMITER.fullmatch(lines[1]):
        return ""
    return "\n".join(lines[:2])


def rendering(element: Element, source: str) -> str:
    """A reference, and what is known of its content: a description, or a table's header row.

    Where nothing is known, nothing is said: that there is no description is a fact of the row, not of the text.
    """
    known = element.description or (source.splitlines()[0].strip() if element.kind == "table" else "")
    name = reference(element.kind, element.element_id or "")
    return f"{name}\n{known}" if known else name


def adjacent_context(
    elements: Sequence[Element], index: int, counter: TokenCounter, settings: ChunkSettings
) -> tuple[Span | None, Span | None]:
    """The last tokens of the element before and the first of the one behind an image or table.

    In mode `section` headings end the search: behind them lies another section. In mode `physical` any neighbour
    counts, headings too.
    """
    limit = settings.adjacent_context_tokens
    if not limit:
        return None, None
    before = _neighbour(elements, range(index - 1, -1, -1), settings)
    after = _neighbour(elements, range(index + 1, len(elements)), settings)
    return (
        _tail(before, counter, limit) if before else None,
        _head(after, counter, limit) if after else None,
    )


def _neighbour(elements: Sequence[Element], order: range, settings: ChunkSettings) -> Element | None:
    for at in order:
        element = elements[at]
        if element.kind in _SKIPPED:
            continue
        if settings.adjacent_context == "section" and element.level is not None:
            if element.level <= 5:
                return None
            continue
        return element
    return None


def _head(element: Element, counter: TokenCounter, limit: int) -> Span:
    cut = counter.prefix(element.start_char, limit, element.end_char)
    return Span(element.start_char, _trimmed(counter.text, element.start_char, cut.position))


def _tail(element: Element, counter: TokenCounter, limit: int) -> Span:
    start, end = element.start_char, element.end_char
    if counter.count(start, end) <= limit:
        return Span(start, end)
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if counter.count(middle, end) <= limit:
            high = middle
        else:
            low = middle + 1
    # Begin at a word: behind white space, or behind punctuation where there is none.
    word = re.compile(r"(?<=[\s，。！？；：、])\S").search(counter.text, low, end)
    at = word.start() if word else low
    return Span(at, end)


def _trimmed(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
