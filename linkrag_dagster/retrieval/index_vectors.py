"""The vectors that a search compares: one a chunk, or one a window of those that keep several (EX-05)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation


def index_vectors(
    lake: CorpusLake, generation: Generation, dimensions: int, *, doc_keys: Iterable[str] | None = None
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Chunk ids and unit vectors of a generation, by chunk id; a chunk with several vectors comes several times.

    Of such a chunk `embeddings` holds the mean, which is not compared: the nearest of its windows counts.

    Args:
        lake: the corpus.
        generation: which one.
        dimensions: length of the vectors.
        doc_keys: only these documents' vectors.

    Returns:
        Ids, and vectors of shape (vectors, dimensions).

    Raises:
        LakeError: a file of the lake can't be used.
    """
    keys = None if doc_keys is None else list(doc_keys)
    columns = ["chunk_id", "vector"]
    vectors = lake.read(generation, "embeddings", columns=columns, dimensions=dimensions, doc_keys=keys)
    windows = lake.read(
        generation,
        "embedding_windows",
        columns=["chunk_id", "window_index", "vector"],
        dimensions=dimensions,
        doc_keys=keys,
    )
    if windows.height:
        windows = windows.sort("chunk_id", "window_index").select(columns)
        vectors = pl.concat([vectors.join(windows, on="chunk_id", how="anti"), windows])
    vectors = vectors.sort("chunk_id", maintain_order=True)
    return vectors["chunk_id"].to_list(), vectors["vector"].to_numpy().reshape(vectors.height, dimensions)
