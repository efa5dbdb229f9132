"""What the encoder is given of chunks: their texts, or the windows of those that it can't read at once (EX-05).

| a searchable chunk | what is embedded | its `text_hash` |
| --- | --- | --- |
| fits the window | its text | of the text: the key of its vector in the memo |
| `overflow: vectors` or `pool` | each window of its text | of the hashes of its windows, and of how they are used |

Both ways the hash says all that the chunk's vector depends on beside the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from linkrag_dagster.chunking import WINDOWED
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.versions.spec import digest


def windows_hash(overflow: str, hashes: Sequence[str]) -> str:
    """The `text_hash` of a chunk of several windows, whose own hashes those are."""
    return digest("windows", overflow, *hashes)


def embedded_texts(
    lake: CorpusLake, generation: Generation, *, doc_keys: Iterable[str] | None = None
) -> pl.DataFrame:
    """The texts that the searchable chunks' vectors are made from, as `(chunk_id, text_hash, tokens)`.

    `text_hash` is the key in the memo, `tokens` what the encoder reads, special ones included; a chunk of several
    windows has as many rows.

    Raises:
        LakeError: a file of the lake can't be used.
    """
    keys = None if doc_keys is None else list(doc_keys)
    chunks = lake.read(
        generation,
        "chunks",
        columns=["chunk_id", "text_hash", "encoder_tokens", "overflow"],
        doc_keys=keys,
        where=pl.col("searchable"),
    )
    whole = chunks.filter(~is_windowed()).select(
        "chunk_id", "text_hash", pl.col("encoder_tokens").alias("tokens")
    )
    windows = lake.read(
        generation, "chunk_windows", columns=["chunk_id", "text_hash", "tokens"], doc_keys=keys
    )
    return pl.concat([whole, windows])


def is_windowed() -> pl.Expr:
    """Whether a row of `chunks` is read window by window."""
    return pl.col("overflow").is_in(list(WINDOWED)).fill_null(value=False)
