"""Corrections for many comparisons. Which comparisons belong together is said beforehand: see `Family`."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.evaluation.statistics.arguments import p_value


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down p-values: control the chance of one false rejection or more, under any dependence.

    The i-th smallest of m is multiplied by m − i + 1, never below its smaller neighbours, at most 1.
    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).

    Args:
        p: the p-values of one family.

    Returns:
        Adjusted p-values in the given order; empty for an empty family.

    Raises:
        ValueError: one is not from 0 to 1.
    """
    values = _checked(p)
    adjusted = [0.0] * len(values)
    reached = 0.0
    for place, index in enumerate(_ascending(values)):
        reached = max(reached, min(1.0, values[index] * (len(values) - place)))
        adjusted[index] = reached
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's step-up p-values: control the expected share of false rejections.

    The i-th smallest of m is multiplied by m / i, never above its larger neighbours, at most 1. Holds for independent
    or positively dependent tests. Source: Y. Benjamini & Y. Hochberg, J. R. Statist. Soc. B 57 (1995).

    Args:
        p: the p-values of one family.

    Returns:
        Adjusted p-values in the given order; empty for an empty family.

    Raises:
        ValueError: one is not from 0 to 1.
    """
    values = _checked(p)
    adjusted = [0.0] * len(values)
    reached = 1.0
    for rank, index in reversed(list(enumerate(_ascending(values), start=1))):
        reached = min(reached, values[index] * len(values) / rank)
        adjusted[index] = reached
    return adjusted


def _checked(p: Sequence[float]) -> list[float]:
    return [p_value(f"p-value {place}", value) for place, value in enumerate(p, start=1)]


def _ascending(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=values.__getitem__)
