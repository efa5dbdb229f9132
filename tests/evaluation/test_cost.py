"""Costs per 10,000 source tokens (ME-06)."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.cost import CostCounters, cost, latency


def test_rates_and_latencies() -> None:
    """ME-06: counters per 10,000 source tokens, rates over their own totals, latency by retriever."""
    one = CostCounters(
        source_tokens=4000, source_chunks=20, derived_chunks=2, core_tokens=3900, indexed_tokens=5000,
        header_tokens=600, scored_atoms=40, scorer_tokens=3000, requests=5, batches=8, retried_batches=1,
        documents=3, failed_documents=1, redeliveries=2, document_seconds=(1.0, 3.0),
        query_seconds={"dense": (0.1,)},
    )  # fmt: skip
    two = CostCounters(
        source_tokens=1000,
        batches=2,
        documents=1,
        document_seconds=(2.0,),
        query_seconds={"dense": (0.3,), "bm25": ()},
    )
    got = cost(one + two)
    assert got.source_tokens == 5000
    assert got.per_10k_source_tokens["source_chunks"] == 40.0
    assert got.per_10k_source_tokens["indexed_tokens"] == 10_000.0
    assert got.per_10k_source_tokens["core_tokens"] == 7800.0
    assert (got.retry_rate, got.failure_rate, got.redeliveries) == (0.1, 0.25, 2)
    assert got.document is not None
    assert (got.document.count, got.document.p50, got.document.p95) == (3, 2.0, pytest.approx(2.9))
    assert got.query["dense"] == latency([0.1, 0.3])
    assert got.query["bm25"] is None


def test_nothing_counted() -> None:
    """GO-04: empty denominators are undefined."""
    got = cost(CostCounters())
    assert set(got.per_10k_source_tokens.values()) == {None}
    assert (got.retry_rate, got.failure_rate, got.document) == (None, None, None)


def test_impossible_counts_are_refused() -> None:
    """ME-06: no count under 0, no more failures than tries."""
    with pytest.raises(ValueError, match="batches is -1"):
        cost(CostCounters(batches=-1))
    with pytest.raises(ValueError, match="2 of 1 documents failed"):
        cost(CostCounters(documents=1, failed_documents=2))


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=40))
def test_percentiles_equal_the_standard_library(seconds: list[float]) -> None:
    """ME-06: linear between the nearest two values."""
    got = latency(seconds)
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    assert got is not None
    assert (got.p50, got.p95) == (pytest.approx(cuts[9]), pytest.approx(cuts[18]))
