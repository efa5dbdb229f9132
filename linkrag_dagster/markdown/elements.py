"""The one record of structural fact: what a block of a document is, and where it stands."""

from __future__ import annotations

from linkrag_dagster.markdown.frozen import record

ELEMENT_KINDS = (
    "front_matter",
    "heading",
    "paragraph",
    "list",
    "blockquote",
    "code",
    "math",
    "table",
    "image",
    "html",
    "footnote",
    "definition",
    "rule",
)
"""Kinds of top-level blocks (EL-02)."""

PROTECTED_KINDS = frozenset({"code", "math", "image", "table"})
"""Kinds that no cut enters unless they alone exceed the hard maximum (CB-11, SD-02)."""


@record
class ProtectedRange:
    """A range that no cut may enter unless it alone exceeds the hard maximum (EL-06).

    Attributes:
        kind: what the range is (`code`, `table`, `math`, `image`, ...).
        start_char: first code point, in the coordinates of the record that holds the range.
        end_char: one past the last code point.
    """

    kind: str
    start_char: int
    end_char: int


@record
class Element:
    """A top-level block of a document (EL-03). `text[start_char:end_char]` is exactly its source.

    Attributes:
        element_index: position among the document's elements, from 0.
        kind: one of `ELEMENT_KINDS`.
        level: 1 to 6 for headings, else None.
        start_char: first code point of its first line, in the document's text.
        end_char: one past its last code point, before its last line break.
        start_line: first line, 1-based.
        end_line: last line, 1-based, inclusive.
        heading_trail: visible titles of the headings above it (tracked levels 1 to 5); a heading's own title ends it.
        trail_indexes: element indexes of those headings: equal titles at different places stay apart (CB-10).
        title: visible text of a heading, without marks; else None.
        element_id: `image_001`, `table_001`, in document order, for images and tables (EL-05); else None.
        description: real description of an image (alt text, or what an extractor saw) or summary of a table; None
            when there is none.
        protected: nested ranges inside a list, quote or HTML block, in document coordinates (EL-06).
    """

    element_index: int
    kind: str
    level: int | None
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    heading_trail: tuple[str, ...] = ()
    trail_indexes: tuple[int, ...] = ()
    title: str | None = None
    element_id: str | None = None
    description: str | None = None
    protected: tuple[ProtectedRange, ...] = ()
