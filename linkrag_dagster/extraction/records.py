"""What extraction yields: one text, where it came from, and how it was read (XT-02)."""

from __future__ import annotations

from dataclasses import dataclass

from linkrag_dagster.extraction.locators import Locator


@dataclass(frozen=True, slots=True)
class Page:
    """A page's range in the text, and how its characters were read (XT-08).

    Attributes:
        page: its number, from 1.
        start_char, end_char: the range; empty for a page without text.
        confidence: mean over its recognised characters, 0 to 1; None where none were.
        reading: `text` (its characters are in the file), `recognised` (some or all are from pictures), `doubtful`
            (recognised, with a confidence below the declared one), `left_out` (recognised so badly that its words are
            in `Extraction.left_out`), `unread` (it needs recognition, and there was none).
        width, height: of the page as it is shown, in points: what the boxes of locators are measured in.
    """

    page: int
    start_char: int
    end_char: int
    confidence: float | None = None
    reading: str = "text"
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Words of the document that are not in its text.

    Attributes:
        page: the page they stand on.
        locator: their place, as `Locator.locator`.
        text: the words.
        reason: `furniture` (running headers and footers, page numbers), `repeated` (heads and captions of tables that
            go on on a further page), `sideways` (in another direction than the page's text, such as watermarks),
            `low_confidence` (recognised too badly), `unreadable` (characters that stand for nothing).
        confidence: where they were recognised, else None.
    """

    page: int
    locator: str
    text: str
    reason: str
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
        left_out: words of the document that are not in its text, in the order of its pages.
        warnings: what of the document is missing, and what to do about it; empty where nothing is.
        needs_ocr: whether its pages hold pictures of text, read or not: then it depends on the recogniser, too.
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
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
    needs_ocr: bool = False
