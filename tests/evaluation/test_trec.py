"""TREC run and qrels files: written, read, and ranked alike by other tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.ranking import ndcg
from linkrag_dagster.evaluation.trec import read_qrels, read_run, write_qrels, write_run

NAMES = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=4)
RUNS = st.dictionaries(
    NAMES,
    st.dictionaries(NAMES, st.floats(-1e30, 1e30), min_size=1, max_size=8).map(
        lambda scores: sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    ),
    max_size=4,
)


def test_forms() -> None:
    """The two standard line formats."""
    assert write_run({"q2": [("c", 0.5)], "q1": [("b", 2.0), ("a", 1.0)]}, "dense") == (
        "q1 Q0 b 1 2.0e+00 dense\nq1 Q0 a 2 1.0e+00 dense\nq2 Q0 c 1 5.0e-01 dense\n"
    )
    assert write_qrels({"q2": {"c": 0}, "q1": {"b": 2, "a": 1}}) == "q1 0 a 1\nq1 0 b 2\nq2 0 c 0\n"
    assert write_run({}, "t") == write_qrels({}) == ""


@given(RUNS)
def test_a_run_read_again_is_the_same_ranking(run: dict[str, list[tuple[str, float]]]) -> None:
    """Ties and near ties included: written scores fall strictly, so no tool's rule for ties is asked."""
    found = read_run(write_run(run, "t"))
    assert {q: [item for item, _ in ranking] for q, ranking in found.items()} == {
        q: [item for item, _ in ranking] for q, ranking in run.items()
    }
    for ranking in found.values():
        scores = [score for _, score in ranking]
        assert scores == sorted(set(scores), reverse=True)


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(-1, 3), min_size=1), max_size=4))
def test_qrels_read_again_are_the_same(qrels: dict[str, dict[str, int]]) -> None:
    """Grades of 0 included: judged is not the same as unjudged."""
    assert read_qrels(write_qrels(qrels)) == qrels


def test_scores_are_kept_where_they_fall() -> None:
    """A tie goes to the next 32-bit float below; what falls already stays."""
    written = read_run(write_run({"q": [("z", 0.5), ("a", 0.5), ("b", 0.25)]}, "t"))["q"]
    assert [item for item, _ in written] == ["z", "a", "b"]
    assert (written[0][1], written[2][1]) == (0.5, 0.25)
    assert written[1][1] == pytest.approx(0.5, rel=1e-6)


def test_reading_orders_by_score_then_id() -> None:
    """Ranks and the file's order are nothing; blank lines and tabs are white space."""
    text = "q Q0 b 1 1.0 t\n\nq\tQ0\tc\t2\t2.0\tt\nq Q0 a 3 1.0 t"
    assert read_run(text) == {"q": [("c", 2.0), ("a", 1.0), ("b", 1.0)]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q Q0 a 1 1.0", "line 1 has 5 fields"),
        ("\nq Q0 a one 1.0 t", "line 2: rank 'one'"),
        ("q Q0 a 1 high t", "line 1: score 'high'"),
        ("q Q0 a 1 nan t", "line 1: score 'nan' is not finite"),
        ("q Q0 a 1 2 t\nq Q0 a 2 1 t", "line 2: question 'q' returns 'a' twice"),
    ],
)
def test_bad_runs_are_refused(text: str, said: str) -> None:
    """With the line's number."""
    with pytest.raises(ValueError, match=said):
        read_run(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q 0 a", "line 1 has 3 fields"),
        ("q 0 a 1.5", "line 1: grade '1.5'"),
        ("q 0 a 1\nq 0 a 2", "line 2: question 'q' judges 'a' twice"),
    ],
)
def test_bad_qrels_are_refused(text: str, said: str) -> None:
    """With the line's number."""
    with pytest.raises(ValueError, match=said):
        read_qrels(text)


@pytest.mark.parametrize("name", ["", " a", "a b", "a\u00a0b", "a\n"])
def test_names_with_white_space_are_refused(name: str) -> None:
    """White space separates the fields."""
    for run, tag in (({name: [("a", 1.0)]}, "t"), ({"q": [(name, 1.0)]}, "t"), ({}, name)):
        with pytest.raises(ValueError, match="white space"):
            write_run(run, tag)
    for qrels in ({name: {"a": 1}}, {"q": {name: 1}}):
        with pytest.raises(ValueError, match="white space"):
            write_qrels(qrels)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), 1e39])
def test_scores_that_are_no_float_are_refused(score: float) -> None:
    """trec_eval reads 32-bit floats."""
    with pytest.raises(ValueError, match="not a finite 32-bit float"):
        write_run({"q": [("a", score)]}, "t")


def test_a_result_twice_is_refused() -> None:
    """A run names each result once."""
    with pytest.raises(ValueError, match="question 'q' returns 'a' twice"):
        write_run({"q": [("a", 2.0), ("a", 1.0)]}, "t")


def test_trec_eval_sees_our_ranking() -> None:
    """With ties that it would turn round by its own rule, where it is installed."""
    pytrec: Any = pytest.importorskip("pytrec_eval")
    ranked = [f"d{i}" for i in range(8)]
    qrels = {"d1": 1, "d2": 1, "d6": 1}
    run = {q: dict(rows) for q, rows in read_run(write_run({"q": [(d, 1.0) for d in ranked]}, "t")).items()}
    got = pytrec.RelevanceEvaluator({"q": qrels}, {"ndcg_cut.5"}).evaluate(run)["q"]["ndcg_cut_5"]
    assert got == pytest.approx(ndcg(ranked, qrels, 5))
