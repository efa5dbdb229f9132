"""Names of places in the page: chunks, cuts, gaps."""

from __future__ import annotations

import re

from linkrag_dagster.chunking import Chunk
from linkrag_dagster.explain.account import Cut, Gap

_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def chunk_anchor(chunk: Chunk) -> str:
    """By its ordinal."""
    return f"chunk-{chunk.ordinal}"


def cut_anchor(cut: Cut) -> str:
    """By its number."""
    return f"cut-{cut.number}"


def gap_anchor(gap: Gap) -> str:
    """By its coarse chunk and its index there."""
    return f"gap-{_OTHER.sub('-', gap.trace.coarse_id)}-{gap.trace.gap_index}"
