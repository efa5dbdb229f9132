"""`linkrag evaluate --compare`: what it asks for, what it prints, how it ends (SX-02, ME-05)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from linkrag_dagster.cli.compare import as_object, names, show
from linkrag_dagster.cli.main import linkrag
from linkrag_dagster.evaluation.comparison import compare
from linkrag_dagster.evaluation.records import EvidenceSpan, Question
from linkrag_dagster.stages.set_comparison import COMPARED_METRIC, SHOWN, Contender, Figure, SetComparison

RUNS = ("dense", "bm25", "rrf")


def contender(label: str, kind: str, value: float, **facts: int) -> Contender:
    """A chunker whose figures are all the same."""
    figures = {run: {metric: Figure(value, value - 0.1, value + 0.1) for metric in SHOWN} for run in RUNS}
    counts = {"chunks": 10, "chunk_tokens": 1230, "lost_characters": 0, "documents_failing_gates": 0, **facts}
    gates = {
        "correctness": {"source": 2000, "covered": 2000 - counts["lost_characters"]},
        "capabilities": {"protected": 8, "protected_cut": 3, "headings": 5, "headings_attached": 4},
    }
    return Contender(label, kind, "128", "f" * 32, False, counts, Figure(0.25, None, None), figures, gates)


@pytest.fixture
def found() -> SetComparison:
    """Ours, a sound peer and one that loses source."""
    questions = [Question(f"q{n}", "?", ((EvidenceSpan("d", n, n + 1),),)) for n in range(12)]
    values = {
        f"{run} {label}": {COMPARED_METRIC: {q.question_id: value for q in questions}}
        for run in RUNS
        for label, value in (("pack", 0.5), ("good", 1.0))
    }
    rows = compare(
        values, questions, pairs=[(f"{run} pack", f"{run} good") for run in RUNS], metrics=(COMPARED_METRIC,)
    )
    lossy = contender(
        "lossy",
        "peer",
        1.0,
        lost_characters=1234,
        documents_failing_gates=2,
        inexact_chunks=3,
        truncated_chunks=4,
    )
    chunkers = (contender("pack", "ours", 0.5), contender("good", "peer", 1.0), lossy)
    return SetComparison(
        "harbour", 12, chunkers, dict.fromkeys(RUNS, "good"), tuple(rows), {"gone": "pip install x"}
    )


def test_what_is_printed(found: SetComparison, capsys: pytest.CaptureFixture[str]) -> None:
    """A row a chunker and retriever, what voids one, and ours against the best peer with the verdict."""
    show(found)
    told = capsys.readouterr()
    assert "harbour: 12 questions" in told.out
    assert "0.500 [0.40, 0.60]" in told.out and "123" in told.out and "0.250" in told.out
    assert "lossy: void: 1,234 characters of 2 documents" in told.out
    assert "lossy: 3 chunks are not in the source" in told.out
    assert "beginning alone of 4 chunks" in told.out
    assert told.out.count("-0.500 [-0.50, -0.50]") == 3 and "0/12/0" in told.out and "worse" in told.out
    assert "gone is left out: pip install x" in told.err
    # ME-05: both kinds of gates, every chunker.
    assert "protected cut" in told.out and told.out.count("3/8") == told.out.count("4/5") == 3
    assert told.out.count("100.00%") == 2 and "38.30%" in told.out and told.out.count("pass") == 2


def test_the_object(found: SetComparison) -> None:
    """`--json`: everything, with what follows from the counts."""
    told = json.loads(json.dumps(as_object(found)))
    assert [one["passed_gates"] for one in told["contenders"]] == [True, True, False]
    assert told["contenders"][0]["mean_tokens"] == 123.0
    assert told["contenders"][0]["capabilities"]["protected_cut"] == 0.375
    assert told["contenders"][0]["capabilities"]["derived_anchored"] is None
    assert [one["accounted"] for one in told["contenders"]] == [1.0, 1.0, 0.383]
    assert [row["verdict"] for row in told["comparisons"]] == ["worse"] * 3


def test_names() -> None:
    """Commas part names; not given is not the same as none."""
    assert names(None) is None
    assert names("none") == []
    assert names("a, b:128,") == ["a", "b:128"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--compare"], "evaluation.questions names no file"),
        (["--strategies", "pack"], "are for --compare"),
        (["--compare", "--set", "set", "--peers", "chonkie"], "no peer is called 'chonkie'"),
        (["--compare", "--set", "set", "--size", "12k"], "write tokens, such as 128"),
        (["--compare", "--set", "set", "--peers", "none", "--strategies", "pakc"], "strategy 'pakc'"),
    ],
)
def test_usage(arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't be is said with exit code 2, before anything is measured."""
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "set").mkdir()
    runner = CliRunner()
    assert runner.invoke(linkrag, ["init", "harbour", "--source", "docs"]).exit_code == 0
    ended = runner.invoke(linkrag, ["evaluate", "harbour", *arguments])
    assert ended.exit_code == 2 and words in ended.output
