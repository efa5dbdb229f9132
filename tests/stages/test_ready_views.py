"""The ready-made views of the catalogue, each against the rows it is made of (LA-02)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from linkrag_dagster.lake.ready_views import VIEWS, stale_rows

from .conftest import Project


@pytest.fixture
def corpus(project: Project, small_models: dict[str, Path]) -> Project:
    """Four documents, two of them with a twin, one with a code block that is longer than a chunk may be."""
    project.use(small_models["old"])
    project.write("copy/notes.txt", (project.source / "notes.txt").read_bytes())
    project.write("code.md", "# Code\n\n```\n" + "\n".join(f"step {n}" for n in range(6)) + "\n```\n")
    project.set("chunking.max_tokens", 6)
    project.build()
    return project


def ask(project: Project, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(project.root / "lake" / "warehouse.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_views_and_columns_are_commented(corpus: Project) -> None:
    """LA-02: every view of the list is there, with a comment on it and on every column, in order."""
    for view in (*VIEWS, stale_rows(["chunks"])):
        found = ask(
            corpus,
            "SELECT column_name, comment FROM duckdb_columns() "
            f"WHERE schema_name = 'harbour' AND table_name = '{view.name}' ORDER BY column_index",
        )
        assert dict(found) == dict(view.columns) and [name for name, _ in found] == list(view.columns)
        comment = ask(corpus, f"SELECT comment FROM duckdb_views() WHERE view_name = '{view.name}'")
        assert comment == [(view.comment,)]
        assert ask(corpus, f"SELECT count(*) FROM harbour.{view.name}") is not None


def test_lengths_add_up(corpus: Project) -> None:
    """Every searchable chunk is in one step of the histogram, and in the step of its length."""
    totals = ask(corpus, "SELECT sum(chunks)::BIGINT FROM harbour.chunk_lengths")
    assert totals == ask(corpus, "SELECT count(*) FROM harbour.chunks WHERE searchable")
    assert ask(corpus, "SELECT DISTINCT round(sum(share), 9) FROM harbour.chunk_lengths GROUP BY role") == [
        (1.0,)
    ]
    outside = ask(
        corpus,
        "SELECT count(*) FROM harbour.chunks c WHERE searchable AND NOT EXISTS (FROM harbour.chunk_lengths l "
        "WHERE l.role = c.role AND c.tokens BETWEEN l.from_tokens AND l.to_tokens)",
    )
    assert outside == [(0,)]


def test_repeated_contents_name_their_documents(corpus: Project) -> None:
    """A copy is found with both its paths; what stands in one document alone is no duplicate."""
    found = ask(corpus, "SELECT documents, chunks, doc_names FROM harbour.duplicates")
    assert found and all(row == (2, 2, ["copy/notes.txt", "notes.txt"]) for row in found)


def test_oversize_and_headers_equal_their_rows(corpus: Project) -> None:
    """The sums of the views are those of the table."""
    oversized = ask(corpus, "SELECT coalesce(sum(chunks), 0)::BIGINT FROM harbour.oversize_reasons")
    assert oversized == ask(corpus, "SELECT count(*) FROM harbour.chunks WHERE oversized")
    corpus.set("chunking.header", True)
    corpus.set("embedding.model", "all-MiniLM-L6-v2")
    corpus.build()
    sums = "sum(header_tokens)::BIGINT, sum(encoder_tokens)::BIGINT"
    assert ask(corpus, f"SELECT {sums} FROM harbour.header_share") == ask(
        corpus, f"SELECT {sums} FROM harbour.chunks WHERE searchable"
    )
    shares = [share for (share,) in ask(corpus, "SELECT share FROM harbour.header_share")]
    assert shares == sorted(shares, reverse=True) and 0 < max(shares) < 1


def test_a_corpus_may_be_called_anything(project: Project) -> None:
    """The words that stand for schema and name in a view's query are no trap for a corpus called so."""
    renamed = project.declaration.parent.rename(project.root / "assets" / "SCHEMA-CORPUS")
    project.declaration = renamed / "defs.yaml"
    project.write("empty.md", b"")
    project.build()
    (row,) = ask(project, 'SELECT doc_name, what_to_do FROM "SCHEMA-CORPUS".failures_help')
    assert row[0] == "empty.md"
