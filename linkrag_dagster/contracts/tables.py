"""One contract a table: columns, types, nullability, descriptions, value checks (CO-01).

The pandera schema is the single source: Arrow and Parquet types, Dagster's table schema, DuckDB's comments and the
reference pages all read it. Every column that says where a row came from, and not what it holds, is marked
`provenance`: it stays out of `content_hash`, so that it alone never makes anything downstream stale (VE-03).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pandera.polars as pa
import polars as pl

SPANS = pl.List(pl.Struct({"start_char": pl.Int64, "end_char": pl.Int64}))
SPAN = pl.Struct({"start_char": pl.Int64, "end_char": pl.Int64})
RANGES = pl.List(pl.Struct({"kind": pl.String, "start_char": pl.Int64, "end_char": pl.Int64}))
VIEWS = pl.List(
    pl.Struct(
        {
            "element_index": pl.Int64,
            "kind": pl.String,
            "start": pl.Int64,
            "end": pl.Int64,
            "rendered": pl.Boolean,
        }
    )
)
TITLES = pl.List(pl.String)
TRAILS = pl.List(pl.List(pl.String))


@dataclass(frozen=True, slots=True)
class Contract:
    """A table's contract.

    Attributes:
        name: the table.
        description: what one row is.
        key: columns that identify a row.
        schema: the pandera schema.
        counted_in: the stage whose row count this table is, or None for the stage's further tables.
        stage: the stage that writes it.
    """

    name: str
    description: str
    key: tuple[str, ...]
    schema: pa.DataFrameSchema
    stage: str

    @property
    def polars(self) -> pl.Schema:
        """Column names and polars types, in order."""
        return pl.Schema({name: column.dtype.type for name, column in self.schema.columns.items()})

    @property
    def content_columns(self) -> list[str]:
        """Columns that `content_hash` covers."""
        return [n for n, c in self.schema.columns.items() if not (c.metadata or {}).get("provenance")]

    def empty(self) -> pl.DataFrame:
        """A frame of no rows with the table's columns."""
        return pl.DataFrame(schema=self.polars)


def _column(
    dtype: Any,
    description: str,
    *,
    null: bool = False,
    provenance: bool = False,
    checks: list[pa.Check] | None = None,
) -> pa.Column:
    return pa.Column(
        dtype, checks=checks, nullable=null, description=description, metadata={"provenance": provenance}
    )


def _text(
    description: str, *, null: bool = False, provenance: bool = False, among: tuple[str, ...] = ()
) -> pa.Column:
    checks = [pa.Check.isin(among)] if among else None
    return _column(pl.String, description, null=null, provenance=provenance, checks=checks)


def _count(description: str, *, null: bool = False, provenance: bool = False, least: int = 0) -> pa.Column:
    return _column(pl.Int64, description, null=null, provenance=provenance, checks=[pa.Check.ge(least)])


def _flag(description: str, *, null: bool = False, provenance: bool = False) -> pa.Column:
    return _column(pl.Boolean, description, null=null, provenance=provenance)


def _document() -> dict[str, pa.Column]:
    return {
        "doc_key": _text("the document: its id, and @version where a version is declared"),
        "doc_id": _text("the document's id: declared, or a hash of corpus and source-relative path"),
    }


def _declared_version() -> dict[str, pa.Column]:
    return {
        "version": _text(
            "the document's version: declared; filled in by the views where it is not", null=True
        )
    }


def _stamps() -> dict[str, pa.Column]:
    return {
        "fingerprint": _text(
            "hash of the stage's spec and of the content of the row's inputs", provenance=True
        ),
        "content_hash": _text("hash of what the row holds, provenance left out", provenance=True),
    }


def _place() -> dict[str, pa.Column]:
    return {
        "start_char": _count("first code point in the document's canonical text"),
        "end_char": _count("one past the last code point"),
        "start_line": _count("first line, 1-based", least=1),
        "end_line": _count("last line, inclusive", least=1),
    }


def _contract(
    name: str, stage: str, key: tuple[str, ...], description: str, columns: dict[str, pa.Column]
) -> Contract:
    schema = pa.DataFrameSchema(
        columns, strict=True, ordered=True, unique=list(key) or None, name=name, description=description
    )
    return Contract(name, description, key, schema, stage)


ROLES = ("source", "derived")


def _cut_columns() -> dict[str, pa.Column]:
    return {
        "strategy": _text("the strategy that cut it"),
        "cut_reason": _text("why it ends where it ends"),
        "oversized": _flag("longer than max_tokens"),
        "oversized_reason": _text("why it is longer", null=True),
        "part": _count("number of this piece where one element was split", null=True, least=1),
        "parts": _count("number of pieces of that element", null=True, least=1),
        "truncated": _flag("words were cut away (oversize: truncate)"),
        "truncated_reason": _text("how", null=True),
        "original_token_count": _count("tokens before truncation", null=True),
    }


def _raw_documents() -> Contract:
    return _contract(
        "raw_documents",
        "raw_documents",
        ("doc_key",),
        "A document as it lies in the source.",
        {
            **_document(),
            "version": _text("declared version, or hash of the bytes"),
            "version_declared": _flag("whether the version was declared"),
            "current": _flag("whether this version answers searches"),
            "doc_name": _text("source-relative path"),
            "access": _column(TITLES, "access labels; empty means open"),
            "media_type": _text("media type by content; empty where no extractor knows it"),
            "size_bytes": _count("size in bytes"),
            "sha256": _text("SHA-256 of the bytes"),
            **_stamps(),
        },
    )


def _extracted_text() -> Contract:
    return _contract(
        "extracted_text",
        "extracted_text",
        ("doc_key",),
        "A document's canonical text: LF line ends, no BOM, otherwise as found.",
        {
            **_document(),
            "version": _text("the version these words were extracted from", provenance=True),
            "title": _text("document title: declared, else the first level-1 heading", null=True),
            "text": _text("canonical text; every offset in the lake points into it"),
            "markup": _text("how elements are read from it", among=("markdown", "plain")),
            "language": _text("language, where known", null=True),
            "characters": _count("code points of text"),
            "media_type": _text("media type", provenance=True),
            "encoding": _text("encoding of the bytes, for text", null=True, provenance=True),
            "extractor": _text("extractor", provenance=True),
            "extractor_version": _text("its version", provenance=True),
            **_stamps(),
        },
    )


def _locators() -> Contract:
    return _contract(
        "locators",
        "extracted_text",
        ("doc_key", "start_char"),
        "Where a run of canonical text stands in the original document.",
        {
            "doc_key": _text("the document"),
            "start_char": _count("first code point"),
            "end_char": _count("one past the last"),
            "locator": _text("fragment: #char=from,to, #page=n with its box, #t=from,to"),
        },
    )


def _elements() -> Contract:
    return _contract(
        "elements",
        "elements",
        ("doc_key", "element_index"),
        "A top-level block of a document.",
        {
            **_document(),
            **_declared_version(),
            "element_index": _count("position in the document, from 0"),
            "kind": _text(
                "front_matter, heading, paragraph, list, blockquote, code, math, table, image, html, …"
            ),
            "level": _column(pl.Int64, "heading level", null=True, checks=[pa.Check.in_range(1, 6)]),
            **_place(),
            "heading_trail": _column(TITLES, "titles of the headings above it"),
            "trail_indexes": _column(pl.List(pl.Int64), "element indexes of those headings"),
            "title": _text("visible text of a heading", null=True),
            "element_id": _text("image_001, table_001", null=True),
            "description": _text(
                "description of an image, summary of a table; null where there is none", null=True
            ),
            "protected": _column(RANGES, "ranges inside it that no cut enters"),
            **_stamps(),
        },
    )


def _coarse_chunks() -> Contract:
    return _contract(
        "coarse_chunks",
        "coarse_chunks",
        ("doc_key", "coarse_id"),
        "Elements that structure keeps together (stage one).",
        {
            **_document(),
            **_declared_version(),
            "coarse_id": _text("unique in its document"),
            "coarse_index": _count("position in the document, from 0"),
            "role": _text("source, or derived from one image or table", among=ROLES),
            "kinds": _column(TITLES, "kinds of its elements"),
            "element_indexes": _column(pl.List(pl.Int64), "its elements"),
            "content": _text("its text"),
            "verbatim": _flag("content equals the document's slice"),
            **_place(),
            "spans": _column(SPANS, "its verbatim sub-spans of the document"),
            "views": _column(VIEWS, "where its elements stand in content"),
            "protected": _column(RANGES, "ranges of content that no cut enters"),
            "heading_trail": _column(TITLES, "longest common trail of its elements"),
            "heading_trails": _column(TRAILS, "the individual trails"),
            "tokens": _count("tokens of content"),
            "buffer_tokens": _count("sum of its elements' own tokens", null=True),
            "element_id": _text("the image or table of a derived chunk", null=True),
            "source_coarse_id": _text("the source chunk of a derived one", null=True),
            "description": _text("description or summary", null=True),
            "context_before": _column(SPAN, "adjacent context of a derived chunk", null=True),
            "context_after": _column(SPAN, "adjacent context of a derived chunk", null=True),
            "searchable": _flag("whether it may be embedded and indexed"),
            "tokenizer": _text("the budget's tokenizer: name, version, vocabulary", provenance=True),
            **_stamps(),
        },
    )


def _final_chunks() -> Contract:
    return _contract(
        "final_chunks",
        "final_chunks",
        ("doc_key", "final_id"),
        "A contiguous slice of a coarse chunk (stage two).",
        {
            **_document(),
            **_declared_version(),
            "final_id": _text("unique in its document"),
            "final_index": _count("position in the document, from 0"),
            "coarse_id": _text("the coarse chunk it was cut from"),
            "role": _text("source or derived", among=ROLES),
            "kinds": _column(TITLES, "kinds of its elements"),
            "element_indexes": _column(pl.List(pl.Int64), "its elements"),
            "contained_element_ids": _column(TITLES, "images and tables it holds"),
            "content": _text("its text"),
            "verbatim": _flag("content equals the document's slice"),
            "coarse_start": _count("first code point in the coarse content"),
            "coarse_end": _count("one past the last"),
            **_place(),
            "spans": _column(SPANS, "its verbatim sub-spans of the document"),
            "heading_trail": _column(TITLES, "longest common trail of its elements"),
            "heading_trails": _column(TRAILS, "the individual trails"),
            "tokens": _count("tokens of content"),
            **_cut_columns(),
            "hard_max_enforced": _flag("whether hard_max_tokens is promised"),
            "repeated_prefix": _text("what the indexed text of a later part repeats", null=True),
            "element_id": _text("the image or table of a derived chunk", null=True),
            "source_final_id": _text("the source chunk of a derived one", null=True),
            "description": _text("description or summary", null=True),
            "context_before": _column(SPAN, "adjacent context of a derived chunk", null=True),
            "context_after": _column(SPAN, "adjacent context of a derived chunk", null=True),
            "searchable": _flag("whether it may be embedded and indexed"),
            "tokenizer": _text("the budget's tokenizer: name, version, vocabulary", provenance=True),
            "thresholds": _text("min, max and hard max in tokens, as JSON", provenance=True),
            **_stamps(),
        },
    )


def _boundary_trace() -> Contract:
    return _contract(
        "boundary_trace",
        "final_chunks",
        ("doc_key", "coarse_id", "gap_index"),
        "A gap between two atoms of a refined chunk, and why it was cut or not.",
        {
            "doc_key": _text("the document"),
            "coarse_id": _text("the refined coarse chunk"),
            "gap_index": _count("position among its gaps"),
            "position": _count("code point in the coarse content"),
            "cohesion": _column(pl.Float64, "cosine of the windows beside it", null=True),
            "depth": _column(pl.Float64, "depth of the valley", null=True),
            "legal": _flag("whether a cut may fall there"),
            "chosen": _flag("whether one does"),
            "reason": _text("why"),
        },
    )


def _chunks() -> Contract:
    return _contract(
        "chunks",
        "chunks",
        ("chunk_id",),
        "What is indexed: the words (content) and what is embedded (text), never one for the other.",
        {
            **_document(),
            **_declared_version(),
            "chunk_id": _text("hash of document, role, content and its number among equal contents"),
            "ordinal": _count("position in the document, from 0"),
            "role": _text("source or derived", among=ROLES),
            "kinds": _column(TITLES, "kinds of its elements"),
            "content": _text("its own words, quoted back to people"),
            "text": _text("header, context and content: what is embedded"),
            "header": _text("title and heading trail inside text"),
            "verbatim": _flag("content equals the document's slice"),
            "spans": _column(SPANS, "its verbatim sub-spans of the document"),
            "context_spans": _column(SPANS, "where neighbour context in text came from"),
            "context_chunk_ids": _column(TITLES, "the chunks it came from"),
            "heading_trail": _column(TITLES, "titles of the headings above it"),
            **_place(),
            "locator": _text("fragment that leads to it in the original"),
            "tokens": _count("tokens of content in the budget's tokenizer"),
            "encoder_tokens": _count("tokens of text in the encoder's tokenizer, special ones included"),
            "header_tokens": _count("tokens of header in the encoder's tokenizer"),
            "truncated_tokens": _column(
                pl.Int64, "tokens that the encoder would not see: 0 by contract", checks=[pa.Check.eq(0)]
            ),
            **_cut_columns(),
            "overflow": _text("how a core that exceeds the encoder's window was handled", null=True),
            "source_chunk_id": _text("of a derived chunk, the chunk that holds its element", null=True),
            "element_id": _text("of a derived chunk, its image or table", null=True),
            "contained_element_ids": _column(TITLES, "images and tables it holds"),
            "final_id": _text("the final chunk it was exported from"),
            "searchable": _flag("whether it is embedded and indexed"),
            "text_hash": _text("hash of text: the key of its vector in the memo"),
            "pipeline": _text("version of this package", provenance=True),
            "extractor": _text("extractor and version", provenance=True),
            "tokenizer": _text("the budget's tokenizer: name, version, vocabulary", provenance=True),
            "encoder": _text("the encoder it was fitted to", provenance=True),
            "encoder_dimensions": _count("dimensions of its vectors", provenance=True, least=1),
            "thresholds": _text("min, max and hard max in tokens, as JSON", provenance=True),
            **_stamps(),
        },
    )


@cache
def embeddings(dimensions: int) -> Contract:
    """Contract of the vectors of one dimension: unit norm, finite (DE-01)."""
    return _contract(
        "embeddings",
        "embeddings",
        ("chunk_id",),
        "The vector of a chunk's text.",
        {
            **_document(),
            **_declared_version(),
            "chunk_id": _text("the chunk"),
            "text_hash": _text("hash of the embedded text"),
            "vector": _column(pl.Array(pl.Float32, dimensions), "unit-norm vector"),
            "dimensions": _count("length of vector", least=1),
            "tokens": _count("tokens the encoder read, special ones included"),
            "model_fingerprint": _text("the model, by weights and settings"),
            "model": _text("the name it was called by", provenance=True),
            **_stamps(),
        },
    )


def _bm25_lengths() -> Contract:
    return _contract(
        "bm25_lengths",
        "bm25",
        ("chunk_id",),
        "Terms of a chunk, as the analyzer counts them.",
        {
            **_document(),
            **_declared_version(),
            "chunk_id": _text("the chunk"),
            "length": _count("number of terms, repeats included"),
            **_stamps(),
        },
    )


def _bm25_postings() -> Contract:
    return _contract(
        "bm25_postings",
        "bm25",
        ("term", "chunk_id"),
        "How often a term stands in a chunk.",
        {
            "doc_key": _text("the document"),
            "term": _text("the term"),
            "chunk_id": _text("the chunk"),
            "tf": _count("occurrences", least=1),
        },
    )


def _failures() -> Contract:
    return _contract(
        "failures",
        "failures",
        ("doc_key", "stage"),
        "What is wrong with which document, and what to do about it.",
        {
            "doc_key": _text("the document"),
            "doc_id": _text("the document's id"),
            "doc_name": _text("source-relative path"),
            "stage": _text("the stage that failed"),
            "fingerprint": _text("fingerprint of the attempt: an equal one is not repeated"),
            "kind": _text(
                "encrypted, empty, corrupt, unsupported, too_large, …, contract, embedding, source"
            ),
            "message": _text("what happened and what to do next"),
            "cases": _text("failing cases of a contract, capped, as JSON", null=True),
            "attempts": _count("attempts so far", least=1),
            "first_seen": _text("UTC time of the first attempt, ISO 8601"),
            "last_seen": _text("UTC time of the last attempt"),
            "retryable": _flag("whether the same input may pass another time"),
            "retry": _flag("whether the next build is to try again"),
        },
    )


def _runs() -> Contract:
    return _contract(
        "runs",
        "runs",
        ("run_id",),
        "A build that changed the lake.",
        {
            "run_id": _text("run"),
            "corpus": _text("corpus"),
            "started": _text("UTC time, ISO 8601"),
            "finished": _text("UTC time"),
            "seconds": _column(pl.Float64, "seconds"),
            "generation_before": _count("generation before"),
            "generation_after": _count("generation after", least=1),
            "git_revision": _text("revision of the declaration's repository, where there is one", null=True),
            "package_version": _text("version of this package"),
            "libraries": _text("versions of the libraries, as JSON"),
            "hardware": _text("machine, cores, device, as JSON"),
            "specs": _text("specs of all stages, as JSON"),
            "plan": _text("what was planned, as JSON"),
            "counts": _text("what was done, as JSON"),
            "embedded_texts": _count("texts given to the model"),
            "embedded_tokens": _count("tokens given to the model"),
        },
    )


CONTRACTS: dict[str, Contract] = {
    contract.name: contract
    for contract in (
        _raw_documents(),
        _extracted_text(),
        _locators(),
        _elements(),
        _coarse_chunks(),
        _final_chunks(),
        _boundary_trace(),
        _chunks(),
        _bm25_lengths(),
        _bm25_postings(),
        _failures(),
        _runs(),
    )
}


def contract(table: str, *, dimensions: int = 1) -> Contract:
    """The contract of a table; `dimensions` is that of the vectors, for `embeddings`.

    Raises:
        KeyError: for a table that there is not.
    """
    return embeddings(dimensions) if table == "embeddings" else CONTRACTS[table]
