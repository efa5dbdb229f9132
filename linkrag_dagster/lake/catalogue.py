"""`warehouse.duckdb`: views over the current generation of every corpus, for analysts (LA-02).

The file is built beside and renamed into place, so that a reader always opens a whole one. Views name their Parquet
files by absolute path and one generation: a reader sees one generation or another, never a mix.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb
import pandera.polars as pa
import polars as pl
from polars._typing import PolarsDataType

from linkrag_dagster.contracts.columns import Contract
from linkrag_dagster.contracts.tables import CONTRACTS, VECTOR_TABLES, contract
from linkrag_dagster.disk.whole import write_whole
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.lock import exclusive
from linkrag_dagster.lake.manifest import Generation, LakeError
from linkrag_dagster.lake.ready_views import create_ready_views
from linkrag_dagster.lexical.sql import macro_sql, quoted

LOG = logging.getLogger(__name__)
CATALOGUE = "warehouse.duckdb"
STORAGE = "v1.2.0"
"""Storage version of the file: DuckDB 1.2 and later read it."""
LOCK_SECONDS = 60.0

BM25_IDF = "ln(1 + (n - df + 0.5) / (df + 0.5))"


def rebuild(lake_root: Path) -> Path:
    """Write the catalogue of all corpora of a lake anew.

    Raises:
        LockHeld: when another process is at it for a minute.
        OSError: when the lake can't be written.
    """
    path = lake_root / CATALOGUE
    with exclusive(lake_root / "catalogue.lock", wait=LOCK_SECONDS, purpose="rebuild of the catalogue"):
        for left in lake_root.glob(f".{CATALOGUE}.*.tmp*"):
            # What a killed rebuild left beside; under the lock nobody writes to it.
            left.unlink(missing_ok=True)
        write_whole(path, "catalogue", lambda beside: _write(beside, corpora(lake_root)))
    return path


def _write(beside: Path, lakes: Iterable[CorpusLake]) -> None:
    try:
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH {_text(str(beside))} AS warehouse (STORAGE_VERSION {_text(STORAGE)})")
            connection.execute("USE warehouse")
            # In one transaction: else each of some hundred views and comments is synced to the disk by itself.
            connection.execute("BEGIN")
            for lake in lakes:
                _corpus(connection, lake)
            connection.execute("COMMIT")
            connection.execute("USE memory")
            connection.execute("DETACH warehouse")
    # What a full disk says, while DuckDB writes, and when it is to make its writing last.
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:
        raise OSError(str(error)) from error
    finally:
        beside.with_name(beside.name + ".wal").unlink(missing_ok=True)


def corpora(lake_root: Path) -> list[CorpusLake]:
    """The corpora that a lake holds, by name."""
    if lake_root.exists() and not lake_root.is_dir():
        raise LakeError(f"{lake_root}: a file, not the folder of a lake; name another place")
    if not lake_root.is_dir():
        return []
    names = sorted(p.name for p in lake_root.iterdir() if p.is_dir() and p.name != "memo")
    return [
        lake for name in names if _is_readable(lake := CorpusLake(lake_root, name)) and lake.shown().number
    ]


def _is_readable(lake: CorpusLake) -> bool:
    """Whether a corpus's manifests can be read: one that is damaged does not take the others down."""
    try:
        lake.shown()
    except LakeError as error:
        LOG.warning("%s is left out of the catalogue: %s", lake.corpus, error)
        return False
    return True


def is_current(lake: CorpusLake) -> bool:
    """Whether the catalogue shows what the corpus shows now: a kill before its renaming leaves it behind."""
    path = lake.root / CATALOGUE
    if not path.exists():
        return False
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            found = connection.execute(f"SELECT manifest FROM {quoted(lake.corpus)}.generation").fetchone()
    except duckdb.Error:
        return False
    return found == (_mark(lake.shown()),)


def _mark(generation: Generation) -> str:
    return hashlib.sha256(generation.as_json().encode()).hexdigest()


def _corpus(connection: duckdb.DuckDBPyConnection, lake: CorpusLake) -> None:
    generation = lake.shown()
    schema = quoted(lake.corpus)
    connection.execute(f"CREATE SCHEMA {schema}")
    dimensions = int(str(generation.facts.get("dimensions", 1)))
    vectors = [contract(name, dimensions=dimensions) for name in VECTOR_TABLES]
    tables = [*CONTRACTS.values(), *vectors]
    for rules in tables:
        _view(connection, lake, generation, rules)
    _lexical_views(connection, lake.corpus, generation)
    create_ready_views(connection, lake.corpus, [rules.name for rules in tables if _may_be_stale(rules)])
    connection.execute(
        f"CREATE TABLE {schema}.generation AS SELECT {generation.number} AS number, "
        f"{_text(generation.committed)} AS committed, {_text(generation.run_id)} AS run_id, "
        f"{_text(str(generation.facts.get('model', '')))} AS model, "
        f"{_text(str(generation.facts.get('model_fingerprint', '')))} AS model_fingerprint, "
        f"{_text(_mark(generation))} AS manifest"
    )


VERSIONED = frozenset({"elements", "coarse_chunks", "final_chunks", "chunks", "embeddings", "bm25_lengths"})
"""Tables whose rows hold a version only where it is declared; the views fill in the hash of the document's bytes."""


def _may_be_stale(rules: Contract) -> bool:
    """Whether a table holds rows of documents that may have failed since."""
    return "doc_key" in rules.polars and rules.name not in ("failures", "raw_documents")


def _view(
    connection: duckdb.DuckDBPyConnection, lake: CorpusLake, generation: Generation, rules: Contract
) -> None:
    schema = quoted(lake.corpus)
    columns = [f"CAST({quoted(n)} AS {_type(t)}) AS {quoted(n)}" for n, t in rules.polars.items()]
    files = _files(lake, generation, rules.name)
    rows = f"SELECT {', '.join(columns)} FROM {files}" if files else _nothing(rules)
    if rules.name in VERSIONED:
        texts = _files(lake, generation, "extracted_text")
        if files and texts:
            versions = f"SELECT doc_key, version AS found FROM {texts}"
            rows = (
                f"SELECT * EXCLUDE (found) REPLACE (coalesce(version, found) AS version) "
                f"FROM ({rows}) LEFT JOIN ({versions}) USING (doc_key)"
            )
    failures = _files(lake, generation, "failures")
    if _may_be_stale(rules):
        stale = f"doc_key IN (SELECT doc_key FROM {failures})" if failures else "false"
        rows = f"SELECT *, {stale} AS stale FROM ({rows})"
    view = f"{schema}.{quoted(rules.name)}"
    connection.execute(f"CREATE VIEW {view} AS {rows}")
    connection.execute(f"COMMENT ON VIEW {view} IS {_text(rules.description)}")
    for name, column in rules.schema.columns.items():
        _comment(connection, view, str(name), column)
    if _may_be_stale(rules):
        note = "the document has failed since: this is its last good row"
        connection.execute(f"COMMENT ON COLUMN {view}.stale IS {_text(note)}")


def _comment(connection: duckdb.DuckDBPyConnection, view: str, name: str, column: pa.Column) -> None:
    connection.execute(f"COMMENT ON COLUMN {view}.{quoted(name)} IS {_text(column.description or '')}")


def _lexical_views(connection: duckdb.DuckDBPyConnection, corpus: str, generation: Generation) -> None:
    schema = quoted(corpus)
    facts = generation.facts
    k1, b = float(str(facts.get("k1", 1.2))), float(str(facts.get("b", 0.75)))
    tokenizer = f"{facts.get('analyzer', '')} {facts.get('analyzer_version', '')}".strip()
    connection.execute(
        f"CREATE VIEW {schema}.bm25_corpus AS SELECT count(*) AS n, coalesce(avg(length), 0.0) AS avgdl, "
        f"CAST({k1} AS DOUBLE) AS k1, CAST({b} AS DOUBLE) AS b, {_text(tokenizer)} AS tokenizer "
        f"FROM {schema}.bm25_lengths"
    )
    connection.execute(
        f"CREATE VIEW {schema}.bm25_terms AS SELECT term, df, {BM25_IDF} AS idf FROM "
        f"(SELECT term, count(*) AS df FROM {schema}.bm25_postings GROUP BY term), "
        f"(SELECT count(*) AS n FROM {schema}.bm25_lengths)"
    )
    connection.execute(macro_sql(corpus))
    # The lexical table by the name of its asset.
    connection.execute(f"CREATE VIEW {schema}.bm25 AS SELECT * FROM {schema}.bm25_lengths")
    comments = {
        "bm25_corpus": "Number of chunks, their mean length, and the constants of BM25.",
        "bm25_terms": "Document frequency and idf of each term: ln(1 + (n - df + 0.5) / (df + 0.5)).",
        "bm25": "The lexical table's counted rows: the same as bm25_lengths.",
    }
    for view, comment in comments.items():
        connection.execute(f"COMMENT ON VIEW {schema}.{view} IS {_text(comment)}")


def _files(lake: CorpusLake, generation: Generation, table: str) -> str:
    files = generation.tables.get(table, {})
    if not files:
        return ""
    paths = ", ".join(_text(str((lake.folder / file.path).resolve())) for file in files.values())
    return f"read_parquet([{paths}])"


def _nothing(rules: Contract) -> str:
    columns = ", ".join(f"CAST(NULL AS {_type(t)}) AS {quoted(n)}" for n, t in rules.polars.items())
    return f"SELECT {columns} WHERE false"


def _type(kind: PolarsDataType) -> str:
    """The DuckDB type of a column."""
    if isinstance(kind, pl.Array):
        return f"{_type(kind.inner)}[{kind.size}]"
    if isinstance(kind, pl.List):
        return f"{_type(kind.inner)}[]"
    if isinstance(kind, pl.Struct):
        return f"STRUCT({', '.join(f'{quoted(f.name)} {_type(f.dtype)}' for f in kind.fields)})"
    simple: Mapping[str, str] = {
        "String": "VARCHAR",
        "Int64": "BIGINT",
        "Boolean": "BOOLEAN",
        "Float64": "DOUBLE",
        "Float32": "FLOAT",
    }
    return simple[str(kind)]


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
