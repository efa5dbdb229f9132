"""What a comparison could have found: the smallest detectable effect, with its assumptions (SX-01)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from linkrag_dagster.evaluation.statistics.arguments import count, open_share
from linkrag_dagster.evaluation.statistics.sign_test import sign_test


@dataclass(frozen=True, slots=True)
class DetectableEffect:
    """The smallest true effect that the test finds with the given power.

    Attributes:
        effect: in the unit that the function says; None where no effect is large enough.
        alpha: the test's two-sided level, for the whole family.
        power: the chance to find the effect.
        comparisons: the size of the family; the level of one test is alpha / comparisons.
        assumptions: what the number rests on, to print beside it.
    """

    effect: float | None
    alpha: float
    power: float
    comparisons: int
    assumptions: str


def smallest_detectable_effect(
    standard_error: float | None, *, alpha: float = 0.05, power: float = 0.8, comparisons: int = 1
) -> DetectableEffect:
    """The smallest mean difference that a two-sided test finds: (z(1 − α/2m) + z(power)) · standard error.

    Source: J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2, for large samples.

    Args:
        standard_error: of the paired mean difference, from `paired_bootstrap` over the clusters; None where undefined.
        alpha, power: level of the family and chance to find, each between 0 and 1.
        comparisons: the size m of the family that the comparison is corrected with (Bonferroni's bound on Holm).

    Returns:
        The effect in the metric's own unit; None for an undefined standard error.

    Raises:
        ValueError: a negative or infinite standard error, or an argument that cannot be.
    """
    size, level = _checked(alpha, power, comparisons)
    effect = None
    if standard_error is not None:
        if not (math.isfinite(standard_error) and standard_error >= 0):
            raise ValueError(
                f"standard_error is {standard_error!r}: give a finite number of 0 or more, or None"
            )
        effect = (_quantile(1 - level / 2) + _quantile(power)) * standard_error
    return DetectableEffect(
        effect, alpha, power, size,
        "mean difference; normal sampling distribution; these clusters' standard error holds for the true effect; "
        f"two-sided level {alpha:g}{_shared(size)}; power {power:g}",
    )  # fmt: skip


def smallest_detectable_win_rate(
    discordant: int, *, alpha: float = 0.05, power: float = 0.8, comparisons: int = 1
) -> DetectableEffect:
    """The smallest share of wins among untied questions that the exact sign test finds.

    With w the fewest wins of n that reach the level, the smallest r ≥ ½ with P(Binomial(n, r) ≥ w) ≥ power.

    Args:
        discordant: wins + losses that the comparison has.
        alpha, power, comparisons: as in `smallest_detectable_effect`.

    Returns:
        The effect as a share of wins, ½ to 1; None where not even n wins of n reach the level (n < 6 at 0.05).

    Raises:
        ValueError: an argument that cannot be.
    """
    size, level = _checked(alpha, power, comparisons)
    n = count("discordant", discordant)
    needed = _fewest_wins(n, level)
    effect = None
    if needed is not None:
        low, high = 0.5, 1.0
        # The chance grows with the share: halve until doubles have no middle.
        while low < (middle := (low + high) / 2) < high:
            low, high = (low, middle) if _chance(n, needed, middle) >= power else (middle, high)
        effect = high
    return DetectableEffect(
        effect, alpha, power, size,
        f"share of wins among {n} untied, independent questions; exact sign test, "
        f"two-sided level {alpha:g}{_shared(size)}; power {power:g}",
    )  # fmt: skip


def _checked(alpha: float, power: float, comparisons: int) -> tuple[int, float]:
    open_share("power", power)
    size = count("comparisons", comparisons, 1)
    return size, open_share("alpha", alpha) / size


def _quantile(share: float) -> float:
    return NormalDist().inv_cdf(share)


def _shared(comparisons: int) -> str:
    return f" over {comparisons} comparisons" if comparisons > 1 else ""


def _fewest_wins(n: int, level: float) -> int | None:
    """The fewest wins of n that the sign test rejects; bisection, since p falls with the wins past the half."""
    if sign_test(n, 0) > level:
        return None
    accepted, rejected = n // 2, n
    while rejected - accepted > 1:
        middle = (accepted + rejected) // 2
        if sign_test(middle, n - middle) <= level:
            rejected = middle
        else:
            accepted = middle
    return rejected


def _chance(n: int, least: int, share: float) -> float:
    """P(Binomial(n, share) ≥ least), by logarithms: the terms alone leave a float's range."""
    win, loss = math.log(share), math.log1p(-share)
    whole = math.lgamma(n + 1)
    return math.fsum(
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * win + (n - k) * loss)
        for k in range(least, n + 1)
    )
