"""The stages of the road by name, in order: light enough for the command's help and for the lake's status."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COUNTED: Mapping[str, str] = MappingProxyType(
    {
        "raw_documents": "raw_documents",
        "extracted_text": "extracted_text",
        "elements": "elements",
        "coarse_chunks": "coarse_chunks",
        "final_chunks": "final_chunks",
        "chunks": "chunks",
        "embeddings": "embeddings",
        "bm25": "bm25_lengths",
        "evaluation": "evaluation",
    }
)
"""Stage → the table whose rows it counts."""
