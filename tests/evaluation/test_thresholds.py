"""The threshold sweep, risk and coverage, AUROC (ME-07, GA-02)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk
from linkrag_dagster.evaluation.thresholds import (
    ANSWERABLE,
    GateCase,
    auroc,
    auroc_by_tier,
    nearest_distances,
    risk_coverage,
    sweep,
)

RIGHT = IndexedChunk("right", "a", ((0, 10),))
WRONG = IndexedChunk("wrong", "a", ((50, 60),))
EVIDENCE = ((EvidenceSpan("a", 2, 8),),)


def _answerable(name: str, *hits: tuple[bool, float]) -> GateCase:
    chunks = tuple(RIGHT if right else WRONG for right, _ in hits)
    return GateCase(name, ANSWERABLE, chunks, tuple(distance for _, distance in hits), EVIDENCE)


def _unanswerable(name: str, tier: str, *distances: float) -> GateCase:
    return GateCase(name, tier, (WRONG,) * len(distances), distances)


CASES = [
    _answerable("q1", (True, 0.2), (False, 0.3)),
    _answerable("q2", (False, 0.4), (True, 0.5)),
    _answerable("q3", (False, 0.3), (False, 0.35)),
    _unanswerable("far", "out_of_domain", 0.9),
    _unanswerable("near1", "near_miss", 0.25),
    _unanswerable("near2", "near_miss", 0.45),
    _unanswerable("none", "near_miss"),
]


def test_the_sweep() -> None:
    """ME-07: each cut's row and the row without a cut; tiers are counted apart."""
    rows = {row.cut: row for row in sweep(CASES, [0.5, 0.3, 0.3, 0.6])}
    assert list(rows) == [0.3, 0.5, 0.6, None]
    got = {
        cut: (
            row.answered,
            row.correct,
            row.abandoned,
            row.bluffed["near_miss"],
            row.bluffed["out_of_domain"],
        )
        for cut, row in rows.items()
    }
    assert got == {
        0.3: (1, 1, 2, 1, 0),
        # Under the cut, not at it: the right chunk of q2 lies at .5.
        0.5: (3, 1, 0, 2, 0),
        0.6: (3, 2, 0, 2, 0),
        None: (3, 2, 0, 2, 1),
    }
    assert rows[None].unanswerable == {"near_miss": 3, "out_of_domain": 1}
    assert rows[None].answerable == 3


def test_at_most_k_chunks_are_kept() -> None:
    """GA-01: in the retriever's order, of those under the cut."""
    case = _answerable("q", (False, 0.9), (False, 0.2), (True, 0.3))
    assert case.kept(None, 2) == (0, 1)
    assert case.kept(0.5, 2) == (1, 2)
    rows = sweep([case], [0.5], k=2)
    assert [row.correct for row in rows] == [1, 0]


def test_all_evidence_makes_an_answer_right() -> None:
    """ME-07: half of the required spans is not the answer; joined halves are where joining counts."""
    two = ((EvidenceSpan("a", 2, 8), EvidenceSpan("a", 70, 75)),)
    assert sweep([GateCase("q", ANSWERABLE, (RIGHT,), (0.1,), two)], [])[0].correct == 0
    halves = (RIGHT, IndexedChunk("next", "a", ((10, 20),)))
    case = GateCase("q", ANSWERABLE, halves, (0.1, 0.2), ((EvidenceSpan("a", 5, 15),),))
    assert sweep([case], [])[0].correct == 0
    assert sweep([case], [], mode="covered")[0].correct == 1


def test_distances_and_auroc_by_tier() -> None:
    """ME-07: both distributions; nothing retrieved is infinitely far."""
    assert nearest_distances(CASES) == {
        "answerable": [0.2, 0.3, 0.4],
        "near_miss": [0.25, 0.45, math.inf],
        "out_of_domain": [0.9],
    }
    assert auroc_by_tier(CASES) == {"near_miss": pytest.approx(7 / 9), "out_of_domain": 1.0}
    assert auroc_by_tier(CASES[3:]) == {"near_miss": None, "out_of_domain": None}


def test_risk_and_coverage() -> None:
    """ME-07: answered by rising distance; of two at .3, in either order, their mean counts."""
    cases = [
        _answerable("q1", (True, 0.1)),
        _answerable("q2", (True, 0.3)),
        _unanswerable("u1", "near_miss", 0.3),
        _unanswerable("u2", "near_miss"),
        _unanswerable("u3", "out_of_domain", 0.0),
    ]
    curve = risk_coverage(cases, "near_miss")
    assert [(p.distance, p.coverage, p.risk) for p in curve.points] == [
        (0.1, 0.25, 0.0),
        (0.3, 0.75, pytest.approx(1 / 3)),
    ]
    assert curve.area == pytest.approx((0 + 0.5 / 2 + 1 / 3) / 3)
    assert risk_coverage(cases[::-1], "near_miss") == curve
    assert risk_coverage(cases).area == 0.0
    assert risk_coverage([], "near_miss").area is None


def test_bad_input_is_refused() -> None:
    """GO-04: by name."""
    with pytest.raises(ValueError, match="question 'q': 0 distances for 1 chunks"):
        GateCase("q", ANSWERABLE, (RIGHT,), (), EVIDENCE)
    with pytest.raises(ValueError, match="question 'q' is answerable but has no evidence"):
        GateCase("q", ANSWERABLE, (RIGHT,), (0.1,))
    with pytest.raises(ValueError, match="question 'q': a distance is not a number"):
        GateCase("q", "near_miss", (RIGHT,), (math.nan,))
    with pytest.raises(ValueError, match="question 'q' comes twice"):
        sweep([_answerable("q"), _answerable("q")], [])
    with pytest.raises(ValueError, match="k is 0"):
        sweep([], [], k=0)
    with pytest.raises(ValueError, match="k is 0"):
        risk_coverage([], k=0)


DISTANCES = st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=1, max_size=12)


@given(DISTANCES, DISTANCES)
def test_auroc_against_all_pairs(own: list[float], others: list[float]) -> None:
    """ME-07: the share of pairs in the right order, ties half."""
    wins = sum((a < b) + (a == b) / 2 for a in own for b in others)
    got = auroc(own, others)
    assert got is not None
    assert got == pytest.approx(wins / (len(own) * len(others)))
    assert got + (auroc(others, own) or 0.0) == pytest.approx(1.0)


@given(st.lists(st.tuples(st.booleans(), DISTANCES), max_size=8), DISTANCES)
def test_a_looser_cut_answers_more(parts: list[tuple[bool, list[float]]], cuts: list[float]) -> None:
    """ME-07: answers and bluffs rise with the cut, up to the row without one."""
    cases = [
        _answerable(f"q{i}", *((j == 0, d) for j, d in enumerate(distances)))
        if answerable
        else _unanswerable(f"q{i}", "near_miss", *distances)
        for i, (answerable, distances) in enumerate(parts)
    ]
    rows = sweep(cases, cuts)
    for counts in (
        [row.answered for row in rows],
        [-row.abandoned for row in rows],
        [row.bluffed.get("near_miss", 0) for row in rows],
    ):
        assert counts == sorted(counts)
    assert all(row.correct <= row.answered <= row.answerable for row in rows)
