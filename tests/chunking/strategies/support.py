"""What the tests of the strategies share: a run of one over a text, and what must hold for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.chunking import Chunk, FinalChunk, GapTrace, check_chunks, check_final, resolve_settings
from linkrag_dagster.chunking.scorer import as_scorer
from linkrag_dagster.chunking.strategies import (
    Cutting,
    Piece,
    Source,
    comparison_strategy,
    strategy_chunks,
)
from linkrag_dagster.chunking.strategy_settings import StrategySettings
from linkrag_dagster.markdown import parse
from linkrag_dagster.tokens import load_tokenizer

CL100K = load_tokenizer("cl100k_base")

Vectors = Callable[[Sequence[str]], NDArray[np.float64]]


def by_topic(*topics: str) -> Vectors:
    """A scorer: a text's vector counts the words of each topic."""

    def vectors(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([[1e-3 + text.count(topic) for topic in topics] for text in texts])

    return vectors


def source(text: str, *, scorer: Vectors | None = None, budget: int = 512, **settings: Any) -> Source:
    made = StrategySettings(**settings, budget=budget)
    return Source(text, parse(text), made, CL100K, None if scorer is None else as_scorer(scorer))


def cut(name: str, text: str, **settings: Any) -> Cutting:
    return comparison_strategy(name)(source(text, **settings))


def pieces(name: str, text: str, **settings: Any) -> Sequence[Piece]:
    return cut(name, text, **settings).pieces


def words(name: str, text: str, **settings: Any) -> list[str]:
    """What the pieces say."""
    return [text[p.start_char : p.end_char] for p in pieces(name, text, **settings)]


def chunks(
    name: str,
    text: str,
    *,
    title: str = "",
    header: bool = True,
    scorer: Vectors | None = None,
    **settings: Any,
) -> tuple[list[FinalChunk], list[Chunk], list[GapTrace]]:
    """Chunks of a text; every one keeps the contract of the export."""
    complete = resolve_settings({"tokenizer": "cl100k_base", "header": header, "strategy": name, **settings})
    made = Source(
        text, parse(text), complete.comparison, CL100K, None if scorer is None else as_scorer(scorer)
    )
    final, exported, trace = strategy_chunks(name, made, complete, None, title)
    assert check_final(final, [], text, complete, CL100K) == []
    assert check_chunks(exported, final, text, complete, CL100K, CL100K, None) == []
    return final, exported, trace
