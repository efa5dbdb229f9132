"""Equivalence: what must be shown before two systems are called indistinguishable."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from linkrag_dagster.evaluation.statistics.arguments import open_share
from linkrag_dagster.evaluation.statistics.bootstrap import Mean, Method, paired_bootstrap


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether a mean difference lies within a margin.

    Attributes:
        difference: the mean difference `a − b`; None without any pair.
        low, high: its interval at level 1 − 2 · alpha; None with fewer than two clusters.
        margin: the largest difference that does not matter, in the metric's unit.
        alpha: the level of each of the two one-sided tests.
        equivalent: the interval lies strictly within ±margin. Where it does not, nothing is shown either way.
    """

    difference: float | None
    low: float | None
    high: float | None
    margin: float
    alpha: float
    equivalent: bool


def equivalence(
    a: Sequence[float | None],
    b: Sequence[float | None],
    margin: float,
    cluster: Sequence[Hashable] | None = None,
    *,
    mean: Mean = "micro",
    method: Method = "percentile",
    alpha: float = 0.05,
    resamples: int = 50_000,
    seed: int = 0,
) -> Equivalence:
    """Two one-sided tests (TOST) in the form of their interval: is |mean difference| below the margin?

    Both tests reject at alpha exactly where the 1 − 2 · alpha interval lies within the margin. A missing difference is
    not evidence of none: a wide interval shows nothing. The margin must be fixed before the results are seen.
    Source: D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987).

    Args:
        a, b, cluster, mean, method, resamples, seed: as in `paired_bootstrap`.
        margin: above 0, in the metric's unit.
        alpha: below ½.

    Raises:
        ValueError: as `paired_bootstrap`, or the margin is not a finite number above 0.
    """
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin is {margin!r}: give the largest difference that does not matter, above 0")
    if open_share("alpha", alpha) >= 0.5:
        raise ValueError(f"alpha is {alpha!r}: two one-sided tests need less than 0.5")
    result = paired_bootstrap(
        a, b, cluster, mean=mean, method=method, alpha=2 * alpha, resamples=resamples, seed=seed
    )
    within = (
        result.low is not None and result.high is not None and -margin < result.low and result.high < margin
    )
    return Equivalence(result.difference, result.low, result.high, margin, alpha, within)
