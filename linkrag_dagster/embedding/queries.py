"""Query vectors through the memo: no question is embedded twice by one model (EM-02, SD-17)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linkrag_dagster.embedding.embed_missing import EmbeddedTexts, EmbeddingProgress, embed_missing
from linkrag_dagster.embedding.encoder import Encoder
from linkrag_dagster.embedding.memo import Memo, text_hash
from linkrag_dagster.embedding.model import ModelIdentity


def query_hash(identity: ModelIdentity, query: str) -> str:
    """The key of a query's vector: that of the text, unless the model puts another prompt before queries."""
    like_a_text, apart = query_hashes(query)
    return like_a_text if identity.query_prompt == identity.document_prompt else apart


def query_hashes(query: str) -> tuple[str, str]:
    """The keys that a query's vector may have: for a model with one prompt for all texts, and for one with two."""
    return text_hash(query), text_hash(f"query\0{query}")


def embed_queries(
    queries: Sequence[str],
    memo: Memo,
    encoder: Encoder,
    *,
    on_progress: Callable[[EmbeddingProgress], None] | None = None,
) -> EmbeddedTexts:
    """Vectors of queries by their `query_hash`; those with a problem are named in `problems`.

    Raises:
        OSError: the memo can't be written.
        ModelError: the model can't be loaded.
    """
    return embed_missing(
        {query_hash(encoder.identity, query): query for query in queries},
        memo,
        encoder.embed_queries,
        dimensions=encoder.dimensions,
        on_progress=on_progress,
    )
