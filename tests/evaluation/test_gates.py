"""Correctness gates and structural capabilities (ME-05)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.gates import (
    Capabilities,
    Correctness,
    GatedChunk,
    SourceDocument,
    capabilities,
    correctness,
)

DOCUMENT = SourceDocument("d", 100, ((0, 40), (42, 100)))


def _chunk(name: str, *spans: tuple[int, int], role: str = "source") -> GatedChunk:
    return GatedChunk(name, role, spans[0][0], spans[-1][1], spans)


def test_a_sound_document_passes() -> None:
    """ME-05: all source held, in order, inside the text."""
    got = correctness(DOCUMENT, [_chunk("c0", (0, 40)), _chunk("c1", (42, 100))])
    assert got == Correctness(98, 98, 0, 2, 2, 1, 1, ())
    assert got.passed
    assert (got.coverage, got.undeclared_share, got.mapped_share, got.ordered_share) == (1.0, 0.0, 1.0, 1.0)


def test_an_undeclared_loss_fails() -> None:
    """ME-05: one missing character fails the gate, unless it is declared."""
    chunks = [_chunk("c0", (0, 39)), _chunk("c1", (42, 100))]
    got = correctness(DOCUMENT, chunks)
    assert (got.covered, got.undeclared, got.failed, got.passed) == (97, 1, ("d",), False)
    declared = correctness(replace(DOCUMENT, declared_loss=((35, 42),)), chunks)
    assert (declared.covered, declared.declared, declared.undeclared) == (97, 1, 0)
    assert declared.passed
    assert declared.coverage == 97 / 98


def test_a_loss_of_no_token_fails_too() -> None:
    """ME-05: shares may be in tokens; the gate looks at characters."""

    def no_token(doc_id: str, version: str | None, start_char: int, end_char: int) -> int:
        return 0

    got = correctness(DOCUMENT, [_chunk("c0", (0, 39)), _chunk("c1", (42, 100))], no_token)
    assert (got.source, got.coverage, got.passed) == (0, None, False)


def test_derived_chunks_cover_no_source() -> None:
    """ME-05: a table's own chunk does not make up for its absence among the source chunks."""
    got = correctness(DOCUMENT, [_chunk("c0", (0, 40)), _chunk("t0", (42, 100), role="derived")])
    assert (got.covered, got.passed) == (40, False)


def test_order_and_mappability() -> None:
    """ME-05: a step back or a span outside the text fails; overlap does not."""
    whole = [_chunk("c0", (0, 60)), _chunk("c1", (50, 100))]
    assert correctness(DOCUMENT, whole).passed
    back = correctness(DOCUMENT, whole[::-1])
    assert (back.ordered_steps, back.steps, back.passed) == (0, 1, False)
    outside = correctness(DOCUMENT, [*whole, _chunk("c2", (90, 101))])
    assert (outside.mapped_share, outside.passed) == (2 / 3, False)
    inside = correctness(DOCUMENT, [_chunk("c0", (50, 100), (0, 60))])
    assert (inside.ordered_share, inside.passed) == (0.0, False)


def test_nothing_is_neither_right_nor_wrong() -> None:
    """GO-04: an empty document passes and has no shares."""
    got = correctness(SourceDocument("d", 0, ()), [])
    assert got.passed
    assert (got.coverage, got.mapped_share, got.ordered_share) == (None, None, None)
    assert set(capabilities(SourceDocument("d", 0, ()), []).shares.values()) == {None}


def test_documents_add_up() -> None:
    """ME-05: counts of a corpus are sums; one failed document fails it."""
    good = correctness(DOCUMENT, [_chunk("c0", (0, 100))])
    bad = correctness(replace(DOCUMENT, doc_id="e"), [])
    assert (good + good).passed
    total = bad + good + bad
    assert (total.source, total.covered, total.failed, total.passed) == (294, 98, ("e",), False)


def test_protected_elements() -> None:
    """ME-05: a cut inside and a controlled truncation are told apart; an overlap that holds it whole saves it."""
    document = replace(DOCUMENT, protected=((10, 30), (50, 70)))

    def shares(*chunks: GatedChunk) -> tuple[int, int, int]:
        got = capabilities(document, chunks)
        return got.protected, got.protected_cut, got.protected_truncated

    assert shares(_chunk("c0", (0, 40)), _chunk("c1", (42, 100))) == (2, 0, 0)
    assert shares(_chunk("c0", (0, 20)), _chunk("c1", (20, 100))) == (2, 1, 0)
    assert shares(_chunk("c0", (0, 20)), _chunk("c1", (5, 100))) == (2, 0, 0)
    short = replace(_chunk("c0", (0, 20)), truncated=True)
    assert shares(short, _chunk("c1", (42, 100))) == (2, 0, 1)
    # An edge at its border is no cut, and a rendered reference in its stead leaves it whole.
    assert shares(_chunk("c0", (0, 10), (30, 50)), _chunk("c1", (50, 100))) == (2, 0, 0)


def test_anchors_headings_and_lengths() -> None:
    """ME-05: each over its own total."""
    document = replace(DOCUMENT, headings=(((0, 5), (6, 40)), ((42, 50), (52, 100))))
    chunks = [
        replace(_chunk("c0", (0, 40)), length=90, limit=100),
        replace(_chunk("c1", (42, 51)), length=120, limit=100),
        replace(_chunk("c2", (51, 100)), length=150, limit=100, over_length_allowed=True),
        replace(_chunk("t0", (10, 20), role="derived"), source_chunk_id="c0", length=999),
        replace(_chunk("t1", (10, 20), role="derived"), source_chunk_id="c2"),
        replace(_chunk("t2", (10, 20), role="derived"), source_chunk_id="gone"),
        replace(_chunk("t3", (10, 20), role="derived"), truncated=True),
    ]
    got = capabilities(document, chunks)
    assert got == Capabilities(0, 0, 0, 7, 1, 4, 1, 2, 1, 3, 1)
    assert got.shares["derived_anchored"] == 0.25
    assert got.shares["headings_attached"] == 0.5
    assert got.shares["illegal_over_length"] == pytest.approx(1 / 3)
    assert got.shares["protected_cut"] is None
    assert (got + got).derived == 8


CUTS = st.sets(st.integers(1, 99), max_size=12)


@given(CUTS, st.lists(st.tuples(st.integers(0, 90), st.integers(1, 10)), max_size=8))
def test_a_partition_cuts_what_its_cuts_enter(cuts: set[int], places: list[tuple[int, int]]) -> None:
    """ME-05: any partition passes the gates; a protected span is cut exactly where a cut lies inside it."""
    protected = {(start, start + n) for start, n in places}
    document = SourceDocument("d", 100, ((0, 100),), protected=tuple(protected))
    edges = [0, *sorted(cuts), 100]
    chunks = [_chunk(f"c{a}", (a, b)) for a, b in pairwise(edges)]
    assert correctness(document, chunks).passed
    want = sum(any(start < cut < end for cut in cuts) for start, end in protected)
    assert capabilities(document, chunks).protected_cut == want
