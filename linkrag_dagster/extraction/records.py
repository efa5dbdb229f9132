"""What extraction yields: one text, where it came from, and how it was read (XT-02)."""

from __future__ import annotations

from dataclasses import dataclass

from linkrag_dagster.extraction.locators import Locator


@dataclass(frozen=True, slots=True)
class Page:
    """A page's range in the text; `confidence` (0 to 1) where characters were recognised, else None."""

    page: int
    start_char: int
    end_char: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """The canonical text of a document.

    Attributes:
        text: LF line breaks, no byte order mark, characters as found; never without text.
        title: the document's own title (front matter, else first heading of level 1); None when it has none.
        language: ISO 639-1 code; None when nothing declares or shows it.
        media_type: what the document was taken for.
        markup: `markdown` or `plain`: how the text is to be read. A `#` of a plain text is no heading.
        extractor: name of the extractor.
        extractor_version: its version; rises when the same bytes may give another text.
        encoding: Python codec of the bytes; None for binary formats.
        locators: ordered, not overlapping; every non-white character of the text belongs to one.
        pages: pages of paged formats, else empty.
    """

    text: str
    title: str | None
    language: str | None
    media_type: str
    markup: str
    extractor: str
    extractor_version: str
    encoding: str | None
    locators: tuple[Locator, ...]
    pages: tuple[Page, ...] = ()
