"""The extractor of PDF documents."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.language import guess_language
from linkrag_dagster.extraction.ocr import OcrSettings, components
from linkrag_dagster.extraction.pdf.aligned import aligned_tables, continuing_table
from linkrag_dagster.extraction.pdf.blocks import Block, Placed, TextLine, blocks_of, is_mono, placeholder
from linkrag_dagster.extraction.pdf.captions import is_caption_of_table, with_captions
from linkrag_dagster.extraction.pdf.columns import reading_order
from linkrag_dagster.extraction.pdf.continued_tables import PageBlocks, joined_tables, table_at_foot
from linkrag_dagster.extraction.pdf.drawings import figures_of
from linkrag_dagster.extraction.pdf.figures import find_images
from linkrag_dagster.extraction.pdf.floats import reading_order_around
from linkrag_dagster.extraction.pdf.flow import flow
from linkrag_dagster.extraction.pdf.furniture import furniture
from linkrag_dagster.extraction.pdf.headings import mark_headings
from linkrag_dagster.extraction.pdf.hyphens import Vocabulary
from linkrag_dagster.extraction.pdf.library import pymupdf
from linkrag_dagster.extraction.pdf.pages import PageRead, left_out, read_pages, warnings, why_no_text
from linkrag_dagster.extraction.pdf.place_contract import check_places
from linkrag_dagster.extraction.pdf.rows import Row, row, rows_of
from linkrag_dagster.extraction.pdf.ruled import ruled_tables, without
from linkrag_dagster.extraction.pdf.side_by_side import apart
from linkrag_dagster.extraction.pdf.table import Table
from linkrag_dagster.extraction.pdf.words import PageText, Segment, segment, union
from linkrag_dagster.extraction.pdf.writing import Writer
from linkrag_dagster.extraction.records import Extraction

_UNTITLED = re.compile(
    r"untitled|(?:microsoft \w+ - )?.*\.\w{2,4}|document\d*|title|slide \d+", re.IGNORECASE
)
_FEW_OUTSIDE = 0.1
"""Share of a document's characters outside its tables, below which these tell the size of the text."""
_NOTE = re.compile(r"(?:\d{1,3}|[*†‡§¶]|\(\d{1,3}\)|\[\d{1,3}\])\s*\S")


@dataclass(frozen=True, slots=True)
class PdfExtractor:
    """Reads the words of each page with their places, and writes columns, headings, tables and lists as Markdown."""

    name: str = "pdf"
    version: str = "4"
    media_types: tuple[str, ...] = ("application/pdf",)

    def libraries(self) -> Mapping[str, str]:
        """Versions on which the text depends."""
        return {"pymupdf": version("pymupdf")}

    def recognition(self) -> Mapping[str, str]:
        """Versions on which the text of scans depends."""
        return components()

    def extract(
        self,
        data: bytes,
        *,
        name: str,
        options: Mapping[str, object],
        on_scan: Callable[[], None] | None = None,
    ) -> Extraction:
        """The document's text; locators name page and box (`#page=n&bbox=…`), pages are numbered from 1.

        `on_scan` is called after each page with pictures of text.

        Raises:
            ExtractionError: `empty` (no bytes), `encrypted` (asks for a password), `corrupt` (can't be read),
                `no_text` (pages without text, scans without the extra `ocr` among them), `contract` (a box that does
                not hold the glyphs of its characters, or holds more: a fault of this extractor).
            ValueError: on wrong options.
        """
        settings = OcrSettings.of(options)
        if not data:
            raise ExtractionError("empty", f"{name} has no bytes: write it, or delete it")
        document = _open(data, name)
        try:
            read = read_pages(document, settings, on_scan=on_scan)
            return self._written(document, name, settings, read)
        except ExtractionError:
            raise
        except (RuntimeError, ValueError, pymupdf().mupdf.FzErrorBase) as error:
            raise ExtractionError(
                "corrupt", f"{name} can't be read as PDF ({_reason(error)}): repair or print it anew"
            ) from error
        finally:
            document.close()

    def _written(
        self, document: Any, name: str, settings: OcrSettings, read: Sequence[PageRead]
    ) -> Extraction:
        pages = [page.text for page in read]
        if not any(page.segments for page in pages):
            raise ExtractionError("no_text", why_no_text(name, read, settings))
        removed = furniture(pages)
        blocks, removed, again = _blocks(document, pages, removed)
        writer = Writer(Vocabulary.of([line.text for block in blocks for line in block.lines]))
        for block in blocks:
            writer.write(block)
        text = writer.text()
        if not text.strip():
            raise ExtractionError(
                "no_text", f"{name} holds page numbers and running headers alone: exclude it"
            )
        check_places(name, text, writer.locators, pages)
        return Extraction(
            text=text,
            title=_title(document, blocks),
            language=guess_language(text),
            media_type="application/pdf",
            markup="markdown",
            extractor=self.name,
            extractor_version=self.version,
            encoding=None,
            locators=tuple(writer.locators),
            pages=tuple(
                replace(
                    page,
                    confidence=how.confidence,
                    reading=how.reading,
                    width=how.text.size[0],
                    height=how.text.size[1],
                )
                for page, how in zip(writer.pages(len(pages)), read, strict=True)
            ),
            left_out=tuple(left_out(read, removed, again)),
            warnings=tuple(warnings(read, settings)),
            needs_ocr=any(page.needed for page in read),
        )


def _open(data: bytes, name: str) -> Any:
    library = pymupdf()
    try:
        document = library.open(stream=data, filetype="pdf")
        if document.needs_pass:
            document.close()
            raise ExtractionError(
                "encrypted", f"{name} is encrypted and asks for a password: save it without, or exclude it"
            )
        if document.page_count:
            return document
        document.close()
    except (RuntimeError, ValueError, library.mupdf.FzErrorBase) as error:
        raise _not_opened(name, _reason(error)) from error
    raise _not_opened(name, "no pages")


def _not_opened(name: str, problem: str) -> ExtractionError:
    return ExtractionError("corrupt", f"{name} can't be opened as PDF ({problem}): repair or print it anew")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _blocks(
    document: Any, pages: Sequence[PageText], removed: Sequence[Sequence[Row]]
) -> tuple[list[Block], list[list[Row]], list[TextLine]]:
    """The document's blocks in reading order, what of the removed rows is in no table, and lines said again."""
    known = Vocabulary.of([row.text for page in pages for row in rows_of(page.segments)])
    kept: list[tuple[tuple[Segment, ...], list[Placed]]] = []
    outside: list[list[Row]] = []
    above: Table | None = None  # a ruled table with nothing below it, on the page before
    for page, rows in zip(pages, removed, strict=True):
        source = document[page.number - 1]
        gone = {id(s) for one in rows for s in one.segments}
        drawings: Sequence[Any] = source.get_cdrawings() if page.segments else ()
        tables = ruled_tables(source, drawings, page, known, above, gone)
        boxes = [table.box for table in tables]
        outside.append([row(left) for one in rows if (left := without(one.segments, tables))])
        segments = without([s for s in page.segments if id(s) not in gone], tables)
        above = tables[-1] if tables and _reach(segments, ()) <= tables[-1].box[3] else None
        placed = [_placed(t) for t in tables]
        figures = figures_of(source, drawings, page, segments, find_images(source, page), boxes)
        placed += [Placed(one.box, one.place, labels=one.labels) for one in figures]
        labels = {id(label) for one in figures for label in one.labels}
        segments = tuple(one for one in segments if id(one) not in labels)
        kept.append((segments, placed))
    body, mono_is_code = _body(kept, pages)
    made: list[PageBlocks] = []
    for page, (segments, placed) in zip(pages, kept, strict=True):
        foot = _reach(segments, placed)
        above = table_at_foot(made[-1]) if made else None
        segments, aligned, read = _without_aligned(segments, known, mono_is_code, above)
        placed += [_placed(table) for table in aligned]
        if placed:
            marks = [segment([placeholder(one, at, body)]) for at, one in enumerate(placed)]
            read = reading_order_around(segments, marks)
        notes: list[Block] = []
        found: list[list[Block]] = []
        for column in read:
            whole = [
                block
                for run in apart(column)
                for block in blocks_of(run, page.number, placed, body, mono_is_code=mono_is_code)
            ]
            text, below = _footnotes(whole, body)
            found.append(with_captions(text))
            notes += below
        made.append(PageBlocks(tuple(found), notes, page.height, foot, upright=page.turned == 0))
    columns, again = joined_tables(made, known)
    blocks = flow([column for column in columns if column], body)
    outline = [(entry[0], entry[1], entry[2]) for entry in document.get_toc()]
    mark_headings(blocks, body, outline)
    return blocks, outside, again


def _placed(table: Table) -> Placed:
    return Placed(table.box, union(row.place for row in table.rows), table)


def _reach(segments: Sequence[Segment], placed: Sequence[Placed]) -> float:
    """How far down words and tables reach."""
    return max([0.0, *(one.box[3] for one in segments), *(one.box[3] for one in placed if one.table)])


def _without_aligned(
    segments: tuple[Segment, ...], known: Vocabulary, mono_is_code: bool, above: Table | None
) -> tuple[tuple[Segment, ...], list[Table], list[list[Row]]]:
    """A page's segments without those of tables that have no rules, these tables, and the columns without them.

    Sought on the whole page, where columns of prose side by side look like one, and then in each of its columns; the
    rest of `above`, the table at the foot of the page before, may be a row or two.
    """

    def usable(one: Row) -> bool:
        return not (mono_is_code and is_mono(one)) and not is_caption_of_table(one)

    rows = rows_of(segments)
    found = aligned_tables(rows, known, prose=0, usable=usable)
    if above is not None and not above.ruled:
        below = min((table.box[1] for table in found), default=math.inf)
        rest = continuing_table([one for one in rows if one.box[3] <= below], above, known)
        found = found if rest is None else [rest, *found]
    segments = without(segments, found)
    columns = reading_order(segments)
    inside = [table for column in columns for table in aligned_tables(column, known, prose=1, usable=usable)]
    if inside:
        segments = without(segments, inside)
        columns = reading_order(segments)
    return segments, found + inside, columns


def _body(
    kept: Sequence[tuple[Sequence[Segment], Sequence[Placed]]], pages: Sequence[PageText]
) -> tuple[float, bool]:
    """The size of most of the text, and whether monospaced type means code: not where all is set in it.

    Before: the title of a document that is one table is no heading, since most of what stands outside is the title.
    After: the table's words tell the size where the others are few.
    """
    sizes: Counter[float] = Counter()
    mono = total = 0
    for segments, _ in kept:
        for one in segments:
            for word in one.words:
                total += len(word.text)
                if word.mono:
                    mono += len(word.text)
                sizes[round(word.size * 2) / 2] += len(word.text) * (1 if word.mono else 4)
    inside = [word for page in pages for one in page.segments for word in one.words]
    if total < _FEW_OUTSIDE * sum(len(word.text) for word in inside):
        sizes = Counter[float]()
        for word in inside:
            sizes[round(word.size * 2) / 2] += len(word.text)
    return (sizes.most_common(1)[0][0] if sizes else 10.0), mono * 2 <= total


def _footnotes(blocks: list[Block], body: float) -> tuple[list[Block], list[Block]]:
    """A column's blocks without the footnotes at its foot, and those."""
    at = len(blocks)
    while at and blocks[at - 1].kind in ("paragraph", "item") and blocks[at - 1].size <= 0.92 * body:
        at -= 1
    while at < len(blocks) and not _NOTE.match(blocks[at].text):
        at += 1
    if at == 0:
        return blocks, []
    for block in blocks[at:]:
        block.note = True
    return blocks[:at], blocks[at:]


def _title(document: Any, blocks: Sequence[Block]) -> str | None:
    declared = " ".join(_declared_title(document).split())
    if declared and not _UNTITLED.fullmatch(declared):
        return declared
    return next(
        (" ".join(block.text.split()) for block in blocks if block.kind == "heading" and block.level == 1),
        None,
    )


def _declared_title(document: Any) -> str:
    metadata: Mapping[str, Any] = document.metadata or {}
    return str(metadata.get("title") or "")


PDF_EXTRACTOR = PdfExtractor()
