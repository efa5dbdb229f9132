"""Chunking: from a document's elements to the chunks that are indexed. Pure; knows `markdown` and `tokens`."""

from linkrag_dagster.chunking.boundary import flushes
from linkrag_dagster.chunking.chunker import chunk_elements, chunk_text
from linkrag_dagster.chunking.coarse import coarse_chunks
from linkrag_dagster.chunking.coarse_contract import check_coarse
from linkrag_dagster.chunking.export import export_chunks
from linkrag_dagster.chunking.export_contract import check_chunks
from linkrag_dagster.chunking.final import final_chunks
from linkrag_dagster.chunking.final_contract import check_final
from linkrag_dagster.chunking.records import (
    Chunk,
    ChunkSet,
    CoarseChunk,
    ElementView,
    FinalChunk,
    GapTrace,
    Span,
)
from linkrag_dagster.chunking.settings import ChunkSettings, SettingsError, resolve_settings
from linkrag_dagster.chunking.violations import Violation
from linkrag_dagster.tokens import sentences

__all__ = [
    "Chunk",
    "ChunkSet",
    "ChunkSettings",
    "CoarseChunk",
    "ElementView",
    "FinalChunk",
    "GapTrace",
    "SettingsError",
    "Span",
    "Violation",
    "check_chunks",
    "check_coarse",
    "check_final",
    "chunk_elements",
    "chunk_text",
    "coarse_chunks",
    "export_chunks",
    "final_chunks",
    "flushes",
    "resolve_settings",
    "sentences",
]
