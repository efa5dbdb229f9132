"""The smallest detectable effect, with its assumptions (SX-01)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkrag_dagster.evaluation.statistics import (
    sign_test,
    smallest_detectable_effect,
    smallest_detectable_win_rate,
)


def test_the_textbooks_factor() -> None:
    """At 5 % and 80 % the effect is 2.80 standard errors; a family asks for more."""
    assert smallest_detectable_effect(0.018).effect == pytest.approx(0.018 * 2.8016, rel=1e-4)
    alone, of_ten = smallest_detectable_effect(1.0), smallest_detectable_effect(1.0, comparisons=10)
    assert alone.effect is not None and of_ten.effect is not None
    assert of_ten.effect == pytest.approx(2.8070 + 0.8416, rel=1e-4)
    assert alone.effect < of_ten.effect
    assert "over 10 comparisons" in of_ten.assumptions and "power 0.8" in of_ten.assumptions


def test_a_simulation_finds_the_effect_as_often_as_promised() -> None:
    """A true difference of that size is rejected in about 80 of 100 experiments."""
    effect = smallest_detectable_effect(1.0).effect
    assert effect is not None
    found = np.abs(np.random.default_rng(0).normal(effect, 1.0, 100_000)) > 1.959964
    assert found.mean() == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("n", "comparisons"), [(6, 1), (14, 1), (40, 6), (200, 1)])
def test_win_rate_by_its_definition(n: int, comparisons: int) -> None:
    """P(the sign test rejects for the better system) is the power at that rate, by plain counting."""
    result = smallest_detectable_win_rate(n, comparisons=comparisons)
    assert result.effect is not None and 0.5 < result.effect < 1
    rejected = [k for k in range(n + 1) if 2 * k > n and sign_test(k, n - k) <= 0.05 / comparisons]
    power = sum(math.comb(n, k) * result.effect**k * (1 - result.effect) ** (n - k) for k in rejected)
    assert power == pytest.approx(0.8, abs=1e-9)


def test_what_cannot_be_detected() -> None:
    """Five untied questions reach no level of 5 %; no error, no effect; no variation, an effect of 0."""
    assert smallest_detectable_win_rate(5).effect is None
    assert smallest_detectable_win_rate(0).effect is None
    assert smallest_detectable_effect(None).effect is None
    assert smallest_detectable_effect(0.0).effect == 0.0


def test_refusals() -> None:
    """What cannot be is refused by name."""
    for value in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="standard_error is"):
            smallest_detectable_effect(value)
    with pytest.raises(ValueError, match="power is 1"):
        smallest_detectable_effect(1.0, power=1)
    with pytest.raises(ValueError, match="comparisons is 0"):
        smallest_detectable_win_rate(10, comparisons=0)
    with pytest.raises(ValueError, match="discordant is -1"):
        smallest_detectable_win_rate(-1)
    with pytest.raises(ValueError, match="alpha is nan"):
        smallest_detectable_effect(1.0, alpha=math.nan)
