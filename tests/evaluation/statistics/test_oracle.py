"""Every statistic against the values of reference libraries and of complete enumeration (SX-01)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linkrag_dagster.evaluation.statistics import (
    benjamini_hochberg,
    holm,
    paired_bootstrap,
    paired_randomisation,
    sign_test,
    wilson,
)
from linkrag_dagster.evaluation.statistics.bootstrap import Method

Case = dict[str, Any]


def _wilson(case: Case) -> None:
    assert wilson(case["k"], case["n"], case["alpha"]) == pytest.approx(
        (case["low"], case["high"]), abs=1e-12
    )


def _sign_test(case: Case) -> None:
    assert sign_test(case["wins"], case["losses"]) == pytest.approx(case["p"], abs=1e-12)
    if case["seed_quoted"] is not None:
        assert sign_test(case["wins"], case["losses"]) == pytest.approx(case["seed_quoted"], abs=0.006)


def _multiple_testing(case: Case) -> None:
    adjusted = {"holm": holm, "fdr_bh": benjamini_hochberg}[case["method"]](case["p"])
    assert adjusted == pytest.approx(case["adjusted"], abs=1e-12)
    assert [p <= 0.05 for p in adjusted] == case["reject"]


def _randomisation(case: Case) -> None:
    assert case["permutations"] == 2 ** len(case["diffs"])
    p = paired_randomisation(case["diffs"], [0.0] * len(case["diffs"]))
    assert p == pytest.approx(case["p"], abs=1e-12)


def _by_document(case: Case) -> None:
    values = [value for group in case["diffs_by_document"] for value in group]
    labels = [place for place, group in enumerate(case["diffs_by_document"]) for _ in group]
    micro = paired_bootstrap(values, [0.0] * len(values), labels)
    macro = paired_bootstrap(values, [0.0] * len(values), labels, mean="macro")
    assert micro.exact and macro.exact
    assert micro.clusters == len(case["diffs_by_document"])
    assert micro.resamples == micro.clusters**micro.clusters
    assert (micro.difference, micro.standard_error) == pytest.approx(
        (case["micro_mean"], case["micro_boot_se"])
    )
    assert (macro.difference, macro.standard_error) == pytest.approx(
        (case["macro_mean"], case["macro_boot_se"])
    )
    assert (micro.low, micro.high) == pytest.approx(case["micro_percentile_95"], abs=1e-12)


def _corrected(case: Case) -> None:
    zeros = [0.0] * len(case["x"])
    wanted: dict[Method, list[float]] = {"bca": case["bca95"], "percentile": case["percentile95"]}
    for method, ends in wanted.items():
        for seed in (0, 1):
            got = paired_bootstrap(case["x"], zeros, method=method, seed=seed)
            assert not got.exact
            assert (got.low, got.high) == pytest.approx(ends, abs=case["tolerance"])


CHECKS: dict[str, Callable[[Case], None]] = {
    "wilson": _wilson,
    "sign_test_two_sided_exact": _sign_test,
    "multiple_testing": _multiple_testing,
    "paired_randomisation_exact_two_sided": _randomisation,
    "paired_bootstrap_by_document_exact_enumeration": _by_document,
    "bca_mean": _corrected,
}


def test_oracle(shared: Path) -> None:
    """SX-01: every row of every kind; drawn intervals within the tolerance that the row states."""
    rows = (shared / "oracles" / "stats.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(row) for row in rows]
    assert {case["kind"] for case in cases} == set(CHECKS)
    for case in cases:
        CHECKS[case["kind"]](case)
