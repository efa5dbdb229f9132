"""Ready-made views of the catalogue: the questions that are asked of a corpus first (LA-02, CO-03)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from linkrag_dagster.lexical.sql import quoted

BUCKET_TOKENS = 32
"""Width of a bar of the histogram of chunk lengths."""
SHOWN_CHARACTERS = 200
"""Code points of a repeated content that its row shows."""


@dataclass(frozen=True, slots=True)
class ReadyView:
    """A view with its comments.

    Attributes:
        name: the view.
        comment: what one row is.
        columns: comment by column, in order.
        sql: its query; `SCHEMA` stands for the corpus's schema, `CORPUS` for its name as a text.
    """

    name: str
    comment: str
    columns: Mapping[str, str]
    sql: str


DOCUMENTS = ReadyView(
    "documents",
    "One row a document: what became of it.",
    {
        "doc_id": "the document's id",
        "version": "its version",
        "current": "whether this version answers searches",
        "doc_name": "source-relative path",
        "title": "its title",
        "characters": "code points of its text",
        "chunks": "its chunks",
        "tokens": "tokens of their contents",
        "failure": "kind of its failure; null where there is none",
    },
    """
    SELECT d.doc_id, d.version, d.current, d.doc_name, t.title, t.characters, count(c.chunk_id) AS chunks,
        coalesce(sum(c.tokens), 0) AS tokens, any_value(f.kind) AS failure
    FROM SCHEMA.raw_documents d LEFT JOIN SCHEMA.extracted_text t USING (doc_key)
        LEFT JOIN SCHEMA.chunks c USING (doc_key) LEFT JOIN SCHEMA.failures f USING (doc_key)
    GROUP BY ALL ORDER BY doc_name
    """,
)

CHUNK_LENGTHS = ReadyView(
    "chunk_lengths",
    f"Histogram of the lengths of searchable chunks, in steps of {BUCKET_TOKENS} tokens.",
    {
        "role": "source or derived",
        "from_tokens": "shortest length of the step",
        "to_tokens": "longest length of the step",
        "chunks": "searchable chunks of such a length",
        "share": "of the searchable chunks of that role",
        "histogram": "the share as a bar",
    },
    f"""
    SELECT role, step * {BUCKET_TOKENS} AS from_tokens, (step + 1) * {BUCKET_TOKENS} - 1 AS to_tokens, chunks,
        chunks / sum(chunks) OVER (PARTITION BY role) AS share, bar(share, 0, 1, 40) AS histogram
    FROM (
        SELECT role, tokens // {BUCKET_TOKENS} AS step, count(*) AS chunks
        FROM SCHEMA.chunks WHERE searchable GROUP BY ALL
    ) ORDER BY role DESC, from_tokens
    """,
)

OVERSIZE_REASONS = ReadyView(
    "oversize_reasons",
    "Why chunks are longer than max_tokens: reasons, most chunks first.",
    {
        "oversized_reason": "why the chunk is longer",
        "kinds": "kinds of its elements",
        "chunks": "chunks of that reason and those kinds",
        "documents": "documents that they are in",
        "longest": "tokens of the longest of them",
        "longest_chunk_id": "that chunk",
    },
    """
    SELECT oversized_reason, kinds, count(*) AS chunks, count(DISTINCT doc_id) AS documents, max(tokens) AS longest,
        arg_max(chunk_id, tokens) AS longest_chunk_id
    FROM SCHEMA.chunks WHERE oversized GROUP BY ALL ORDER BY chunks DESC, oversized_reason, kinds
    """,
)

DUPLICATES = ReadyView(
    "duplicates",
    "Contents that stand in more than one document, most documents first.",
    {
        "content": f"the first {SHOWN_CHARACTERS} code points of the repeated content",
        "characters": "its code points",
        "documents": "documents that hold it",
        "chunks": "chunks that hold it",
        "doc_names": "those documents",
        "chunk_ids": "those chunks",
    },
    f"""
    SELECT left(any_value(c.content), {SHOWN_CHARACTERS}) AS content, length(any_value(c.content)) AS characters,
        count(DISTINCT c.doc_id) AS documents, count(*) AS chunks,
        list_sort(list(DISTINCT d.doc_name)) AS doc_names, list_sort(list(c.chunk_id)) AS chunk_ids
    FROM SCHEMA.chunks c JOIN SCHEMA.raw_documents d USING (doc_key)
    GROUP BY sha256(c.content) HAVING count(DISTINCT c.doc_id) > 1
    ORDER BY documents DESC, characters DESC, chunk_ids
    """,
)

HEADER_SHARE = ReadyView(
    "header_share",
    "How much of what the encoder reads of a document is header (title and headings), largest share first.",
    {
        "doc_id": "the document",
        "doc_name": "source-relative path",
        "chunks": "its searchable chunks",
        "header_tokens": "tokens of their headers",
        "encoder_tokens": "tokens of all that the encoder reads of them",
        "share": "header_tokens of encoder_tokens",
    },
    """
    SELECT c.doc_id, d.doc_name, count(*) AS chunks, sum(c.header_tokens) AS header_tokens,
        sum(c.encoder_tokens) AS encoder_tokens, sum(c.header_tokens) / sum(c.encoder_tokens) AS share
    FROM SCHEMA.chunks c JOIN SCHEMA.raw_documents d USING (doc_key)
    WHERE c.searchable GROUP BY ALL ORDER BY share DESC, doc_name
    """,
)

ABOVE_WINDOW = ReadyView(
    "above_window",
    "Chunks whose text exceeds the encoder's window, by what was done about it (chunking.overflow).",
    {
        "overflow": "split: cut again; vectors: read in windows, the nearest counts; pool: their mean",
        "chunks": "such chunks",
        "documents": "documents that they are in",
        "windows": "what the encoder reads at a time, of those that it reads window by window",
        "longest": "tokens of the longest text",
        "longest_chunk_id": "that chunk",
    },
    """
    SELECT c.overflow, count(*) AS chunks, count(DISTINCT c.doc_key) AS documents,
        coalesce(sum(w.windows), 0)::BIGINT AS windows, max(c.encoder_tokens) AS longest,
        arg_max(c.chunk_id, c.encoder_tokens) AS longest_chunk_id
    FROM SCHEMA.chunks c
        LEFT JOIN (SELECT chunk_id, count(*) AS windows FROM SCHEMA.chunk_windows GROUP BY chunk_id) w USING (chunk_id)
    WHERE c.overflow IS NOT NULL GROUP BY c.overflow ORDER BY chunks DESC, c.overflow
    """,
)

FAILURES_HELP = ReadyView(
    "failures_help",
    "What is wrong with which document, whether it still answers, and what to do.",
    {
        "doc_name": "source-relative path",
        "doc_id": "the document's id",
        "stage": "where it failed",
        "kind": "how",
        "message": "what happened",
        "attempts": "tries so far",
        "first_seen": "UTC time of the first try",
        "last_seen": "UTC time of the last",
        "answers": "whether its last good rows still answer searches",
        "what_to_do": "the next step",
    },
    """
    SELECT doc_name, doc_id, stage, kind, message, attempts, first_seen, last_seen,
        doc_key IN (SELECT doc_key FROM SCHEMA.chunks) AS answers,
        CASE
            WHEN retry THEN 'it is marked: linkrag build ' || CORPUS || ' tries it again'
            WHEN stage = 'raw_documents' THEN 'mend the file; each build looks at it again'
            WHEN retryable THEN 'linkrag retry ' || CORPUS || ' ' || doc_id || ', then linkrag build ' || CORPUS
            WHEN kind = 'contract' THEN 'see its cases in quarantine; mend the document or the settings, then build'
            ELSE 'mend or replace the file, or leave it out by source.exclude; the next build tries it again'
        END AS what_to_do
    FROM SCHEMA.failures ORDER BY doc_name
    """,
)

QUARANTINE = ReadyView(
    "quarantine",
    "The failing cases of documents that break a contract: their candidate rows were not committed.",
    {
        "doc_name": "source-relative path",
        "doc_id": "the document's id",
        "stage": "where it failed",
        "rule": "the rule that the case breaks",
        "failing_case": "what breaks it, with the row's key; the first cases of each document",
        "attempts": "tries so far",
        "last_seen": "UTC time of the last",
    },
    """
    SELECT doc_name, doc_id, stage, broken.rule AS rule, broken."case" AS failing_case, attempts, last_seen
    FROM (
        SELECT *, unnest(from_json(cases, '[{"rule": "VARCHAR", "case": "VARCHAR"}]')) AS broken
        FROM SCHEMA.failures WHERE cases IS NOT NULL
    ) ORDER BY doc_name, rule, failing_case
    """,
)

VIEWS = (
    DOCUMENTS,
    CHUNK_LENGTHS,
    OVERSIZE_REASONS,
    DUPLICATES,
    HEADER_SHARE,
    ABOVE_WINDOW,
    FAILURES_HELP,
    QUARANTINE,
)


def stale_rows(tables: Sequence[str]) -> ReadyView:
    """The view of rows whose document has failed since.

    Args:
        tables: views that have `doc_key` and `stale`.
    """
    counted = " UNION ALL ".join(
        f"SELECT {_text(table)} AS table_name, doc_key, count(*) AS rows FROM SCHEMA.{quoted(table)} "
        "WHERE stale GROUP BY doc_key"
        for table in tables
    )
    return ReadyView(
        "stale_rows",
        "Last good rows of documents that have failed since, by table, with the failure.",
        {
            "doc_name": "source-relative path",
            "doc_id": "the document's id",
            "table_name": "the table",
            "rows": "its rows of that document, older than the document",
            "stage": "where the document failed",
            "kind": "how",
            "since": "UTC time of the first failing try",
        },
        f"""
        SELECT f.doc_name, f.doc_id, s.table_name, s.rows, f.stage, f.kind, f.first_seen AS since
        FROM ({counted}) s JOIN SCHEMA.failures f USING (doc_key) ORDER BY f.doc_name, s.table_name
        """,
    )


def create_ready_views(
    connection: duckdb.DuckDBPyConnection, corpus: str, stale_tables: Sequence[str]
) -> None:
    """Create the ready-made views of a corpus over the views of its tables.

    Args:
        connection: to the catalogue.
        corpus: the corpus, whose schema there is.
        stale_tables: views that have `doc_key` and `stale`.
    """
    schema = quoted(corpus)
    for view in (*VIEWS, stale_rows(stale_tables)):
        name = f"{schema}.{quoted(view.name)}"
        # Parted first: the corpus's own name may hold one of the words.
        sql = " ".join(
            schema.join(part.replace("CORPUS", _text(corpus)) for part in view.sql.split("SCHEMA")).split()
        )
        connection.execute(f"CREATE VIEW {name} AS {sql}")
        connection.execute(f"COMMENT ON VIEW {name} IS {_text(view.comment)}")
        for column, comment in view.columns.items():
            connection.execute(f"COMMENT ON COLUMN {name}.{quoted(column)} IS {_text(comment)}")


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
