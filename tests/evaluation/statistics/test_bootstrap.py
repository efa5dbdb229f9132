"""The paired bootstrap over clusters (SX-01)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.statistics import paired_bootstrap
from linkrag_dagster.evaluation.statistics.bootstrap import Mean, Method

groups = st.lists(
    st.lists(st.integers(-20, 20).map(lambda i: i / 20), min_size=1, max_size=4), min_size=2, max_size=4
)


def _flat(by_cluster: list[list[float]]) -> tuple[list[float], list[float], list[int]]:
    new = [value for group in by_cluster for value in group]
    return new, [0.0] * len(new), [place for place, group in enumerate(by_cluster) for _ in group]


@given(groups, st.floats(0.01, 0.5))
def test_against_every_sample(by_cluster: list[list[float]], alpha: float) -> None:
    """Few clusters: mean, error and ends of all n^n samples, micro and macro."""
    samples = list(itertools.product(by_cluster, repeat=len(by_cluster)))
    means: dict[Mean, list[float]] = {
        "micro": [sum(map(sum, chosen)) / sum(map(len, chosen)) for chosen in samples],
        "macro": [sum(sum(g) / len(g) for g in chosen) / len(chosen) for chosen in samples],
    }
    for mean, all_means in means.items():
        got = paired_bootstrap(*_flat(by_cluster), mean=mean, alpha=alpha)
        assert got.exact and got.resamples == len(samples) and got.clusters == len(by_cluster)
        assert got.standard_error == pytest.approx(np.std(all_means), abs=1e-9)
        assert (got.low, got.high) == pytest.approx(
            tuple(np.quantile(all_means, [alpha / 2, 1 - alpha / 2])), abs=1e-9
        )


@given(groups, st.sampled_from(["percentile", "bca"]))
def test_a_mirror_turns_the_interval_round(by_cluster: list[list[float]], method: Method) -> None:
    """Who is called first changes the sign, nothing else; a shift shifts; the order of questions is nothing."""
    new, old, labels = _flat(by_cluster)
    got = paired_bootstrap(new, old, labels, method=method)
    turned = paired_bootstrap(old, new, labels, method=method)
    shifted = paired_bootstrap([v + 3 for v in new], old, labels, method=method)
    assert got.low is not None and got.high is not None
    assert (turned.low, turned.high) == pytest.approx((-got.high, -got.low), abs=1e-9)
    assert (shifted.low, shifted.high) == pytest.approx((got.low + 3, got.high + 3), abs=1e-9)
    assert paired_bootstrap(new[::-1], old, labels[::-1], method=method) == got


def test_drawn_samples() -> None:
    """Many clusters: seeded, the same in any order, and by the textbook's error of a mean."""
    rng = np.random.default_rng(5)
    new, old = rng.normal(0.1, 1, 80), [0.0] * 80
    got = paired_bootstrap(new.tolist(), old)
    assert not got.exact and got.resamples == 50_000
    assert got == paired_bootstrap(new[::-1].tolist(), old)
    assert got.low != paired_bootstrap(new.tolist(), old, seed=1).low
    error = new.std() / math.sqrt(80)
    assert got.standard_error == pytest.approx(error, rel=0.02)
    assert got.difference == pytest.approx(new.mean())
    assert (got.low, got.high) == pytest.approx(
        (new.mean() - 1.96 * error, new.mean() + 1.96 * error), abs=0.02
    )


def test_drawing_agrees_with_enumerating() -> None:
    """The same clusters by either way."""
    by_cluster = [[0.1], [0.5, 0.2], [-0.3, 0.0, 0.4], [0.9], [0.2, 0.25], [-0.1], [0.35, 0.0]]
    for method in ("percentile", "bca"):
        exact = paired_bootstrap(*_flat(by_cluster), method=method)
        drawn = paired_bootstrap(*_flat(by_cluster), method=method, resamples=1000, seed=3)
        assert exact.exact and not drawn.exact
        assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.05)


def test_clusters_widen_the_interval() -> None:
    """SX-01: copies of one question bring no information when they are clustered."""
    rng = np.random.default_rng(11)
    once = rng.normal(0.1, 1, 30).tolist()
    twice, needles = once * 2, list(range(30)) * 2
    single = paired_bootstrap(once, [0.0] * 30)
    clustered = paired_bootstrap(twice, [0.0] * 60, needles)
    naive = paired_bootstrap(twice, [0.0] * 60)
    assert clustered.standard_error == pytest.approx(single.standard_error)
    assert naive.standard_error is not None and single.standard_error is not None
    assert naive.standard_error == pytest.approx(single.standard_error / math.sqrt(2), rel=0.03)
    assert (clustered.pairs, clustered.clusters) == (60, 30)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_degenerate_data(method: Method) -> None:
    """No pair, one question, one cluster: no interval; all ties, or all alike: an interval of one point."""
    nothing = paired_bootstrap([None], [None], method=method)
    assert (nothing.difference, nothing.low, nothing.pairs, nothing.undefined) == (None, None, 0, 1)
    assert paired_bootstrap([], [], method=method).difference is None
    one = paired_bootstrap([1.0, 0.5], [0.0, 0.0], ["d", "d"], method=method)
    assert (one.difference, one.standard_error, one.low, one.high) == (0.75, None, None, None)
    for n in (4, 40):
        ties = paired_bootstrap([0.3] * n, [0.3] * n, method=method)
        assert (ties.difference, ties.standard_error, ties.low, ties.high) == (0.0, 0.0, 0.0, 0.0)
        alike = paired_bootstrap([0.3] * n, [0.1] * n, method=method)
        assert (alike.low, alike.high) == pytest.approx((0.2, 0.2))


def test_one_outlier_keeps_bca_within_the_samples() -> None:
    """A single win of many: strong skew, yet ends that some sample reaches."""
    got = paired_bootstrap([1.0] + [0.0] * 199, [0.0] * 200, method="bca")
    assert got.low is not None and got.high is not None
    assert 0 <= got.low <= 1 / 200 <= got.high <= 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mean": "median"}, "mean is 'median'"),
        ({"method": "t"}, "method is 't'"),
        ({"alpha": 0}, "alpha is 0"),
        ({"resamples": 0}, "resamples is 0"),
        ({"seed": 0.5}, r"seed is 0\.5"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    """An argument that cannot be is refused by name."""
    with pytest.raises(ValueError, match=words):
        paired_bootstrap([1.0], [0.0], **options)
