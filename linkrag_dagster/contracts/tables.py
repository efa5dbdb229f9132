"""One contract a table: columns, types, nullability, descriptions, value checks (CO-01).

The pandera schema is the single source: Arrow and Parquet types, Dagster's table schema, DuckDB's comments and the
reference pages all read it. Every column that says where a row came from, and not what it holds, is marked
`provenance`: it stays out of `content_hash`, so that it alone never makes anything downstream stale (VE-03).
"""

from __future__ import annotations

from functools import cache

import pandera.polars as pa
import polars as pl

from linkrag_dagster.contracts.columns import Contract, column, count, flag, number, table, text
from linkrag_dagster.contracts.evaluation import EVALUATION_CONTRACTS

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
PAGES = pl.List(
    pl.Struct(
        {
            "page": pl.Int64,
            "start_char": pl.Int64,
            "end_char": pl.Int64,
            "confidence": pl.Float64,
            "reading": pl.String,
            "width": pl.Float64,
            "height": pl.Float64,
        }
    )
)
TRAILS = pl.List(pl.List(pl.String))


def _document() -> dict[str, pa.Column]:
    return {
        "doc_key": text("the document: its id, and @version where a version is declared"),
        "doc_id": text("the document's id: declared, or a hash of corpus and source-relative path"),
    }


def _declared_version() -> dict[str, pa.Column]:
    return {
        "version": text("the document's version: declared; filled in by the views where it is not", null=True)
    }


def _stamps() -> dict[str, pa.Column]:
    return {
        "fingerprint": text(
            "hash of the stage's spec and of the content of the row's inputs", provenance=True
        ),
        "content_hash": text("hash of what the row holds, provenance left out", provenance=True),
    }


def _place() -> dict[str, pa.Column]:
    return {
        "start_char": count("first code point in the document's canonical text"),
        "end_char": count("one past the last code point"),
        "start_line": count("first line, 1-based", least=1),
        "end_line": count("last line, inclusive", least=1),
    }


ROLES = ("source", "derived")


def _cut_columns() -> dict[str, pa.Column]:
    return {
        "strategy": text("the strategy that cut it"),
        "cut_reason": text("why it ends where it ends"),
        "oversized": flag("longer than max_tokens"),
        "oversized_reason": text("why it is longer", null=True),
        "part": count("number of this piece where one element was split", null=True, least=1),
        "parts": count("number of pieces of that element", null=True, least=1),
        "truncated": flag("words were cut away (oversize: truncate)"),
        "truncated_reason": text("how", null=True),
        "original_token_count": count("tokens before truncation", null=True),
    }


def _raw_documents() -> Contract:
    return table(
        "raw_documents",
        "raw_documents",
        ("doc_key",),
        "A document as it lies in the source.",
        {
            **_document(),
            "version": text("declared version, or hash of the bytes"),
            "version_declared": flag("whether the version was declared"),
            "current": flag("whether this version answers searches"),
            "doc_name": text("source-relative path"),
            "access": column(TITLES, "access labels; empty means open"),
            "media_type": text("media type by content; empty where no extractor knows it"),
            "size_bytes": count("size in bytes"),
            "sha256": text("SHA-256 of the bytes"),
            **_stamps(),
        },
    )


def _extracted_text() -> Contract:
    return table(
        "extracted_text",
        "extracted_text",
        ("doc_key",),
        "A document's canonical text: LF line ends, no BOM, otherwise as found.",
        {
            **_document(),
            "version": text("the version these words were extracted from", provenance=True),
            "title": text("document title: declared, else the first level-1 heading", null=True),
            "text": text("canonical text; every offset in the lake points into it"),
            "markup": text("how elements are read from it", among=("markdown", "plain")),
            "language": text("language, where known", null=True),
            "characters": count("code points of text"),
            "pages": column(
                PAGES, "its pages with range, reading, and size in points, for paged formats; else empty"
            ),
            "layout": text("hash of the places on pages, for paged formats: citations name them", null=True),
            "media_type": text("media type", provenance=True),
            "encoding": text("encoding of the bytes, for text", null=True, provenance=True),
            "extractor": text("extractor", provenance=True),
            "extractor_version": text("its version", provenance=True),
            **_stamps(),
        },
    )


def _locators() -> Contract:
    return table(
        "locators",
        "extracted_text",
        ("doc_key", "start_char"),
        "Where a run of canonical text stands in the original document.",
        {
            "doc_key": text("the document"),
            "start_char": count("first code point"),
            "end_char": count("one past the last"),
            "locator": text("fragment: #char=from,to, #page=n with its box, #t=from,to"),
            "confidence": number(
                "of recognised characters, 0 to 1; null where none were recognised", null=True
            ),
        },
    )


def _left_out() -> Contract:
    return table(
        "left_out",
        "extracted_text",
        ("doc_key", "number"),
        "Words of a document that are not in its text, and why (XT-05, XT-08).",
        {
            "doc_key": text("the document"),
            "number": count("position among what was left out of the document, from 0"),
            "page": count("page they stand on", least=1),
            "locator": text("fragment of their place"),
            "text": text("the words"),
            "reason": text(
                "furniture, repeated, sideways, low_confidence, unreadable",
                among=("furniture", "repeated", "sideways", "low_confidence", "unreadable"),
            ),
            "confidence": number("of recognised characters, 0 to 1", null=True),
        },
    )


def _elements() -> Contract:
    return table(
        "elements",
        "elements",
        ("doc_key", "element_index"),
        "A top-level block of a document.",
        {
            **_document(),
            **_declared_version(),
            "element_index": count("position in the document, from 0"),
            "kind": text(
                "front_matter, heading, paragraph, list, blockquote, code, math, table, image, html, …"
            ),
            "level": column(pl.Int64, "heading level", null=True, checks=[pa.Check.in_range(1, 6)]),
            **_place(),
            "heading_trail": column(TITLES, "titles of the headings above it"),
            "trail_indexes": column(pl.List(pl.Int64), "element indexes of those headings"),
            "title": text("visible text of a heading", null=True),
            "element_id": text("image_001, table_001", null=True),
            "description": text(
                "description of an image, summary of a table; null where there is none", null=True
            ),
            "protected": column(RANGES, "ranges inside it that no cut enters"),
            **_stamps(),
        },
    )


def _coarse_chunks() -> Contract:
    return table(
        "coarse_chunks",
        "coarse_chunks",
        ("doc_key", "coarse_id"),
        "Elements that structure keeps together (stage one).",
        {
            **_document(),
            **_declared_version(),
            "coarse_id": text("unique in its document"),
            "coarse_index": count("position in the document, from 0"),
            "role": text("source, or derived from one image or table", among=ROLES),
            "kinds": column(TITLES, "kinds of its elements"),
            "element_indexes": column(pl.List(pl.Int64), "its elements"),
            "content": text("its text"),
            "verbatim": flag("content equals the document's slice"),
            **_place(),
            "spans": column(SPANS, "its verbatim sub-spans of the document"),
            "views": column(VIEWS, "where its elements stand in content"),
            "protected": column(RANGES, "ranges of content that no cut enters"),
            "heading_trail": column(TITLES, "longest common trail of its elements"),
            "heading_trails": column(TRAILS, "the individual trails"),
            "tokens": count("tokens of content"),
            "buffer_tokens": count("sum of its elements' own tokens", null=True),
            "element_id": text("the image or table of a derived chunk", null=True),
            "source_coarse_id": text("the source chunk of a derived one", null=True),
            "description": text("description or summary", null=True),
            "context_before": column(SPAN, "adjacent context of a derived chunk", null=True),
            "context_after": column(SPAN, "adjacent context of a derived chunk", null=True),
            "searchable": flag("whether it may be embedded and indexed"),
            "tokenizer": text("the budget's tokenizer: name, version, vocabulary", provenance=True),
            **_stamps(),
        },
    )


def _final_chunks() -> Contract:
    return table(
        "final_chunks",
        "final_chunks",
        ("doc_key", "final_id"),
        "A contiguous slice of a coarse chunk (stage two).",
        {
            **_document(),
            **_declared_version(),
            "final_id": text("unique in its document"),
            "final_index": count("position in the document, from 0"),
            "coarse_id": text("the coarse chunk it was cut from"),
            "role": text("source or derived", among=ROLES),
            "kinds": column(TITLES, "kinds of its elements"),
            "element_indexes": column(pl.List(pl.Int64), "its elements"),
            "contained_element_ids": column(TITLES, "images and tables it holds"),
            "content": text("its text"),
            "verbatim": flag("content equals the document's slice"),
            "coarse_start": count("first code point in the coarse content"),
            "coarse_end": count("one past the last"),
            **_place(),
            "spans": column(SPANS, "its verbatim sub-spans of the document"),
            "heading_trail": column(TITLES, "longest common trail of its elements"),
            "heading_trails": column(TRAILS, "the individual trails"),
            "tokens": count("tokens of content"),
            **_cut_columns(),
            "hard_max_enforced": flag("whether hard_max_tokens is promised"),
            "repeated_prefix": text("what the indexed text of a later part repeats", null=True),
            "element_id": text("the image or table of a derived chunk", null=True),
            "source_final_id": text("the source chunk of a derived one", null=True),
            "description": text("description or summary", null=True),
            "context_before": column(SPAN, "adjacent context of a derived chunk", null=True),
            "context_after": column(SPAN, "adjacent context of a derived chunk", null=True),
            "searchable": flag("whether it may be embedded and indexed"),
            "tokenizer": text("the budget's tokenizer: name, version, vocabulary", provenance=True),
            "thresholds": text(
                "limits in tokens, and what cuts by meaning depend on, as JSON", provenance=True
            ),
            "scorer": text("the model that compared texts, and its fingerprint", null=True, provenance=True),
            **_stamps(),
        },
    )


def _boundary_trace() -> Contract:
    return table(
        "boundary_trace",
        "final_chunks",
        ("doc_key", "coarse_id", "gap_index"),
        "A gap between two atoms of a refined chunk, and why it was cut or not.",
        {
            "doc_key": text("the document"),
            "coarse_id": text("the refined coarse chunk"),
            "gap_index": count("position among its gaps"),
            "position": count("code point in the coarse content"),
            "cohesion": column(pl.Float64, "cosine of the windows beside it", null=True),
            "depth": column(pl.Float64, "depth of the valley", null=True),
            "legal": flag("whether a cut may fall there"),
            "chosen": flag("whether one does"),
            "reason": text("why"),
        },
    )


def _chunks() -> Contract:
    return table(
        "chunks",
        "chunks",
        ("chunk_id",),
        "What is indexed: the words (content) and what is embedded (text), never one for the other.",
        {
            **_document(),
            **_declared_version(),
            "chunk_id": text("hash of document, role, content and its number among equal contents"),
            "ordinal": count("position in the document, from 0"),
            "role": text("source or derived", among=ROLES),
            "kinds": column(TITLES, "kinds of its elements"),
            "content": text("its own words, quoted back to people"),
            "text": text("header, context and content: what is embedded"),
            "header": text("title and heading trail inside text"),
            "verbatim": flag("content equals the document's slice"),
            "spans": column(SPANS, "its verbatim sub-spans of the document"),
            "context_spans": column(SPANS, "where neighbour context in text came from"),
            "context_chunk_ids": column(TITLES, "the chunks it came from"),
            "heading_trail": column(TITLES, "titles of the headings above it"),
            **_place(),
            "locator": text("fragment that leads to it in the original"),
            "tokens": count("tokens of content in the budget's tokenizer"),
            "encoder_tokens": count("tokens of text in the encoder's tokenizer, special ones included"),
            "header_tokens": count("tokens of header in the encoder's tokenizer"),
            "truncated_tokens": column(
                pl.Int64, "tokens that the encoder would not see: 0 by contract", checks=[pa.Check.eq(0)]
            ),
            **_cut_columns(),
            "overflow": text("how a core that exceeds the encoder's window was handled", null=True),
            "source_chunk_id": text("of a derived chunk, the chunk that holds its element", null=True),
            "element_id": text("of a derived chunk, its image or table", null=True),
            "contained_element_ids": column(TITLES, "images and tables it holds"),
            "final_id": text("the final chunk it was exported from"),
            "searchable": flag("whether it is embedded and indexed"),
            "text_hash": text(
                "hash of text: the key of its vector in the memo; of its windows if it has several"
            ),
            "pipeline": text("version of this package", provenance=True),
            "extractor": text("extractor and version", provenance=True),
            "tokenizer": text("the budget's tokenizer: name, version, vocabulary", provenance=True),
            "encoder": text("the encoder it was fitted to", provenance=True),
            "encoder_dimensions": count("dimensions of its vectors", provenance=True, least=1),
            "thresholds": text(
                "limits in tokens, and what cuts by meaning depend on, as JSON", provenance=True
            ),
            "scorer": text("the model that compared texts, and its fingerprint", null=True, provenance=True),
            **_stamps(),
        },
    )


def _chunk_windows() -> Contract:
    return table(
        "chunk_windows",
        "chunks",
        ("chunk_id", "window_index"),
        "What the encoder reads at a time of a chunk above its window (overflow: vectors, pool).",
        {
            "doc_key": text("the document"),
            "chunk_id": text("the chunk"),
            "window_index": count("number of the window, from 0"),
            "text_start": count("first code point in the chunk's text"),
            "text_end": count("one past the last; between two windows lies white space alone"),
            "tokens": count("tokens the encoder reads, special ones included", least=1),
            "text_hash": text("hash of the window's text: the key of its vector in the memo"),
        },
    )


@cache
def embedding_windows(dimensions: int) -> Contract:
    """Contract of the vectors of a chunk's windows: unit norm, finite (DE-01)."""
    return table(
        "embedding_windows",
        "embeddings",
        ("chunk_id", "window_index"),
        "The vector of a window of a chunk that keeps several (overflow: vectors): the nearest counts in a search.",
        {
            "doc_key": text("the document"),
            "chunk_id": text("the chunk"),
            "window_index": count("number of the window, from 0"),
            "text_hash": text("hash of the window's text"),
            "vector": column(pl.Array(pl.Float32, dimensions), "unit-norm vector", provenance=True),
            "tokens": count("tokens the encoder read, special ones included"),
            "model_fingerprint": text("the model, by weights and settings"),
        },
    )


@cache
def embeddings(dimensions: int) -> Contract:
    """Contract of the vectors of one dimension: unit norm, finite (DE-01)."""
    return table(
        "embeddings",
        "embeddings",
        ("chunk_id",),
        "The vector of a chunk's text; of one that is read window by window, the mean of theirs.",
        {
            **_document(),
            **_declared_version(),
            "chunk_id": text("the chunk"),
            "text_hash": text("hash of the embedded text"),
            # Text and model decide it; its last bits depend on the batch that it was computed in.
            "vector": column(pl.Array(pl.Float32, dimensions), "unit-norm vector", provenance=True),
            "dimensions": count("length of vector", least=1),
            "tokens": count("tokens the encoder read, special ones included"),
            "model_fingerprint": text("the model, by weights and settings"),
            "model": text("the name it was called by", provenance=True),
            **_stamps(),
        },
    )


def _bm25_lengths() -> Contract:
    return table(
        "bm25_lengths",
        "bm25",
        ("chunk_id",),
        "Terms of a chunk, as the analyzer counts them.",
        {
            **_document(),
            **_declared_version(),
            "chunk_id": text("the chunk"),
            "length": count("number of terms, repeats included"),
            **_stamps(),
        },
    )


def _bm25_postings() -> Contract:
    return table(
        "bm25_postings",
        "bm25",
        ("term", "chunk_id"),
        "How often a term stands in a chunk.",
        {
            "doc_key": text("the document"),
            "term": text("the term"),
            "chunk_id": text("the chunk"),
            "tf": count("occurrences", least=1),
        },
    )


FAILURE_KINDS = (
    "encrypted",
    "empty",
    "corrupt",
    "unsupported",
    "too_large",
    "timeout",
    "memory",
    "crash",
    "no_text",
    "decode",
    "contract",
    "embedding",
    "source",
)
"""Every way in which a document can fail (FA-01, XT-11)."""


def _failures() -> Contract:
    return table(
        "failures",
        "failures",
        ("doc_key", "stage"),
        "What is wrong with which document, and what to do about it.",
        {
            "doc_key": text("the document"),
            "doc_id": text("the document's id"),
            "doc_name": text("source-relative path"),
            "stage": text("the stage that failed"),
            "fingerprint": text("fingerprint of the attempt: an equal one is not repeated"),
            "kind": text("how it failed", among=FAILURE_KINDS),
            "message": text("what happened and what to do next"),
            "cases": text("failing cases of a contract, capped, as JSON", null=True),
            "attempts": count("attempts so far", least=1),
            "first_seen": text("UTC time of the first attempt, ISO 8601"),
            "last_seen": text("UTC time of the last attempt"),
            "retryable": flag("whether the same input may pass another time"),
            "retry": flag("whether the next build is to try again"),
        },
    )


def _runs() -> Contract:
    return table(
        "runs",
        "runs",
        ("run_id",),
        "A build that changed the lake.",
        {
            "run_id": text("run"),
            "corpus": text("corpus"),
            "started": text("UTC time, ISO 8601"),
            "finished": text("UTC time"),
            "seconds": number("seconds"),
            "generation_before": count("generation before"),
            "generation_after": count("generation after", least=1),
            "git_revision": text("revision of the declaration's repository, where there is one", null=True),
            "package_version": text("version of this package"),
            "libraries": text("versions of the libraries, as JSON"),
            "hardware": text("machine, cores, device, as JSON"),
            "specs": text("specs of all stages, as JSON"),
            "plan": text("what was planned, as JSON"),
            "counts": text("what was done, as JSON"),
            "embedded_texts": count("texts given to the model"),
            "embedded_tokens": count("tokens given to the model"),
        },
    )


CONTRACTS: dict[str, Contract] = {
    contract.name: contract
    for contract in (
        _raw_documents(),
        _extracted_text(),
        _locators(),
        _left_out(),
        _elements(),
        _coarse_chunks(),
        _final_chunks(),
        _boundary_trace(),
        _chunks(),
        _chunk_windows(),
        _bm25_lengths(),
        _bm25_postings(),
        _failures(),
        _runs(),
        *EVALUATION_CONTRACTS,
    )
}


_OF_VECTORS = {"embeddings": embeddings, "embedding_windows": embedding_windows}
VECTOR_TABLES = tuple(_OF_VECTORS)
"""Tables whose contract depends on the length of the vectors."""


def contract(table: str, *, dimensions: int = 1) -> Contract:
    """The contract of a table; `dimensions` is that of the vectors, for `VECTOR_TABLES`.

    Raises:
        KeyError: for a table that there is not.
    """
    return _OF_VECTORS[table](dimensions) if table in VECTOR_TABLES else CONTRACTS[table]
