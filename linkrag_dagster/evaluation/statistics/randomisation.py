"""The paired randomisation test (sign-flip) for the mean difference."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from linkrag_dagster.evaluation.statistics.arguments import count
from linkrag_dagster.evaluation.statistics.pairs import pair_up

# Differences become whole numbers, this many in the sum of their magnitudes: equal sums are then equal
# whatever their order, and no sum overflows.
_GRID = 2**40
_MOST_SUMS = 2**18
_BLOCK = 2**20


def paired_randomisation(
    a: Sequence[float | None],
    b: Sequence[float | None],
    cluster: Sequence[Hashable] | None = None,
    *,
    resamples: int = 100_000,
    seed: int = 0,
) -> float | None:
    """How surprising so large a mean difference is where each unit's sign is a coin's.

    Two-sided: the share of all 2^units assignments of signs whose sum is at least as far from 0 as the observed one.
    Exact for up to 18 units, and for more where their differences take few values (as hits and misses do, where it is
    the sign test); otherwise `resamples` random assignments, and p = (1 + as extreme) / (1 + resamples), which never
    is 0. Sources: R. A. Fisher, The Design of Experiments (1935); E. J. G. Pitman (1937); for the 1:
    B. Phipson & G. K. Smyth (2010).

    Args:
        a, b: one value a question, in one order; None where undefined under both.
        cluster: one label a question; a cluster's signs flip together.
        resamples: random assignments where exact is too many, at least 1.
        seed: of the random assignments: the same gives the same p.

    Returns:
        The p-value; 1.0 where all differences are 0; None without any pair.

    Raises:
        ValueError: as `pair_up`, or `resamples` or `seed` is no count.
    """
    tries, source = count("resamples", resamples, 1), count("seed", seed)
    groups = pair_up(a, b, cluster).clusters
    if not groups:
        return None
    # Halved: the magnitudes of finite numbers may add up to more than a float holds.
    sums = np.array([math.fsum(value / 2 for value in group) / len(groups) for group in groups])
    scale = float(np.abs(sums).sum())
    if scale == 0:
        return 1.0
    units = np.rint(sums / scale * _GRID).astype(np.int64)
    # Each unit was rounded by up to half a step: as many steps apart may still be equal.
    observed = abs(int(units.sum())) - len(units)
    magnitudes = np.sort(np.abs(units[units != 0]))
    exact = _exact(magnitudes, observed)
    return exact if exact is not None else _sampled(magnitudes, observed, tries, source)


def _exact(magnitudes: npt.NDArray[np.int64], observed: int) -> float | None:
    """The p-value by the whole distribution of the sum; None where it has too many values."""
    values = np.zeros(1, dtype=np.int64)
    shares = np.ones(1)
    for magnitude in magnitudes:
        both = np.concatenate([values - magnitude, values + magnitude])
        values, places = np.unique(both, return_inverse=True)
        if len(values) > _MOST_SUMS:
            return None
        shares = np.bincount(places.ravel(), weights=np.concatenate([shares, shares]) / 2)
    return min(1.0, float(shares[np.abs(values) >= observed].sum()))


def _sampled(magnitudes: npt.NDArray[np.int64], observed: int, resamples: int, seed: int) -> float:
    generator = np.random.default_rng(seed)
    extreme = done = 0
    while done < resamples:
        rows = min(resamples - done, max(1, _BLOCK // len(magnitudes)))
        signs = generator.integers(0, 2, size=(rows, len(magnitudes)), dtype=np.int8).astype(bool)
        totals = 2 * np.where(signs, magnitudes, 0).sum(axis=1) - magnitudes.sum()
        extreme += int((np.abs(totals) >= observed).sum())
        done += rows
    return (1 + extreme) / (1 + resamples)
