"""An analyst scores a query in DuckDB alone, and gets the ranking of the Python search (BM-01)."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

from linkrag_dagster.lexical import (
    corpus,
    load_analyzer,
    macro_sql,
    postings,
    score_chunks,
    score_sql,
    term_counts,
    terms,
)

WORDS = ["retry", "rule", "R-17", "max_tokens", "数据检索", "logs", "café", "wait"]
TEXTS = [" ".join(WORDS[(i * step) % len(WORDS)] for step in range(1 + i % 7)) for i in range(60)] + [
    "",
    "retry",
]
QUERIES = [
    "retry rule",
    "retry retry logs",
    "max_tokens 数据 café",
    "R-17",
    "unknown",
    "",
    "wait logs rule retry",
]


def views(
    connection: duckdb.DuckDBPyConnection, schema: str, analyzer: str, k1: float, b: float
) -> tuple[pl.DataFrame, ...]:
    """The catalogue's four lexical tables, as plain tables."""
    found, lengths = postings([f"c{i:03}" for i in range(len(TEXTS))], TEXTS, load_analyzer(analyzer))
    totals = corpus(lengths)
    constants = pl.DataFrame(
        {"n": totals.n, "avgdl": totals.avgdl, "k1": k1, "b": b, "tokenizer": f"{analyzer} 1"}
    )
    tables = {
        "terms": terms([term_counts(found)], totals.n),
        "postings": found,
        "lengths": lengths,
        "corpus": constants,
    }
    connection.execute(f'CREATE SCHEMA "{schema}"')
    for name, frame in tables.items():
        connection.register("frame", frame)
        connection.execute(f'CREATE TABLE "{schema}".bm25_{name} AS SELECT * FROM frame')
    return found, lengths


@pytest.mark.parametrize(
    ("analyzer", "k1", "b"), [("default", 1.2, 0.75), ("reference", 0.9, 0.4), ("default", 0.0, 0.0)]
)
def test_same_ranking_as_python(analyzer: str, k1: float, b: float) -> None:
    """BM-01: the same chunks in the same order with the same scores."""
    with duckdb.connect() as connection:
        found, lengths = views(connection, "hand book", analyzer, k1, b)
        connection.execute(macro_sql("hand book"))
        for query in QUERIES:
            tokens = load_analyzer(analyzer).tokens(query)
            want = score_chunks(tokens, found, lengths, k1=k1, b=b)
            got = connection.execute(score_sql("hand book"), {"terms": tokens}).fetchall()
            assert [chunk for chunk, _ in got] == want["chunk_id"].to_list(), query
            assert [score for _, score in got] == pytest.approx(want["score"].to_list(), rel=1e-12)
            by_macro = connection.execute('SELECT * FROM "hand book".bm25_scores(?)', [tokens]).fetchall()
            assert by_macro == got


def test_reference_needs_no_python_at_all() -> None:
    """BM-02: what the reference tokenizer does, DuckDB can."""
    with duckdb.connect() as connection:
        found, lengths = views(connection, "x", "reference", 1.2, 0.75)
        tokens = "regexp_extract_all(lower('Retry the RULE, R-17!'), '[a-z0-9]+')"
        got = connection.execute(score_sql("x", tokens)).fetchall()
        want = score_chunks(["retry", "the", "rule", "r", "17"], found, lengths)
        assert [chunk for chunk, _ in got] == want["chunk_id"].to_list()
        assert got
