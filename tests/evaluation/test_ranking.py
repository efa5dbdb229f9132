"""Ranking metrics against their oracle, trec_eval, and their definitions (ME-02)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.ranking import (
    mrr,
    ndcg,
    ndcg_of_new_evidence,
    precision,
    rank_by_score,
    recall,
    unjudged,
)
from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk


def _value(name: str, ranked: list[str], qrels: dict[str, int]) -> float | None:
    """The oracle's `metric@k`, or `precision@k_retrieved`."""
    metric, _, depth = name.partition("@")
    k, _, retrieved = depth.partition("_")
    if retrieved:
        return precision(ranked, qrels, int(k), of_retrieved=True)
    return {"ndcg": ndcg, "mrr": mrr, "recall": recall, "precision": precision}[metric](ranked, qrels, int(k))


def test_oracle(shared: Path) -> None:
    """ME-02: rankings and scored lists, ties and undefined values included."""
    lines = (shared / "oracles" / "ir_metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] in ("ranked_list", "scored")]
    assert len(rows) >= 54
    for row in rows:
        if row["kind"] == "scored":
            assert rank_by_score(row["scores"]) == row["ranked"], row["id"]
        for name, want in row["expected"].items():
            got = _value(name, row["ranked"], row["qrels"])
            expected = want if want is None else pytest.approx(want, abs=1e-9, rel=0)
            assert got == expected, (row["id"], row["case"], name)


IDS = st.sampled_from([f"d{i}" for i in range(12)])
RANKINGS = st.lists(IDS, unique=True, max_size=12)
QRELS = st.dictionaries(IDS, st.integers(0, 3), max_size=8)


@given(RANKINGS, QRELS, st.integers(1, 15))
def test_ranges(ranked: list[str], qrels: dict[str, int], k: int) -> None:
    """ME-02, GO-04: every value lies in [0, 1]; without relevant documents all but precision are undefined."""
    values = [ndcg(ranked, qrels, k), mrr(ranked, qrels, k), recall(ranked, qrels, k)]
    if any(qrels.values()):
        assert all(value is not None and 0 <= value <= 1 + 1e-12 for value in values)
    else:
        assert values == [None, None, None]
        assert precision(ranked, qrels, k) == 0.0


@given(RANKINGS, QRELS, st.integers(1, 15))
def test_the_ideal_ranking_is_best(ranked: list[str], qrels: dict[str, int], k: int) -> None:
    """ME-02: nDCG is 1 where judged documents stand by falling grade, and no ranking beats that."""
    if any(qrels.values()):
        assert ndcg(sorted(qrels, key=lambda d: -qrels[d]), qrels, k) == pytest.approx(1.0)


@given(RANKINGS, QRELS, st.integers(1, 14))
def test_recall_grows_with_depth(ranked: list[str], qrels: dict[str, int], k: int) -> None:
    """ME-02: what is found in the first k is found in the first k + 1."""
    if (shallow := recall(ranked, qrels, k)) is not None:
        assert shallow <= (recall(ranked, qrels, k + 1) or 0.0)


def test_a_repeated_result_gains_once() -> None:
    """ME-02: it keeps its place and adds nothing there, so that repeating a hit never helps."""
    qrels = {"a": 2, "b": 1}
    assert recall(["a", "a", "b"], qrels, 2) == 0.5
    assert precision(["a", "a", "b"], qrels, 3) == pytest.approx(2 / 3)
    assert ndcg(["a", "a", "b"], qrels, 3) == pytest.approx((3 + 1 / 2) / (3 + 1 / math.log2(3)))
    assert mrr(["x", "x", "a"], qrels, 3) == pytest.approx(1 / 3)


def test_an_empty_ranking() -> None:
    """ME-02, GO-04: it finds nothing, which is 0 where there was something to find."""
    assert [metric([], {"a": 1}, 5) for metric in (ndcg, mrr, recall, precision)] == [0.0] * 4
    assert precision([], {"a": 1}, 5, of_retrieved=True) is None
    assert unjudged([], {"a": 1}, 5) is None


def test_unjudged_results() -> None:
    """ME-02: judged as not relevant is judged."""
    assert unjudged(["a", "b", "c"], {"a": 0, "c": 2}, 2) == 0.5


def test_ties_follow_the_id() -> None:
    """ME-02: falling score, rising id, whatever the order of insertion."""
    assert rank_by_score({"b": 1.0, "a": 1.0, "c": 2.0}) == ["c", "a", "b"]


def test_a_depth_of_nothing_is_refused() -> None:
    """ME-02: k starts at 1."""
    for metric in (ndcg, mrr, recall, precision, unjudged):
        with pytest.raises(ValueError, match="k is 0"):
            metric(["a"], {"a": 1}, 0)
    with pytest.raises(ValueError, match="k is 0"):
        ndcg_of_new_evidence([], [], 0)


def _chunk(*spans: tuple[int, int]) -> IndexedChunk:
    return IndexedChunk("", "d", spans)


def test_new_evidence_counts_once() -> None:
    """ME-02: two units, found at ranks 1 and 3; the repetition at rank 2 gains nothing."""
    evidence = [EvidenceSpan("d", 0, 5), EvidenceSpan("d", 20, 25)]
    ranked = [_chunk((0, 10)), _chunk((0, 12)), _chunk((20, 30))]
    assert ndcg_of_new_evidence(ranked, evidence) == pytest.approx((1 + 1 / math.log2(4)) / 2)
    assert ndcg_of_new_evidence(ranked, evidence, 2) == 0.5
    assert ndcg_of_new_evidence([_chunk((0, 30))], evidence) == 1.0
    assert ndcg_of_new_evidence(ranked, []) is None
    assert ndcg_of_new_evidence([], evidence) == 0.0


def test_new_evidence_joined_or_alone() -> None:
    """ME-02, GO-02: a unit cut in two is gained where its second half comes, if joining counts."""
    ranked = [_chunk((0, 10)), _chunk((40, 50)), _chunk((10, 20))]
    evidence = [EvidenceSpan("d", 8, 12)]
    assert ndcg_of_new_evidence(ranked, evidence) == 0.0
    assert ndcg_of_new_evidence(ranked, evidence, mode="covered") == pytest.approx(1 / math.log2(4))


def test_the_best_alternative_counts() -> None:
    """ME-02, GO-02: of two support groups, the one that ranks better."""
    groups = [[EvidenceSpan("d", 0, 5), EvidenceSpan("d", 50, 55)], [EvidenceSpan("d", 20, 25)]]
    ranked = [_chunk((0, 10)), _chunk((20, 30))]
    assert ndcg_of_new_evidence(ranked, groups) == pytest.approx(1 / math.log2(3))


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=8), st.randoms(use_true_random=False)
)
def test_new_evidence_has_one_ideal_for_all_strategies(parts: list[tuple[int, int]], random: Any) -> None:
    """ME-02: 1 exactly where the first chunk returns all evidence, however the strategy cuts."""
    evidence = [EvidenceSpan("d", start, start + 3) for start in random.sample(range(40), 3)]
    ranked = [_chunk((start, start + length)) for start, length in parts]
    value = ndcg_of_new_evidence(ranked, evidence, 8)
    assert value is not None
    assert 0 <= value <= 1
    whole = bool(ranked) and all(
        ranked[0].spans[0][0] <= span.start_char and span.end_char <= ranked[0].spans[0][1]
        for span in evidence
    )
    assert (value == 1) == whole


@given(st.dictionaries(IDS, st.integers(0, 2), min_size=1, max_size=8), RANKINGS.filter(bool))
def test_trec_eval_agrees(qrels: dict[str, int], ranked: list[str]) -> None:
    """ME-02: trec_eval's measures, where it is installed; its nDCG is linear, so grades become gains."""
    pytrec: Any = pytest.importorskip("pytrec_eval")
    if not any(qrels.values()):
        return
    gains = {item: 2**grade - 1 for item, grade in qrels.items()}
    run = {"q": {item: float(len(ranked) - rank) for rank, item in enumerate(ranked)}}
    names = {"ndcg_cut.5,10", "recall.5,10", "P.5,10", "recip_rank"}
    got = pytrec.RelevanceEvaluator({"q": gains}, names).evaluate(run)["q"]
    for k in (5, 10):
        assert ndcg(ranked, qrels, k) == pytest.approx(got[f"ndcg_cut_{k}"], abs=1e-9)
        assert recall(ranked, qrels, k) == pytest.approx(got[f"recall_{k}"], abs=1e-9)
        assert precision(ranked, qrels, k) == pytest.approx(got[f"P_{k}"], abs=1e-9)
    assert mrr(ranked, qrels, 20) == pytest.approx(got["recip_rank"], abs=1e-9)
