"""The pages of a document, each read by the way that it needs, and what was not read of them (XT-05, XT-08)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from linkrag_dagster.extraction.locators import page_locator
from linkrag_dagster.extraction.ocr import EXTRA, OcrSettings, Recogniser, is_installed, recogniser
from linkrag_dagster.extraction.pdf.accents import Spellings
from linkrag_dagster.extraction.pdf.blocks import TextLine
from linkrag_dagster.extraction.pdf.page_reader import read_page
from linkrag_dagster.extraction.pdf.recognition import Picture, recognise
from linkrag_dagster.extraction.pdf.rows import Row
from linkrag_dagster.extraction.pdf.scans import unread
from linkrag_dagster.extraction.pdf.words import PageText, Segment, segment, union
from linkrag_dagster.extraction.records import LeftOut


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page and how it was read.

    Attributes:
        text: its words.
        reading, confidence: as `records.Page`.
        low, unreadable: segments that are not in `text`: recognised too badly; of characters that stand for nothing.
        needed: whether the page holds pictures of text, or what looked like them.
    """

    text: PageText
    reading: str = "text"
    confidence: float | None = None
    low: tuple[Segment, ...] = ()
    unreadable: tuple[Segment, ...] = ()
    needed: bool = False


def read_pages(
    document: Any,
    settings: OcrSettings,
    recognised_by: Recogniser | None = None,
    on_scan: Callable[[], None] | None = None,
) -> list[PageRead]:
    """Reads the pages of a document of PyMuPDF.

    Args:
        document: an open document.
        settings: whether and when characters are recognised.
        recognised_by: what recognises them, instead of the extra `ocr`.
        on_scan: called after each page with pictures of text.
    """
    known: dict[bytes, Picture] = {}
    pages: list[PageRead] = []
    for at in range(document.page_count):
        page = _read(document[at], at + 1, settings, recognised_by, known)
        pages.append(page)
        if on_scan is not None and page.needed:
            on_scan()
    if all(page.confidence is None for page in pages):
        return pages
    spellings = Spellings(one.text for page in pages for one in page.text.segments)
    return [page if page.confidence is None else _corrected(page, spellings) for page in pages]


def _corrected(page: PageRead, spellings: Spellings) -> PageRead:
    segments = tuple(
        segment(
            [
                word if word.confidence is None else replace(word, text=spellings.corrected(word.text))
                for word in one.words
            ]
        )
        for one in page.text.segments
    )
    return replace(page, text=replace(page.text, segments=segments))


def _read(
    page: Any,
    number: int,
    settings: OcrSettings,
    recognised_by: Recogniser | None,
    known: dict[bytes, Picture],
) -> PageRead:
    text = read_page(page, number)
    missing = unread(page, text)
    if missing is None:
        return PageRead(text)
    if not settings.enabled or (recognised_by is None and not is_installed()):
        # A picture within a page of text is a figure as long as nothing has read it; so are letters only suspected.
        return PageRead(text, "unread" if missing.whole and not missing.doubt else "text", needed=True)
    found = recognise(page, text, missing, recognised_by or recogniser(), settings, known)
    if found.confidence is None:
        return PageRead(found.text, unreadable=found.unreadable, needed=True)
    reading = "doubtful" if found.confidence < settings.mark_below else "recognised"
    if found.confidence < settings.leave_out_below:
        reading = "left_out"
    return PageRead(found.text, reading, found.confidence, found.left_out, found.unreadable, needed=True)


def left_out(
    pages: Sequence[PageRead], furniture: Sequence[Sequence[Row]], again: Sequence[TextLine]
) -> Iterator[LeftOut]:
    """All words of the document that are not in its text, page by page; `again` are lines that its pages repeat."""
    for page, rows in zip(pages, furniture, strict=True):
        number = page.text.number
        for row in rows:
            place = union(word.place for word in row.words)
            yield LeftOut(number, page_locator(number, place), row.text, "furniture")
        for line in again:
            if line.page == number:
                yield LeftOut(number, page_locator(number, line.place), line.text, "repeated")
        for word in page.text.aside:
            yield LeftOut(number, page_locator(number, word.place), word.text, "sideways")
        for reason, segments in (("low_confidence", page.low), ("unreadable", page.unreadable)):
            for one in segments:
                place = union(word.place for word in one.words)
                sure = one.words[0].confidence
                yield LeftOut(number, page_locator(number, place), one.text, reason, sure)


def warnings(pages: Sequence[PageRead], settings: OcrSettings) -> Iterator[str]:
    """What is missing from a document that has text, in words."""
    numbers = [page.text.number for page in pages if page.reading == "unread"]
    if numbers:
        yield f"{_named(numbers)} without text (scans?): {_remedy(settings)}"
    numbers = [page.text.number for page in pages if page.reading == "left_out"]
    if numbers:
        yield (
            f"{_named(numbers)} recognised with less confidence than extraction.ocr.leave_out_below "
            f"({settings.leave_out_below:g}) and left out: scan better, or lower it"
        )


def why_no_text(name: str, pages: Sequence[PageRead], settings: OcrSettings) -> str:
    """Why a document has no text at all, and what to do."""
    if any(page.reading == "unread" for page in pages):
        return f"{name} has no text on its {len(pages)} pages (a scan?): {_remedy(settings)}, or exclude it"
    sure = [page.confidence for page in pages if page.confidence is not None]
    if sure:
        return (
            f"{name} is a scan of {len(pages)} pages that was recognised with a confidence of {max(sure):.2f} at most, "
            f"below extraction.ocr.leave_out_below ({settings.leave_out_below:g}): scan it better, or lower that; "
            "scripts other than Latin, Chinese and Japanese are not recognised"
        )
    if any(page.text.aside for page in pages):
        return f"{name} has words that run askew or beside its lines alone, and they are left out: turn its pages"
    return f"{name} has no text on its {len(pages)} pages, and no picture of any: exclude it"


def _remedy(settings: OcrSettings) -> str:
    if not settings.enabled:
        return "set extraction.ocr.enabled to true"
    return f"install the extra that recognises characters, {EXTRA}"


def _named(numbers: Sequence[int]) -> str:
    """Numbers of pages in words: `page 3 is`, `pages 1, 4-6 are`."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ]
    words = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"page {words} is" if len(numbers) == 1 else f"pages {words} are"
