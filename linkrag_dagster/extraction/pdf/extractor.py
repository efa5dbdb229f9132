"""The extractor of PDF documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.language import guess_language
from linkrag_dagster.extraction.ocr import OcrSettings, components
from linkrag_dagster.extraction.pdf.aligned import aligned_tables
from linkrag_dagster.extraction.pdf.blocks import CAPTION, Block, Placed, blocks_of, is_mono, placeholder
from linkrag_dagster.extraction.pdf.columns import reading_order
from linkrag_dagster.extraction.pdf.figures import find_images
from linkrag_dagster.extraction.pdf.flow import flow
from linkrag_dagster.extraction.pdf.furniture import furniture
from linkrag_dagster.extraction.pdf.headings import mark_headings
from linkrag_dagster.extraction.pdf.hyphens import Vocabulary
from linkrag_dagster.extraction.pdf.library import pymupdf
from linkrag_dagster.extraction.pdf.pages import left_out, read_pages, warnings, why_no_text
from linkrag_dagster.extraction.pdf.rows import Row, rows_of
from linkrag_dagster.extraction.pdf.ruled import ruled_tables, without
from linkrag_dagster.extraction.pdf.table import Table
from linkrag_dagster.extraction.pdf.words import PageText, Segment, segment, union
from linkrag_dagster.extraction.pdf.writing import Writer
from linkrag_dagster.extraction.records import Extraction

_UNTITLED = re.compile(
    r"untitled|(?:microsoft \w+ - )?.*\.\w{2,4}|document\d*|title|slide \d+", re.IGNORECASE
)
_NOTE = re.compile(r"(?:\d{1,3}|[*†‡§¶]|\(\d{1,3}\)|\[\d{1,3}\])\s*\S")


@dataclass(frozen=True, slots=True)
class PdfExtractor:
    """Reads the words of each page with their places, and writes columns, headings, tables and lists as Markdown."""

    name: str = "pdf"
    version: str = "3"
    media_types: tuple[str, ...] = ("application/pdf",)

    def libraries(self) -> Mapping[str, str]:
        """Versions on which the text depends."""
        return {"pymupdf": version("pymupdf")}

    def recognition(self) -> Mapping[str, str]:
        """Versions on which the text of scans depends."""
        return components()

    def extract(self, data: bytes, *, name: str, options: Mapping[str, object]) -> Extraction:
        """The document's text; locators name page and box (`#page=n&bbox=…`), pages are numbered from 1.

        Raises:
            ExtractionError: `empty` (no bytes), `encrypted` (asks for a password), `corrupt` (can't be read),
                `no_text` (pages without text, scans without the extra `ocr` among them).
            ValueError: on wrong options.
        """
        settings = OcrSettings.of(options)
        if not data:
            raise ExtractionError("empty", f"{name} has no bytes: write it, or delete it")
        document = _open(data, name)
        try:
            return self._read(document, name, settings)
        except ExtractionError:
            raise
        except (RuntimeError, ValueError, pymupdf().mupdf.FzErrorBase) as error:
            raise ExtractionError(
                "corrupt", f"{name} can't be read as PDF ({_reason(error)}): repair or print it anew"
            ) from error
        finally:
            document.close()

    def _read(self, document: Any, name: str, settings: OcrSettings) -> Extraction:
        read = read_pages(document, settings)
        pages = [page.text for page in read]
        if not any(page.segments for page in pages):
            raise ExtractionError("no_text", why_no_text(name, read, settings))
        removed = furniture(pages)
        blocks = _blocks(document, pages, removed)
        writer = Writer(Vocabulary.of([line.text for block in blocks for line in block.lines]))
        for block in blocks:
            writer.write(block)
        text = writer.text()
        if not text.strip():
            raise ExtractionError(
                "no_text", f"{name} holds page numbers and running headers alone: exclude it"
            )
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
                replace(page, confidence=how.confidence, reading=how.reading)
                for page, how in zip(writer.pages(len(pages)), read, strict=True)
            ),
            left_out=tuple(left_out(read, removed)),
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


def _blocks(document: Any, pages: Sequence[PageText], removed: Sequence[Sequence[Row]]) -> list[Block]:
    known = Vocabulary.of([row.text for page in pages for row in rows_of(page.segments)])
    kept: list[tuple[tuple[Segment, ...], list[Placed]]] = []
    for page, rows in zip(pages, removed, strict=True):
        source = document[page.number - 1]
        tables = ruled_tables(source, page, known)
        gone = {id(s) for row in rows for s in row.segments}
        segments = without([s for s in page.segments if id(s) not in gone], [t.box for t in tables])
        placed = [_placed(t) for t in tables]
        placed += [Placed((), i.box, i.place) for i in find_images(source, page)]
        kept.append((segments, placed))
    body, mono_is_code = _body(kept)
    columns: list[list[Block]] = []
    for page, (segments, placed) in zip(pages, kept, strict=True):
        segments, aligned, read = _without_aligned(segments, known, mono_is_code)
        placed += [_placed(table) for table in aligned]
        if placed:
            marks = [segment([placeholder(one, at, body)]) for at, one in enumerate(placed)]
            read = reading_order([*segments, *marks])
        notes: list[Block] = []
        found: list[list[Block]] = []
        for column in read:
            made = list(blocks_of(column, page.number, placed, body, mono_is_code=mono_is_code))
            text, below = _footnotes(made, body)
            found.append(_captioned(text))
            notes += below
        columns += [*found, notes] if notes else found
    blocks = flow([column for column in columns if column], body)
    mark_headings(blocks, body, [(entry[0], entry[1], entry[2]) for entry in document.get_toc()])
    return blocks


def _placed(table: Table) -> Placed:
    return Placed(table.rows, table.box, union(row.place for row in table.rows))


def _without_aligned(
    segments: tuple[Segment, ...], known: Vocabulary, mono_is_code: bool
) -> tuple[tuple[Segment, ...], list[Table], list[list[Row]]]:
    """A page's segments without those of tables that have no rules, these tables, and the columns without them.

    Sought on the whole page, where columns of prose side by side look like one, and then in each of its columns.
    """

    def usable(row: Row) -> bool:
        return not (mono_is_code and is_mono(row))

    found = aligned_tables(rows_of(segments), known, prose=0, usable=usable)
    segments = without(segments, [table.box for table in found])
    columns = reading_order(segments)
    inside = [table for column in columns for table in aligned_tables(column, known, prose=1, usable=usable)]
    if inside:
        segments = without(segments, [table.box for table in inside])
        columns = reading_order(segments)
    return segments, found + inside, columns


def _body(kept: Sequence[tuple[Sequence[Segment], Sequence[Placed]]]) -> tuple[float, bool]:
    """The size of most of the text, and whether monospaced type means code: not where all is set in it."""
    sizes: Counter[float] = Counter()
    mono = total = 0
    for segments, _ in kept:
        for one in segments:
            for word in one.words:
                total += len(word.text)
                if word.mono:
                    mono += len(word.text)
                sizes[round(word.size * 2) / 2] += len(word.text) * (1 if word.mono else 4)
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


def _captioned(blocks: Sequence[Block]) -> list[Block]:
    """Images with the caption below or above them as their description."""
    made: list[Block] = []
    for block in blocks:
        before = made[-1] if made else None
        is_caption = block.kind in ("paragraph", "item") and CAPTION.match(block.text) is not None
        if is_caption and before is not None and before.kind == "image" and not before.text.strip():
            before.lines = block.lines
            before.size = block.size
        else:
            made.append(block)
    return made


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
