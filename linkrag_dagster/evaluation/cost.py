"""What a strategy costs: counters and latencies of its runs, per 10,000 source tokens (ME-06)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

PER_TOKENS = 10_000


@dataclass(frozen=True, slots=True)
class CostCounters:
    """What a run counted; counters of several runs, or documents, add up.

    Attributes:
        source_tokens: tokens of the sources, in the experiment's tokenizer.
        source_chunks, derived_chunks: chunks exported.
        core_tokens: tokens of their contents, before overlap, neighbour context and headers.
        indexed_tokens: tokens of all that is indexed.
        header_tokens: the headers' share of `indexed_tokens`.
        scored_atoms, scorer_tokens: texts and tokens that boundary scoring embedded.
        requests, batches, retried_batches: calls of the scorer and the encoder, their batches, and batches sent again.
        documents, failed_documents, redeliveries: documents tried, failed, and tried again as a whole.
        document_seconds: processing time of each document.
        query_seconds: time of each query, by retriever; the reranker is one of them.
    """

    source_tokens: int = 0
    source_chunks: int = 0
    derived_chunks: int = 0
    core_tokens: int = 0
    indexed_tokens: int = 0
    header_tokens: int = 0
    scored_atoms: int = 0
    scorer_tokens: int = 0
    requests: int = 0
    batches: int = 0
    retried_batches: int = 0
    documents: int = 0
    failed_documents: int = 0
    redeliveries: int = 0
    document_seconds: tuple[float, ...] = ()
    query_seconds: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])

    def __add__(self, other: CostCounters) -> CostCounters:
        names = sorted({*self.query_seconds, *other.query_seconds})
        queries = {
            name: (*self.query_seconds.get(name, ()), *other.query_seconds.get(name, ())) for name in names
        }
        sums = {
            item.name: getattr(self, item.name) + getattr(other, item.name)
            for item in fields(self)
            if item.name != "query_seconds"
        }
        return CostCounters(**sums, query_seconds=queries)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds.

    Attributes:
        count: how many were measured.
        p50, p95: percentiles, linear between the two nearest values (Hyndman & Fan 1996, type 7).
    """

    count: int
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one strategy; each value is None where its denominator is empty.

    Attributes:
        source_tokens: what the rates refer to.
        per_10k_source_tokens: by counter of `CostCounters`, its amount per 10,000 source tokens.
        retry_rate: batches sent again over batches.
        failure_rate: failed documents over documents.
        redeliveries: documents tried again as a whole.
        document: latency a document.
        query: latency a query, by retriever.
    """

    source_tokens: int
    per_10k_source_tokens: Mapping[str, float | None]
    retry_rate: float | None
    failure_rate: float | None
    redeliveries: int
    document: Latency | None
    query: Mapping[str, Latency | None]


RATED = (
    "source_chunks",
    "derived_chunks",
    "core_tokens",
    "indexed_tokens",
    "header_tokens",
    "scored_atoms",
    "scorer_tokens",
    "requests",
    "batches",
)
"""Counters that are reported per 10,000 source tokens."""


def cost(counters: CostCounters) -> Cost:
    """Rates and percentiles of what was counted (`seeds/004`; ME-06).

    Raises:
        ValueError: a negative counter, more failed documents than documents, or more retried batches than batches.
    """
    for item in fields(counters):
        value = getattr(counters, item.name)
        if isinstance(value, int) and value < 0:
            raise ValueError(f"{item.name} is {value}: count from 0")
    if counters.failed_documents > counters.documents or counters.retried_batches > counters.batches:
        raise ValueError(
            f"{counters.failed_documents} of {counters.documents} documents failed, {counters.retried_batches} of "
            f"{counters.batches} batches were retried: count the tried ones too"
        )
    return Cost(
        source_tokens=counters.source_tokens,
        per_10k_source_tokens={
            name: _ratio(getattr(counters, name) * PER_TOKENS, counters.source_tokens) for name in RATED
        },
        retry_rate=_ratio(counters.retried_batches, counters.batches),
        failure_rate=_ratio(counters.failed_documents, counters.documents),
        redeliveries=counters.redeliveries,
        document=latency(counters.document_seconds),
        query={name: latency(seconds) for name, seconds in sorted(counters.query_seconds.items())},
    )


def latency(seconds: Sequence[float]) -> Latency | None:
    """Median and 95th percentile; None where nothing was measured."""
    if not seconds:
        return None
    p50, p95 = np.percentile(np.asarray(seconds, dtype=np.float64), (50, 95))
    return Latency(len(seconds), float(p50), float(p95))


def _ratio(count: int, total: int) -> float | None:
    return count / total if total else None
