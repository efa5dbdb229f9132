"""`bm25`: postings and lengths of the chunks that are searched (BM-01 to BM-04).

Document frequencies, the number of chunks and the mean length are sums over the stored shards: the catalogue's views
and the search add them up, so that a changed document touches its own shard and nothing else (BM-03).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.lexical.bm25 import postings
from linkrag_dagster.stages.stage import Computed, Progress, Stage
from linkrag_dagster.versions.spec import StageSpec, digest, fingerprint

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road


class Bm25(Stage):
    """One length a chunk, one posting a term and chunk."""

    name = "bm25"
    tables = ("bm25_lengths", "bm25_postings")
    inputs = ("chunks",)
    description = "Lexical statistics: enough to score a query with BM25 in SQL alone."
    row_grain = True

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del document
        lexical = road.declaration.lexical
        return StageSpec(
            self.name,
            revision=1,
            parameters={"k1": lexical.k1, "b": lexical.b, "field": lexical.field},
            components=dict(road.analyzer.components),
        )

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        field = road.declaration.lexical.field
        columns = ["doc_key", "doc_id", "version", "chunk_id", field]
        chunks = road.lake.read(
            generation, "chunks", columns=columns, doc_keys=keys, where=pl.col("searchable")
        )
        found, lengths = postings(chunks["chunk_id"].to_list(), chunks[field].to_list(), road.analyzer)
        mark = road.spec(self, {}).fingerprint
        by_chunk = found.sort("chunk_id", "term").group_by("chunk_id", maintain_order=True).agg("term", "tf")
        terms = {c: digest(*t, *map(str, n)) for c, t, n in by_chunk.iter_rows()}
        inputs = [digest("text", text) for text in chunks[field].to_list()]
        rows = (
            chunks.drop(field)
            .join(lengths, on="chunk_id", how="left")
            .with_columns(
                pl.col("length").fill_null(0).cast(pl.Int64),
                pl.Series("fingerprint", [fingerprint(mark, text) for text in inputs], dtype=pl.String),
                pl.Series(
                    "content_hash",
                    [digest(c, terms.get(c, "")) for c in chunks["chunk_id"].to_list()],
                    dtype=pl.String,
                ),
            )
        )
        owner = chunks.select("doc_key", "chunk_id")
        return Computed(
            {
                "bm25_lengths": rows,
                "bm25_postings": found.join(owner, on="chunk_id").with_columns(pl.col("tf").cast(pl.Int64)),
            }
        )

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        sums = frames["bm25_postings"].group_by("chunk_id").agg(pl.col("tf").sum().alias("sum"))
        lengths = frames["bm25_lengths"].join(sums, on="chunk_id", how="left")
        wrong = lengths.filter(pl.col("length") != pl.col("sum").fill_null(0))
        yield CheckResult(
            "lengths_equal_postings",
            ("BM-01",),
            "A chunk's length is the sum of its term frequencies.",
            lengths.height,
            tuple(
                Violation(
                    "BM-01",
                    row["doc_key"],
                    f"chunk {row['chunk_id']}: {row['length']} terms, {row['sum']} posted",
                )
                for row in wrong.iter_rows(named=True)
            ),
        )
        yield missing_chunks(road, generation, frames["bm25_lengths"], keys, "every_searchable_chunk_indexed")

    def facts(self, road: Road) -> Mapping[str, object]:
        lexical = road.declaration.lexical
        return {
            "analyzer": lexical.analyzer,
            "analyzer_version": road.analyzer.version,
            "analyzer_components": dict(road.analyzer.components),
            "k1": lexical.k1,
            "b": lexical.b,
            "lexical_field": lexical.field,
        }


def missing_chunks(
    road: Road, generation: Generation, rows: pl.DataFrame, keys: Set[str], name: str
) -> CheckResult:
    """Every searchable chunk of the documents `keys` has its row."""
    chunks = road.lake.read(
        generation, "chunks", columns=["doc_key", "chunk_id"], doc_keys=keys, where=pl.col("searchable")
    )
    missing = chunks.join(rows.select("chunk_id"), on="chunk_id", how="anti")
    return CheckResult(
        name,
        ("CO-02",),
        "Every searchable chunk has its row.",
        chunks.height,
        tuple(
            Violation("CO-02", row["doc_key"], f"chunk {row['chunk_id']}")
            for row in missing.iter_rows(named=True)
        ),
    )
