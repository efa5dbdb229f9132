"""The one word that a comparison supports (SX-01: no ranking is claimed that the interval does not support)."""

from __future__ import annotations

from typing import Literal

from linkrag_dagster.evaluation.statistics.arguments import p_value
from linkrag_dagster.evaluation.statistics.bootstrap import PairedBootstrap
from linkrag_dagster.evaluation.statistics.equivalence import Equivalence

Verdict = Literal["better", "worse", "indistinguishable", "undecided"]


def verdict(
    interval: PairedBootstrap, *, corrected_p: float | None, shown_equivalent: Equivalence | None = None
) -> Verdict:
    """Name a comparison's result.

    | interval | corrected p | equivalence | word |
    | --- | --- | --- | --- |
    | above 0 | at most alpha | any | better |
    | below 0 | at most alpha | any | worse |
    | otherwise | | shown | indistinguishable |
    | otherwise | | not shown, or not tested | undecided |

    Args:
        interval: of the mean difference; its alpha is the level.
        corrected_p: of the comparison's test, corrected over its `Family`; None where it has none: then nothing ranks.
        shown_equivalent: the equivalence test of the same values, where a margin was declared.

    Raises:
        ValueError: the p-value is not from 0 to 1.
    """
    significant = corrected_p is not None and p_value("corrected_p", corrected_p) <= interval.alpha
    if significant and interval.low is not None and interval.low > 0:
        return "better"
    if significant and interval.high is not None and interval.high < 0:
        return "worse"
    if shown_equivalent is not None and shown_equivalent.equivalent:
        return "indistinguishable"
    return "undecided"
