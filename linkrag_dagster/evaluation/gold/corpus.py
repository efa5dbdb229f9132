"""The texts that needles are looked for in: a corpus's current documents, with their headings."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from linkrag_dagster.evaluation.gold.white_space import Collapsed, collapse, collapsed

MOST_PLACES = 1_000
"""Places of the same words that are looked for."""


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """A document as needles see it.

    Attributes:
        doc_id: its id.
        name: its source-relative path.
        version: the version that the text is of.
        text: its canonical text.
        headings: spans `(start_char, end_char)` of its heading elements, in order.
    """

    doc_id: str
    name: str
    version: str | None
    text: str
    headings: tuple[tuple[int, int], ...] = ()

    def heading_at(self, start: int, end: int) -> tuple[int, int] | None:
        """The heading that a span lies in, or is; of several in a row the last; None where it holds other text."""
        at = bisect_right(self.headings, start, key=lambda heading: heading[0]) - 1
        while at >= 0 and start < self.headings[at][1]:
            start = self.headings[at][1]
            if not self.text[start:end].strip():
                return self.headings[at]
            at += 1
            if at == len(self.headings) or self.text[start : self.headings[at][0]].strip():
                return None
            start = self.headings[at][0]
        return None


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where words stand.

    Attributes:
        doc_name: the document's source-relative path.
        start_char, end_char: the span in its canonical text.
        doc_id: the document.
    """

    doc_name: str
    start_char: int
    end_char: int
    doc_id: str

    def __str__(self) -> str:
        return f"{self.doc_name}:{self.start_char}..{self.end_char}"


class GoldCorpus:
    """Documents by name, each once; what is found in them does not hang on the order that they came in."""

    def __init__(self, documents: Iterable[CorpusDocument]) -> None:
        """Raises ValueError where a document comes twice: only one version of each is current."""
        self.documents: tuple[CorpusDocument, ...] = tuple(
            sorted(documents, key=lambda d: (d.name, d.doc_id))
        )
        self._by_id: dict[str, CorpusDocument] = {}
        self._by_name: dict[str, CorpusDocument] = {}
        for document in self.documents:
            if document.doc_id in self._by_id:
                raise ValueError(f"document {document.doc_id!r} comes twice: give its current version alone")
            self._by_id[document.doc_id] = document
            self._by_name[_name(document.name)] = document
        self._collapsed: dict[str, Collapsed] = {}

    @property
    def names(self) -> list[str]:
        """Source-relative paths, sorted."""
        return [document.name for document in self.documents]

    def document(self, doc: str) -> CorpusDocument | None:
        """The document of an id, or of a source-relative path."""
        return self._by_id.get(doc) or self._by_name.get(_name(doc))

    def places(self, words: str) -> list[Place]:
        """Where the words stand modulo white space, overlapping places too, by name and offset.

        Each span is the text's own: it begins and ends with a character of the words. Linear in the corpus; the first
        `MOST_PLACES` are enough to say that words are no needle.
        """
        wanted = collapsed(words)
        found: list[Place] = []
        for document in self.documents if wanted else ():
            text = self.collapsed(document)
            at = text.text.find(wanted)
            while at >= 0 and len(found) < MOST_PLACES:
                start, end = text.source_span(at, at + len(wanted))
                found.append(Place(document.name, start, end, document.doc_id))
                at = text.text.find(wanted, at + 1)
        return found

    def collapsed(self, document: CorpusDocument) -> Collapsed:
        """A document's text modulo white space, made once."""
        known = self._collapsed.get(document.doc_id)
        if known is None:
            known = self._collapsed[document.doc_id] = collapse(document.text)
        return known


def _name(path: str) -> str:
    """A path as it is compared: composed accents (some systems store them apart), no leading `./`."""
    return unicodedata.normalize("NFC", path.removeprefix("./"))


def corpus_from_tables(
    documents: pl.DataFrame, texts: pl.DataFrame, elements: pl.DataFrame
) -> list[CorpusDocument]:
    """The current documents of a lake that have text.

    Args:
        documents: `raw_documents` with `doc_key, doc_name, current`.
        texts: `extracted_text` with `doc_key, doc_id, version, text`.
        elements: `elements` with `doc_key, kind, start_char, end_char`.

    Returns:
        One record a document, by document key. A superseded version is left out: it answers no search.
    """
    headings: dict[str, list[tuple[int, int]]] = {}
    places = elements.filter(pl.col("kind") == "heading").sort("doc_key", "start_char")
    for key, start, end in places.select("doc_key", "start_char", "end_char").iter_rows():
        headings.setdefault(key, []).append((start, end))
    current = documents.filter(pl.col("current")).select("doc_key", "doc_name")
    rows = texts.join(current, on="doc_key").sort("doc_key")
    columns: Sequence[str] = ("doc_key", "doc_id", "doc_name", "version", "text")
    return [
        CorpusDocument(doc_id, name, version, text, tuple(headings.get(key, ())))
        for key, doc_id, name, version, text in rows.select(columns).iter_rows()
    ]
