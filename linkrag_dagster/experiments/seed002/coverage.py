"""Which facts the selected chunks hold: `covered`, by the union of their spans (GO-02)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from linkrag_dagster.evaluation.records import EvidenceSpan
from linkrag_dagster.experiments.seed002.chunks import Chunk
from linkrag_dagster.experiments.seed002.fixture import Fact

Union = Mapping[tuple[str, str], list[tuple[int, int]]]
"""Disjoint spans in order, by document and version; no two of them touch."""


def union(chunks: Iterable[Chunk]) -> Union:
    """The source that chunks show, each place once; touching spans are one."""
    spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for chunk in sorted(chunks, key=lambda chunk: (chunk.start, chunk.end)):
        merged = spans.setdefault((chunk.doc_id, chunk.version), [])
        if merged and chunk.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], chunk.end))
        else:
            merged.append((chunk.start, chunk.end))
    return spans


def union_chars(shown: Union) -> int:
    """Code points of source shown."""
    return sum(end - start for spans in shown.values() for start, end in spans)


def covered(fact: Fact, shown: Union) -> bool:
    """Whether some group of the fact has all of its spans shown whole, each in its own document and version."""
    return any(all(_holds(span, shown) for span in group) for group in fact.groups)


def _holds(span: EvidenceSpan, shown: Union) -> bool:
    spans = shown.get((span.doc_id, span.version or ""), [])
    place = bisect_right(spans, span.start_char, key=lambda pair: pair[0]) - 1
    return place >= 0 and span.end_char <= spans[place][1]
