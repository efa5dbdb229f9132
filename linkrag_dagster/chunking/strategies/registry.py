"""The comparison strategies by name (ST-01 to ST-10)."""

from __future__ import annotations

from linkrag_dagster.choices.strategies import COMPARISON_STRATEGIES, REFUSED_STRATEGIES
from linkrag_dagster.chunking.strategies.ablation import ABLATIONS
from linkrag_dagster.chunking.strategies.auto import auto
from linkrag_dagster.chunking.strategies.document_aware import document_aware
from linkrag_dagster.chunking.strategies.fixed import fixed
from linkrag_dagster.chunking.strategies.header import header
from linkrag_dagster.chunking.strategies.paragraph import paragraph
from linkrag_dagster.chunking.strategies.percentile import percentile
from linkrag_dagster.chunking.strategies.pieces import Strategy
from linkrag_dagster.chunking.strategies.recursive import recursive
from linkrag_dagster.chunking.strategies.texttiling import texttiling

_STRATEGIES: dict[str, Strategy] = {
    "fixed": fixed,
    "recursive": recursive,
    "document_aware": document_aware,
    "percentile": percentile,
    "header": header,
    **ABLATIONS,
    "paragraph": paragraph,
    "texttiling": texttiling,
    "auto": auto,
}


def comparison_strategy(name: str) -> Strategy:
    """The strategy of that name.

    Raises:
        ValueError: there is none, or it cannot be had here.
    """
    if name in REFUSED_STRATEGIES:
        raise ValueError(REFUSED_STRATEGIES[name])
    if name not in _STRATEGIES:
        raise ValueError(f"strategy {name!r} is not available; there are {', '.join(COMPARISON_STRATEGIES)}")
    return _STRATEGIES[name]
