"""Stage two of a comparison strategy, before its texts are scored: the counterpart of `FinalPlan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.chunking.records import FinalChunk, GapTrace
from linkrag_dagster.chunking.scorer import FunctionScorer
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.chunking.strategies.auto import choice_of
from linkrag_dagster.chunking.strategies.final import final_of, trace_of
from linkrag_dagster.chunking.strategies.pieces import Source
from linkrag_dagster.chunking.strategies.registry import comparison_strategy
from linkrag_dagster.chunking.strategy_settings import SCORED_STRATEGIES
from linkrag_dagster.tokens import TokenCounter, sentences


class StrategyPlan:
    """A document that a comparison strategy will cut.

    Attributes:
        texts: the different texts whose vectors it needs: its sentences under `percentile`, and under `auto` where that
            chooses it, else none.

    Args:
        source: text, elements, sizes, tokenizer.
        settings: of the chunking.
        counter: counts of that text, if it was tokenised already.
        scored: whether texts can be compared; without it `auto` takes what needs no scorer (ST-10).
    """

    def __init__(
        self,
        source: Source,
        settings: ChunkSettings,
        counter: TokenCounter | None = None,
        *,
        scored: bool = True,
    ) -> None:
        self._source = source
        self._settings = settings
        self._counter = counter
        text = source.text
        self._scored = scored and settings.uses_scorer
        compares = settings.strategy in SCORED_STRATEGIES or (
            self._scored and choice_of(source).strategy in SCORED_STRATEGIES
        )
        found = (text[start:end] for start, end in sentences(text)) if compares else ()
        self.texts: tuple[str, ...] = tuple(dict.fromkeys(found))

    def chunks(self, vectors: Mapping[str, NDArray[np.float64]]) -> tuple[list[FinalChunk], list[GapTrace]]:
        """The document's final chunks and the trace of its cuts.

        Args:
            vectors: of each of `texts`.
        """
        name, source = self._settings.strategy, self._source

        def known(texts: Sequence[str]) -> NDArray[np.float64]:
            return np.array([vectors[text] for text in texts])

        if self.texts or self._scored:
            source = replace(source, scorer=FunctionScorer(known, "known vectors", ""))
        cutting = comparison_strategy(name)(source)
        return final_of(cutting, name, source, self._settings, self._counter), trace_of(cutting)
