"""Strategies for comparison (ST-01 to ST-10): same elements, same tokenizer, same retrieval.

Each is a pure function from a `Source` (text, elements, settings, tokenizer, scorer) to a `Cutting` (pieces);
`strategy_chunks` makes chunks of them through the export that all chunks go through. Images and tables have chunks of
their own only where `derived` asks for it (see `StrategySettings`); strategies that compare texts tell the scores of
every place that they compared.
"""

from linkrag_dagster.chunking.strategies.final import (
    WHOLE,
    final_of,
    strategy_chunks,
    trace_of,
)
from linkrag_dagster.chunking.strategies.pieces import Cutting, Piece, Source, Strategy
from linkrag_dagster.chunking.strategies.plan import StrategyPlan
from linkrag_dagster.chunking.strategies.registry import comparison_strategy

__all__ = [
    "WHOLE",
    "Cutting",
    "Piece",
    "Source",
    "Strategy",
    "StrategyPlan",
    "comparison_strategy",
    "final_of",
    "strategy_chunks",
    "trace_of",
]
