"""Chunking: from a document's elements to the chunks that are indexed. Pure; knows `markdown` and `tokens`."""

from linkrag_dagster.chunking.atom_vectors import Retries, text_vectors
from linkrag_dagster.chunking.boundary import flushes
from linkrag_dagster.chunking.chunker import chunk_elements, chunk_text
from linkrag_dagster.chunking.coarse import coarse_chunks
from linkrag_dagster.chunking.coarse_contract import check_coarse
from linkrag_dagster.chunking.depth import Smoothing, depth_scores
from linkrag_dagster.chunking.encoder_windows import TextWindow, broken_windows, encoder_windows
from linkrag_dagster.chunking.export import export_chunks
from linkrag_dagster.chunking.export_contract import check_chunks
from linkrag_dagster.chunking.final import FinalPlan, final_chunks, plan_final
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
from linkrag_dagster.chunking.scorer import Scorer, WindowScorer, as_scorer
from linkrag_dagster.chunking.scoring_failures import ScoringError
from linkrag_dagster.chunking.settings import (
    ENCODER,
    POOL,
    SEMANTIC,
    VECTORS,
    WINDOWED,
    ChunkSettings,
    SettingsError,
    resolve_settings,
)
from linkrag_dagster.chunking.violations import Violation
from linkrag_dagster.chunking.window import WindowOverflow
from linkrag_dagster.tokens import sentences

__all__ = [
    "ENCODER",
    "POOL",
    "SEMANTIC",
    "VECTORS",
    "WINDOWED",
    "Chunk",
    "ChunkSet",
    "ChunkSettings",
    "CoarseChunk",
    "ElementView",
    "FinalChunk",
    "FinalPlan",
    "GapTrace",
    "Retries",
    "Scorer",
    "ScoringError",
    "SettingsError",
    "Smoothing",
    "Span",
    "TextWindow",
    "Violation",
    "WindowOverflow",
    "WindowScorer",
    "as_scorer",
    "broken_windows",
    "check_chunks",
    "check_coarse",
    "check_final",
    "chunk_elements",
    "chunk_text",
    "coarse_chunks",
    "depth_scores",
    "encoder_windows",
    "export_chunks",
    "final_chunks",
    "flushes",
    "plan_final",
    "resolve_settings",
    "sentences",
    "text_vectors",
]
