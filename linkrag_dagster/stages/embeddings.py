"""`embeddings`: one vector a searchable chunk, each text given to a model once (EM-02, DE-01)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.contracts.columns import Contract
from linkrag_dagster.contracts.tables import embeddings
from linkrag_dagster.embedding.embed_missing import embed_missing
from linkrag_dagster.embedding.memo import Memo
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.bm25 import missing_chunks
from linkrag_dagster.stages.stage import Computed, DocumentFailure, Progress, Stage
from linkrag_dagster.versions.spec import StageSpec, fingerprint

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

NORM_TOLERANCE = 1e-3


class Embeddings(Stage):
    """Vectors come from the memo where the model has seen the text before."""

    name = "embeddings"
    tables = ("embeddings",)
    inputs = ("chunks",)
    description = "Unit-norm vectors of the chunks' texts by one model."
    row_grain = True

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del document
        return StageSpec(self.name, revision=1, components={"model": road.model.fingerprint})

    def contract(self, road: Road, table: str) -> Contract:
        return embeddings(road.dimensions)

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        columns = ["doc_key", "doc_id", "version", "chunk_id", "text_hash", "text", "encoder_tokens"]
        chunks = road.lake.read(
            generation, "chunks", columns=columns, doc_keys=keys, where=pl.col("searchable")
        )
        texts = dict(zip(chunks["text_hash"].to_list(), chunks["text"].to_list(), strict=True))
        done = embed_missing(
            texts,
            Memo(road.memo_folder),
            road.encoder.embed,
            dimensions=road.dimensions,
            on_progress=lambda p: progress(p.line()),
        )
        for problem in done.memo_problems:
            progress(f"memo: {problem}; its texts were embedded again")
        failing = chunks.filter(pl.col("text_hash").is_in(list(done.problems)))
        failures = [
            DocumentFailure(key, "embedding", f"a chunk can't be embedded: {done.problems[mark]}", True)
            for key, mark in failing.unique("doc_key", maintain_order=True)
            .select("doc_key", "text_hash")
            .iter_rows()
        ]
        kept = chunks.filter(~pl.col("doc_key").is_in([f.doc_key for f in failures]))
        place = {mark: row for row, mark in enumerate(done.hashes)}
        rows = np.array([place[mark] for mark in kept["text_hash"].to_list()], dtype=np.int64)
        mark = self.spec(road, {}).fingerprint
        vector = pl.Series("vector", done.vectors[rows], dtype=pl.Array(pl.Float32, road.dimensions))
        frame = kept.select("doc_key", "doc_id", "version", "chunk_id", "text_hash").with_columns(
            vector,
            pl.lit(road.dimensions, dtype=pl.Int64).alias("dimensions"),
            kept["encoder_tokens"].alias("tokens"),
            pl.lit(road.model.fingerprint).alias("model_fingerprint"),
            pl.lit(road.model.name).alias("model"),
            pl.Series(
                "fingerprint", [fingerprint(mark, t) for t in kept["text_hash"].to_list()], dtype=pl.String
            ),
        )
        return Computed({self.name: frame}, failures, done.embedded_texts, done.embedded_tokens)

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        frame = frames[self.name]
        vectors = frame["vector"].to_numpy().reshape(frame.height, road.dimensions)
        norms = np.linalg.norm(vectors, axis=1) if frame.height else np.zeros(0)
        wrong = np.flatnonzero(~(np.abs(norms - 1.0) <= NORM_TOLERANCE))
        owners, chunks = frame["doc_key"].to_list(), frame["chunk_id"].to_list()
        yield CheckResult(
            "vectors_have_unit_norm",
            ("DE-01",),
            "Every vector is finite and of length 1 within 0.001.",
            frame.height,
            tuple(Violation("DE-01", owners[i], f"chunk {chunks[i]}: norm {norms[i]:.6f}") for i in wrong),
        )
        yield missing_chunks(road, generation, frame, keys, "every_searchable_chunk_embedded")
        others = self._of_another_model(road, generation, keys)
        yield CheckResult(
            "one_model",
            ("DE-01", "VE-04", "VE-07"),
            "All vectors of a generation are of one model.",
            frame.height,
            tuple(
                Violation(
                    "VE-07", "", f"document {key} keeps vectors of another model; mend it before the switch"
                )
                for key in others
            ),
        )

    def _of_another_model(self, road: Road, generation: Generation, replaced: Set[str]) -> list[str]:
        """Documents whose kept rows another model made: a half-switched index would be queryable."""
        if generation.facts.get("model_fingerprint") in (None, road.model.fingerprint):
            return []
        searched = road.lake.read(generation, "chunks", columns=["doc_key"], where=pl.col("searchable"))
        return sorted(set(searched["doc_key"].to_list()) - replaced)

    def facts(self, road: Road) -> Mapping[str, object]:
        return {
            "model": road.model.name,
            "model_fingerprint": road.model.fingerprint,
            "dimensions": road.dimensions,
        }
