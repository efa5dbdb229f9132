"""Equivalence within a margin, and the word a comparison supports (SX-01)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkrag_dagster.evaluation.statistics import equivalence, paired_bootstrap, verdict

RNG = np.random.default_rng(2)
NOISE = RNG.normal(0, 0.1, 60).tolist()
NOTHING = [0.0] * 60


def test_the_interval_decides() -> None:
    """The 90 % interval of the bootstrap, within the margin or not."""
    wide = paired_bootstrap(NOISE, NOTHING, alpha=0.1)
    shown = equivalence(NOISE, NOTHING, 0.05)
    assert (shown.low, shown.high) == (wide.low, wide.high)
    assert wide.low is not None and wide.high is not None
    edge = max(-wide.low, wide.high)
    assert shown.equivalent
    assert not equivalence(NOISE, NOTHING, edge).equivalent
    assert equivalence(NOISE, NOTHING, edge * 1.001).equivalent


def test_few_data_show_nothing() -> None:
    """One question, one cluster, or none: the absence of a difference is not shown."""
    assert not equivalence([0.5], [0.5], 0.1).equivalent
    assert not equivalence([0.5, 0.5], [0.5, 0.5], 0.1, ["d", "d"]).equivalent
    assert not equivalence([], [], 0.1).equivalent


def test_refusals() -> None:
    """A margin is above 0; two one-sided tests need an alpha under a half."""
    for margin in (0.0, -0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="margin is"):
            equivalence([1.0], [1.0], margin)
    with pytest.raises(ValueError, match=r"alpha is 0\.5"):
        equivalence([1.0], [1.0], 0.1, alpha=0.5)


def test_verdicts() -> None:
    """SX-01: a ranking needs interval and corrected p; indistinguishable needs equivalence."""
    clear = paired_bootstrap([v + 0.3 for v in NOISE], NOTHING)
    reverse = paired_bootstrap(NOTHING, [v + 0.3 for v in NOISE])
    none = paired_bootstrap(NOISE, NOTHING)
    assert verdict(clear, corrected_p=0.001) == "better"
    assert verdict(reverse, corrected_p=0.001) == "worse"
    assert verdict(clear, corrected_p=0.0645) == "undecided"
    assert verdict(clear, corrected_p=None) == "undecided"
    assert verdict(none, corrected_p=0.01) == "undecided"
    assert verdict(none, corrected_p=0.8) == "undecided"
    shown, not_shown = equivalence(NOISE, NOTHING, 0.05), equivalence(NOISE, NOTHING, 0.001)
    assert verdict(none, corrected_p=0.8, shown_equivalent=shown) == "indistinguishable"
    assert verdict(none, corrected_p=0.8, shown_equivalent=not_shown) == "undecided"
    assert verdict(clear, corrected_p=0.001, shown_equivalent=shown) == "better"
    assert verdict(paired_bootstrap([], []), corrected_p=None) == "undecided"
    with pytest.raises(ValueError, match="corrected_p is 2"):
        verdict(clear, corrected_p=2)
