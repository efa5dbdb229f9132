"""The chunking strategies by name, and which of them takes which setting of its own.

Settings that are named nowhere here are common: every declaration may hold them, whatever its strategy. Those of
`semantic_depth_window` are among them, as its scorer is declared for a corpus and not for a strategy (SD-00), and
comparisons run it on corpora that are cut by another one; no row of another strategy depends on them (VE-01).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

CoarseStrategy = Literal["noop", "pack", "semantic_depth_window"]
"""How coarse chunks become final ones (S2-01, S2-03, SD-00)."""
ComparisonStrategy = Literal[
    "fixed",
    "recursive",
    "document_aware",
    "percentile",
    "header",
    "ablation_a",
    "ablation_b",
    "ablation_c",
    "ablation_d",
    "ablation_e",
    "ablation_f",
    "paragraph",
    "texttiling",
    "auto",
]
"""The strategies for comparison, which have no coarse chunks (ST-01 to ST-10)."""
Strategy = Literal[CoarseStrategy, ComparisonStrategy]

COMPARISON_STRATEGIES: tuple[str, ...] = get_args(ComparisonStrategy)
STRATEGIES: tuple[str, ...] = (*get_args(CoarseStrategy), *COMPARISON_STRATEGIES)
REFUSED_STRATEGIES = {
    "propositions": "propositions (ST-05) are rewritten by a language model, and none is configured here; "
    "for cuts by meaning take percentile or semantic_depth_window",
}
"""Names that are known and cannot be had, with what to do instead."""

_ABLATION = tuple(name for name in COMPARISON_STRATEGIES if name.startswith("ablation_"))
_SIZED = ("fixed", "recursive", "document_aware")

TAKEN_BY: Mapping[str, tuple[str, ...]] = {
    "size": (*_SIZED, "header", *_ABLATION, "auto"),
    # All six, though only three copy anything: one experiment, one declaration (ST-07).
    "overlap": (*_SIZED, *_ABLATION, "auto"),
    "unit": (*_SIZED, "auto"),
    "target": ("header", *_ABLATION),
    "compat": ("header",),
    "percentile": ("percentile", "auto"),
    "language": ("document_aware", "auto"),
    "derived": COMPARISON_STRATEGIES,
}
"""Settings that some strategies have and others do not → the strategies that read them. `auto` may choose any of
`fixed`, `recursive`, `document_aware`, `percentile` and `texttiling`, so it takes what they take."""


def takes(strategy: str, setting: str) -> bool:
    """Whether a strategy has a setting; every one has the common ones."""
    return setting not in TAKEN_BY or strategy in TAKEN_BY[setting]


def foreign_setting(strategy: str, setting: str) -> str | None:
    """What is wrong with a setting that its strategy would pass over, and what to do; None where nothing is.

    Args:
        strategy: one of `STRATEGIES`.
        setting: the name of one that was given a value.
    """
    if takes(strategy, setting):
        return None
    takers = TAKEN_BY[setting]
    named = "strategies for comparison" if takers == COMPARISON_STRATEGIES else ", ".join(_shortened(takers))
    return f"strategy {strategy} has no such setting; it belongs to {named}; leave it out, or change the strategy"


def _shortened(names: tuple[str, ...]) -> list[str]:
    """Names, the six of the ablation as one."""
    short = (f"{_ABLATION[0]} to {_ABLATION[-1]}" if name in _ABLATION else name for name in names)
    return list(dict.fromkeys(short))
