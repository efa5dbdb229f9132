"""`embeddings`: one vector a searchable chunk, each text given to a model once (EM-02, DE-01)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from linkrag_dagster.chunking import VECTORS
from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.contracts.columns import Contract
from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.embedding.embed_missing import EmbeddedTexts, embed_missing
from linkrag_dagster.embedding.memo import Memo
from linkrag_dagster.embedding.pooling import pooled
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.bm25 import missing_chunks
from linkrag_dagster.stages.embedded_texts import is_windowed
from linkrag_dagster.stages.stage import Computed, DocumentFailure, Progress, Stage
from linkrag_dagster.versions.spec import StageSpec, fingerprint

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

NORM_TOLERANCE = 1e-3


class Embeddings(Stage):
    """Vectors come from the memo where the model has seen the text before."""

    name = "embeddings"
    tables = ("embeddings", "embedding_windows")
    inputs = ("chunks",)
    description = "Unit-norm vectors of the chunks' texts by one model."
    row_grain = True

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del document
        return StageSpec(self.name, revision=1, components={"model": road.model.fingerprint})

    def contract(self, road: Road, table: str) -> Contract:
        return contract(table, dimensions=road.dimensions)

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        chunks = road.lake.read(
            generation,
            "chunks",
            columns=[
                "doc_key",
                "doc_id",
                "version",
                "chunk_id",
                "text_hash",
                "text",
                "encoder_tokens",
                "overflow",
            ],
            doc_keys=keys,
            where=pl.col("searchable"),
        )
        windows = _windows(road, generation, keys, chunks)
        whole = chunks.filter(~is_windowed())
        texts = dict(zip(whole["text_hash"].to_list(), whole["text"].to_list(), strict=True))
        texts |= zip(windows["text_hash"].to_list(), windows["text"].to_list(), strict=True)
        done = embed_missing(
            texts,
            Memo(road.memo_folder),
            road.encoder.embed,
            dimensions=road.dimensions,
            on_progress=lambda p: progress(p.line()),
        )
        for problem in done.memo_problems:
            progress(f"memo: {problem}; its texts were embedded again")
        made_from = pl.concat([part.select("doc_key", "text_hash") for part in (whole, windows)])
        failing = made_from.filter(pl.col("text_hash").is_in(list(done.problems)))
        failures = [
            DocumentFailure(key, "embedding", f"a chunk can't be embedded: {done.problems[mark]}", True)
            for key, mark in failing.unique("doc_key", maintain_order=True).iter_rows()
        ]
        kept = _without(chunks, failures)
        vectors = _Vectors(done, kept, _without(windows, failures))
        failures += vectors.failures
        kept = _without(kept, failures)
        tokens = [vectors.tokens.get(c, n) for c, n in kept.select("chunk_id", "encoder_tokens").iter_rows()]
        mark = road.spec(self, {}).fingerprint
        vector = pl.Series("vector", vectors.of(kept), dtype=pl.Array(pl.Float32, road.dimensions))
        frame = kept.select("doc_key", "doc_id", "version", "chunk_id", "text_hash").with_columns(
            vector,
            pl.lit(road.dimensions, dtype=pl.Int64).alias("dimensions"),
            pl.Series("tokens", tokens, dtype=pl.Int64),
            pl.lit(road.model.fingerprint).alias("model_fingerprint"),
            pl.lit(road.model.name).alias("model"),
            pl.Series(
                "fingerprint", [fingerprint(mark, t) for t in kept["text_hash"].to_list()], dtype=pl.String
            ),
        )
        several = kept.filter(pl.col("overflow") == VECTORS)
        frames = {self.name: frame, "embedding_windows": vectors.frame(several, road)}
        return Computed(frames, failures, done.embedded_texts, done.embedded_tokens)

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        frame = frames[self.name]
        named = pl.concat([frames[table].select("doc_key", "chunk_id", "vector") for table in self.tables])
        vectors = named["vector"].to_numpy().reshape(named.height, road.dimensions)
        norms = np.linalg.norm(vectors, axis=1) if named.height else np.zeros(0)
        wrong = np.flatnonzero(~(np.abs(norms - 1.0) <= NORM_TOLERANCE))
        owners, chunks = named["doc_key"].to_list(), named["chunk_id"].to_list()
        yield CheckResult(
            "vectors_have_unit_norm",
            ("DE-01",),
            "Every vector is finite and of length 1 within 0.001.",
            named.height,
            tuple(Violation("DE-01", owners[i], f"chunk {chunks[i]}: norm {norms[i]:.6f}") for i in wrong),
        )
        yield missing_chunks(road, generation, frame, keys, "every_searchable_chunk_embedded")
        yield _missing_windows(road, generation, frames["embedding_windows"], keys)
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


def _without(rows: pl.DataFrame, failures: Sequence[DocumentFailure]) -> pl.DataFrame:
    return rows.filter(~pl.col("doc_key").is_in([f.doc_key for f in failures]))


def _windows(road: Road, generation: Generation, keys: Iterable[str], chunks: pl.DataFrame) -> pl.DataFrame:
    """The windows of the chunks that the encoder can't read at once, each with its text (EX-05)."""
    rows = road.lake.read(generation, "chunk_windows", doc_keys=keys).sort("chunk_id", "window_index")
    texts = dict(chunks.filter(is_windowed()).select("chunk_id", "text").iter_rows())
    words = [
        texts[chunk_id][start:end]
        for chunk_id, start, end in rows.select("chunk_id", "text_start", "text_end").iter_rows()
    ]
    return rows.with_columns(pl.Series("text", words, dtype=pl.String))


class _Vectors:
    """Vectors of chunks: of their text, or the mean of those of its windows.

    Args:
        done: the vectors of all texts and windows.
        chunks: those that have vectors, or windows that have.
        windows: their rows of `chunk_windows`, by chunk and number.

    Attributes:
        tokens: that the encoder read, of each chunk of several windows.
        failures: documents with a chunk whose one vector would have no direction.
    """

    def __init__(self, done: EmbeddedTexts, chunks: pl.DataFrame, windows: pl.DataFrame) -> None:
        self._done = done
        self._place = {mark: row for row, mark in enumerate(done.hashes)}
        self._windows = windows
        self._means: dict[str, NDArray[np.float32]] = {}
        self.tokens: dict[str, int] = {}
        failed: dict[str, str] = {}
        several = set(chunks.filter(pl.col("overflow") == VECTORS)["chunk_id"].to_list())
        parts = windows.group_by("doc_key", "chunk_id", maintain_order=True).agg("text_hash", "tokens")
        for doc_key, chunk_id, marks, tokens in parts.iter_rows():
            self.tokens[chunk_id] = sum(tokens)
            vectors = self._rows(marks)
            try:
                self._means[chunk_id] = pooled(vectors, tokens)
            except ValueError as error:
                # Where each window counts by itself, the mean is for readers of one vector a chunk alone.
                self._means[chunk_id] = vectors[0]
                if chunk_id not in several:
                    failed[doc_key] = str(error)
        self.failures = [
            DocumentFailure(key, "embedding", f"a chunk can't be embedded: {words}")
            for key, words in failed.items()
        ]

    def of(self, chunks: pl.DataFrame) -> NDArray[np.float32]:
        """A vector for each row, shape (chunks, dimensions)."""
        named = chunks.select("chunk_id", "text_hash").rows()
        places = [0 if chunk_id in self._means else self._place[mark] for chunk_id, mark in named]
        made = self._done.vectors[np.array(places, dtype=np.int64)]
        for row, (chunk_id, _) in enumerate(named):
            if chunk_id in self._means:
                made[row] = self._means[chunk_id]
        return made

    def frame(self, chunks: pl.DataFrame, road: Road) -> pl.DataFrame:
        """Rows of `embedding_windows` for chunks that keep several vectors."""
        kept = self._windows.join(chunks.select("chunk_id"), on="chunk_id", how="semi", maintain_order="left")
        vector = self._rows(kept["text_hash"].to_list())
        return kept.select("doc_key", "chunk_id", "window_index", "text_hash").with_columns(
            pl.Series("vector", vector, dtype=pl.Array(pl.Float32, road.dimensions)),
            kept["tokens"],
            pl.lit(road.model.fingerprint).alias("model_fingerprint"),
        )

    def _rows(self, marks: Sequence[str]) -> NDArray[np.float32]:
        return self._done.vectors[np.array([self._place[mark] for mark in marks], dtype=np.int64)]


def _missing_windows(road: Road, generation: Generation, frame: pl.DataFrame, keys: Set[str]) -> CheckResult:
    """No window of a chunk that keeps several vectors lacks its own (EX-05)."""
    columns = ["chunk_id", "doc_key", "overflow"]
    chunks = road.lake.read(
        generation, "chunks", columns=columns, doc_keys=keys, where=pl.col("overflow") == VECTORS
    )
    windows = road.lake.read(
        generation, "chunk_windows", columns=["doc_key", "chunk_id", "window_index"], doc_keys=keys
    ).join(chunks.select("chunk_id"), on="chunk_id", how="semi")
    missing = windows.join(frame, on=["chunk_id", "window_index"], how="anti")
    return CheckResult(
        "every_window_embedded",
        ("EX-05",),
        "A chunk of several vectors has one for each window of its text.",
        windows.height,
        tuple(
            Violation(
                "EX-05", row["doc_key"], f"{row['chunk_id']}: window {row['window_index']} has no vector"
            )
            for row in missing.iter_rows(named=True)
        ),
    )
