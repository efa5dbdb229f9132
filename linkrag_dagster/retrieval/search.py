"""Search over one generation: dense, BM25, or both fused; every answer a citation (CI-01, GA-01, HY-01, HY-02)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl

from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.lexical.analyzers import Analyzer
from linkrag_dagster.retrieval.index_vectors import index_vectors
from linkrag_dagster.retrieval.ranking import (
    Ranking,
    cosine_distances,
    dense_ranking,
    hybrid_ranking,
    lexical_ranking,
    standardised_ranking,
)

FUSIONS = ("rrf", "zscore")
"""Ways to fuse both rankings: by rank (HY-01), or by standardised score (HY-02)."""
MODES = ("dense", "bm25", "hybrid", *FUSIONS)
"""What ranks; `hybrid` stands for the fusion that is declared."""
DEFAULT_FUSION = "zscore"
"""What the evaluation supports (docs/decisions/011)."""
DISTANCE_DIGITS = 6


class NotBuilt(Exception):
    """The corpus has no whole generation to search yet."""


class ModelMismatch(Exception):
    """The query would be embedded by another model than the index (DE-01)."""


class QueryEncoder(Protocol):
    """What embeds a query: a model known by its fingerprint."""

    fingerprint: str
    name: str

    def embed_query(self, query: str) -> np.ndarray:
        """The unit-norm vector of a query, `[dimensions]`."""
        ...


@dataclass(frozen=True, slots=True)
class Citation:
    """One chunk that answers, with where its words stand.

    Attributes:
        index: rank, from 1.
        doc_id: the document.
        doc_name: its source-relative path.
        version: its version.
        label: heading trail, `A > B`.
        fragment: where in the original: `#char=from,to`.
        quote: the words of the source, exactly; never a rendering.
        score: of the retriever that ranked it.
        cosine_distance: 1 - cosine of query and chunk; None where no vector was asked for.
        chunk_id: the chunk.
    """

    index: int
    doc_id: str
    doc_name: str
    version: str
    label: str
    fragment: str
    quote: str
    score: float
    cosine_distance: float | None
    chunk_id: str

    def as_dict(self) -> dict[str, Any]:
        """As `linkrag search --json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found.

    Attributes:
        answerable: whether anything was kept.
        citations: the chunks that were kept, best first.
        reason: why nothing was kept, or what the reader should know; "" otherwise.
        fingerprint: of the model whose vectors were searched; "" where none were.
    """

    answerable: bool
    citations: tuple[Citation, ...]
    reason: str
    fingerprint: str


def search(
    lake: CorpusLake,
    query: str,
    *,
    mode: str = "hybrid",
    fusion: str = DEFAULT_FUSION,
    k: int = 4,
    cut: float | None = None,
    all_versions: bool = False,
    encoder: QueryEncoder | None = None,
    analyzer: Analyzer | None = None,
) -> Answer:
    """Search the current generation of a corpus.

    Args:
        lake: the corpus.
        query: the question.
        mode: one of `MODES`.
        fusion: one of `FUSIONS`: what `hybrid` stands for.
        k: keep at most this many chunks.
        cut: keep only chunks whose cosine distance is under this; needs an encoder whatever the mode.
        all_versions: search superseded versions of documents too.
        encoder: embeds the query, for any mode but `bm25`, and for that with a cut.
        analyzer: the one that built the lexical table, for any mode but `dense`.

    Raises:
        ValueError: no such mode or fusion, or one without its encoder or analyzer.
        NotBuilt: the corpus has no committed generation.
        ModelMismatch: `encoder` is not the model of the index.
    """
    if mode not in MODES or fusion not in FUSIONS:
        raise ValueError(f"mode {mode}, fusion {fusion}: there are {', '.join(MODES)}; {', '.join(FUSIONS)}")
    mode = fusion if mode == "hybrid" else mode
    generation = lake.current()
    if not generation.number:
        raise NotBuilt(f"{lake.corpus} has not been built to the end yet: run linkrag build {lake.corpus}")
    visible = _visible(lake, generation, all_versions)
    wanted = visible["chunk_id"].to_list()
    needs_vectors = mode != "bm25" or cut is not None
    distances: dict[str, float] = {}
    if needs_vectors:
        if encoder is None:
            raise ValueError(f"mode {mode} needs an encoder")
        distances = _distances(lake, generation, query, encoder, set(wanted))
    ranked = _ranked(lake, generation, query, mode, distances, set(wanted), analyzer)
    kept = [(chunk, score) for chunk, score in ranked if cut is None or distances.get(chunk, 2.0) < cut][:k]
    fingerprint = str(generation.facts.get("model_fingerprint", "")) if needs_vectors else ""
    if not kept:
        under = f"nothing under cosine distance {cut:g}" if cut is not None else "nothing found"
        return Answer(False, (), f'NO ANSWER: {under} for "{query}"', fingerprint)
    return Answer(True, _cite(lake, generation, kept, distances, visible), "", fingerprint)


def _visible(lake: CorpusLake, generation: Generation, all_versions: bool) -> pl.DataFrame:
    """Chunks that may be searched: the filter acts before retrieval (VF-01)."""
    documents = lake.read(generation, "raw_documents", columns=["doc_key", "doc_name", "version", "current"])
    texts = lake.read(generation, "extracted_text", columns=["doc_key", "version"]).rename(
        {"version": "extracted"}
    )
    if not all_versions:
        documents = documents.filter(pl.col("current"))
    chunks = lake.read(generation, "chunks", columns=["doc_key", "chunk_id"], where=pl.col("searchable"))
    return chunks.join(documents, on="doc_key").join(texts, on="doc_key", how="left")


def _distances(
    lake: CorpusLake, generation: Generation, query: str, encoder: QueryEncoder, wanted: set[str]
) -> dict[str, float]:
    """Cosine distance of every visible chunk to the query."""
    built = str(generation.facts.get("model_fingerprint", ""))
    if encoder.fingerprint != built:
        raise ModelMismatch(
            f"{lake.corpus} was indexed by model {generation.facts.get('model')} ({built[:12]}), the query would be "
            f"embedded by {encoder.name} ({encoder.fingerprint[:12]}); declare that model again, or build"
        )
    dimensions = int(str(generation.facts["dimensions"]))
    chunk_ids, matrix = index_vectors(lake, generation, dimensions)
    if not chunk_ids:
        return {}
    return cosine_distances(chunk_ids, matrix, encoder.embed_query(query), wanted)


def _ranked(
    lake: CorpusLake,
    generation: Generation,
    query: str,
    mode: str,
    distances: Mapping[str, float],
    wanted: set[str],
    analyzer: Analyzer | None,
) -> Ranking:
    """Chunks by falling score."""
    dense = dense_ranking(distances)
    if mode == "dense":
        return dense
    if analyzer is None:
        raise ValueError(f"mode {mode} needs an analyzer")
    lexical = _lexical(lake, generation, query, analyzer, wanted)
    if mode == "bm25":
        return lexical
    return hybrid_ranking(dense, lexical) if mode == "rrf" else standardised_ranking(distances, lexical)


def _lexical(
    lake: CorpusLake, generation: Generation, query: str, analyzer: Analyzer, wanted: set[str]
) -> Ranking:
    tokens = analyzer.tokens(query)
    postings = lake.read(
        generation,
        "bm25_postings",
        columns=["term", "chunk_id", "tf"],
        where=pl.col("term").is_in(sorted(set(tokens))),
    )
    lengths = lake.read(generation, "bm25_lengths", columns=["chunk_id", "length"])
    facts = generation.facts
    return lexical_ranking(
        tokens, postings, lengths, k1=float(str(facts["k1"])), b=float(str(facts["b"])), visible=wanted
    )


def _cite(
    lake: CorpusLake,
    generation: Generation,
    kept: Sequence[tuple[str, float]],
    distances: Mapping[str, float],
    visible: pl.DataFrame,
) -> tuple[Citation, ...]:
    ids = [chunk for chunk, _ in kept]
    owners = visible.filter(pl.col("chunk_id").is_in(ids))
    keys = owners["doc_key"].unique().to_list()
    columns = [
        "chunk_id",
        "doc_key",
        "doc_id",
        "heading_trail",
        "verbatim",
        "spans",
        "locator",
        "start_char",
        "end_char",
    ]
    chunks = lake.read(
        generation, "chunks", columns=columns, where=pl.col("chunk_id").is_in(ids), doc_keys=keys
    )
    texts = dict(
        lake.read(generation, "extracted_text", columns=["doc_key", "text"], doc_keys=keys).iter_rows()
    )
    rows = {row["chunk_id"]: row for row in chunks.iter_rows(named=True)}
    owner = {row["chunk_id"]: row for row in owners.iter_rows(named=True)}
    citations: list[Citation] = []
    for rank, (chunk, score) in enumerate(kept, start=1):
        row, document = rows[chunk], owner[chunk]
        distance = distances.get(chunk)
        citations.append(
            Citation(
                index=rank,
                doc_id=row["doc_id"],
                doc_name=document["doc_name"],
                version=document["extracted"] or document["version"],
                label=" > ".join(row["heading_trail"]),
                fragment=row["locator"],
                quote=quote(texts[row["doc_key"]], row),
                score=score,
                cosine_distance=None if distance is None else round(distance, DISTANCE_DIGITS),
                chunk_id=chunk,
            )
        )
    return tuple(citations)


def quote(text: str, chunk: Mapping[str, Any]) -> str:
    """The chunk's words as the source has them: its slice, or its verbatim sub-spans, one a paragraph (CI-01)."""
    if chunk["verbatim"]:
        return text[chunk["start_char"] : chunk["end_char"]]
    return "\n\n".join(text[span["start_char"] : span["end_char"]] for span in chunk["spans"])
