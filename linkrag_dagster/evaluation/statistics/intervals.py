"""The interval of a rate (SX-01: every rate has one)."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import SupportsIndex

from linkrag_dagster.evaluation.statistics.arguments import count, open_share


def wilson(k: SupportsIndex, n: SupportsIndex, alpha: float = 0.05) -> tuple[float, float] | None:
    """Wilson's score interval for k successes in n trials, without correction for continuity.

    It holds its level for small n and for rates near 0 and 1, where the interval of Wald does not. The trials count as
    independent: for rates over several phrasings of one needle, count needles, or use `paired_bootstrap`.
    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).

    Args:
        k: successes.
        n: trials.
        alpha: 1 − level; 0.05 is the 95 % interval.

    Returns:
        `(low, high)`, both within [0, 1]; None for no trials.

    Raises:
        ValueError: k or n is no count, k is more than n, or alpha is not between 0 and 1.
    """
    successes, trials = count("k", k), count("n", n)
    z = NormalDist().inv_cdf(1 - open_share("alpha", alpha) / 2)
    if successes > trials:
        raise ValueError(f"k is {successes} of n = {trials}: there are no more successes than trials")
    if trials == 0:
        return None
    share, z2 = successes / trials, z * z
    scale = 1 + z2 / trials
    centre = (share + z2 / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    # At the ends the interval touches 0 or 1 exactly; rounding must not say otherwise.
    return (
        0.0 if successes == 0 else max(0.0, centre - half),
        1.0 if successes == trials else min(1.0, centre + half),
    )
