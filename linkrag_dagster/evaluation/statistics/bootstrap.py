"""The paired bootstrap over clusters: an interval for a mean difference (SX-01)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from linkrag_dagster.evaluation.statistics.arguments import count, open_share
from linkrag_dagster.evaluation.statistics.pairs import PairedDifferences, pair_up

Mean = Literal["micro", "macro"]
Method = Literal["percentile", "bca"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_BLOCK = 2**20
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairedBootstrap:
    """A mean difference `a − b` with its interval.

    Attributes:
        difference: the mean difference; None without any pair.
        standard_error: the standard deviation of the bootstrap's means; None with fewer than two clusters.
        low, high: the interval's ends; None with fewer than two clusters, since nothing then tells how they vary.
        alpha: 1 − the interval's level.
        mean: `micro`, every question weighs the same, or `macro`, every cluster does.
        method: `percentile` or `bca`.
        pairs, clusters: what was resampled.
        undefined: pairs left out since neither system has a value.
        resamples: samples drawn, or enumerated where `exact`.
        exact: all samples were enumerated: nothing depends on the seed.
    """

    difference: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    alpha: float
    mean: Mean
    method: Method
    pairs: int
    clusters: int
    undefined: int
    resamples: int
    exact: bool


def paired_bootstrap(
    a: Sequence[float | None],
    b: Sequence[float | None],
    cluster: Sequence[Hashable] | None = None,
    *,
    mean: Mean = "micro",
    method: Method = "percentile",
    alpha: float = 0.05,
    resamples: int = 50_000,
    seed: int = 0,
) -> PairedBootstrap:
    """The mean of `a − b` with a bootstrap interval that resamples whole clusters.

    All samples are enumerated where there are no more different ones than `resamples` (up to 9 clusters for 50,000),
    else `resamples` are drawn. Ends are quantiles by linear interpolation; `bca` corrects bias and skew by the
    jackknife over clusters. With few clusters (under about 20) either interval is too narrow: report their number.
    Sources: B. Efron & R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 14; over clusters:
    A. C. Davison & D. V. Hinkley, Bootstrap Methods and their Application (1997), section 3.8.

    Args:
        a, b: one value a question, in one order; None where undefined under both.
        cluster: one label a question: its needle or its document; None: each question is its own.
        mean: `micro` over questions, `macro` over clusters.
        method: how the interval's ends are found.
        alpha: 1 − level.
        resamples: samples to draw, at least 1.
        seed: of the samples: the same gives the same interval, in whatever order the questions stand.

    Raises:
        ValueError: as `pair_up`, or an argument that cannot be.
    """
    tries, source = count("resamples", resamples, 1), count("seed", seed)
    if mean not in ("micro", "macro"):
        raise ValueError(f"mean is {mean!r}: give 'micro' or 'macro'")
    if method not in ("percentile", "bca"):
        raise ValueError(f"method is {method!r}: give 'percentile' or 'bca'")
    open_share("alpha", alpha)
    pairs = pair_up(a, b, cluster)
    sums, sizes = _totals(pairs, mean)
    n = len(sums)
    difference = float(sums.sum() / sizes.sum()) if n else None
    error = low = high = None
    exact = False
    if difference is not None and n >= 2:
        exact = math.comb(2 * n - 1, n) <= tries
        means, ways = _enumerated(sums, sizes) if exact else _drawn(sums, sizes, tries, source)
        order = np.argsort(means, kind="stable")
        means, ways = means[order], ways[order]
        tries = int(ways.sum())
        centre = float(means @ ways) / tries
        error = math.sqrt(float((means - centre) ** 2 @ ways) / tries)
        ends = (alpha / 2, 1 - alpha / 2)
        if method == "bca":
            ends = _corrected_ends(ends, means, ways, difference, _acceleration(sums, sizes))
        low, high = (_quantile(means, ways, end) for end in ends)
    else:
        tries = 0
    return PairedBootstrap(
        difference, error, low, high, alpha, mean, method, pairs.pairs, n, pairs.undefined, tries, exact
    )


def _totals(pairs: PairedDifferences, mean: Mean) -> tuple[Floats, Floats]:
    """Numerator and denominator of each cluster: their sums over a sample divide to its mean."""
    sums = np.array([math.fsum(group) for group in pairs.clusters], dtype=np.float64)
    sizes = np.array([len(group) for group in pairs.clusters], dtype=np.float64)
    return (sums, sizes) if mean == "micro" else (sums / sizes, np.ones_like(sizes))


def _enumerated(sums: Floats, sizes: Floats) -> tuple[Floats, Counts]:
    """The mean of every different sample, and in how many orders it can be drawn."""
    n = len(sums)
    means: list[float] = []
    ways: list[int] = []
    for chosen in itertools.combinations_with_replacement(range(n), n):
        places = list(chosen)
        means.append(float(sums[places].sum() / sizes[places].sum()))
        orders = math.factorial(n)
        for _, same in itertools.groupby(chosen):
            orders //= math.factorial(len(list(same)))
        ways.append(orders)
    return np.array(means), np.array(ways, dtype=np.int64)


def _drawn(sums: Floats, sizes: Floats, resamples: int, seed: int) -> tuple[Floats, Counts]:
    """The means of random samples, each once."""
    generator = np.random.default_rng(seed)
    n = len(sums)
    blocks: list[Floats] = []
    done = 0
    while done < resamples:
        rows = min(resamples - done, max(1, _BLOCK // n))
        chosen = generator.integers(0, n, size=(rows, n))
        blocks.append(sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1))
        done += rows
    return np.concatenate(blocks), np.ones(resamples, dtype=np.int64)


def _quantile(means: Floats, ways: Counts, share: float) -> float:
    """The quantile of sorted means that stand `ways` times each, by linear interpolation."""
    upto = np.cumsum(ways)
    position = share * (int(upto[-1]) - 1)
    before = math.floor(position)
    left, right = (
        float(means[np.searchsorted(upto, min(place, int(upto[-1]) - 1), side="right")])
        for place in (before, before + 1)
    )
    return left + (right - left) * (position - before)


def _acceleration(sums: Floats, sizes: Floats) -> float:
    """The skew of the jackknife's means, a sixth of it: how fast the error changes with the mean."""
    means = (sums.sum() - sums) / (sizes.sum() - sizes)
    deviations = means.mean() - means
    spread = float(np.abs(deviations).max())
    if spread <= _ROUNDING * float(np.abs(means).max()):
        return 0.0
    # Scaled, since the third power of a small deviation is none.
    scaled = deviations / spread
    return float((scaled**3).sum()) / (6 * float((scaled**2).sum()) ** 1.5)


def _corrected_ends(
    ends: tuple[float, float], means: Floats, ways: Counts, difference: float, acceleration: float
) -> tuple[float, float]:
    """The shares at which BCa reads the ends; samples equal to the observed mean count half below it."""
    normal = NormalDist()
    near = _ROUNDING * float(np.abs(means).max())
    total = int(ways.sum())
    below = int(ways[means < difference - near].sum())
    equal = int(ways[np.abs(means - difference) <= near].sum())
    share = (below + equal / 2) / total
    bias = normal.inv_cdf(min(max(share, 0.5 / total), 1 - 0.5 / total))
    reached: list[float] = []
    for end in ends:
        z = bias + normal.inv_cdf(end)
        # Past its pole the correction turns round: the end is then the last sample.
        slope = 1 - acceleration * z
        reached.append(normal.cdf(bias + z / slope) if slope > 0 else float(z > 0))
    return reached[0], reached[1]
