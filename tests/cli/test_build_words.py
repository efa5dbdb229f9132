"""`linkrag build` tells what was planned beside what was done, and where it was cut off early (VE-03, VE-05)."""

from __future__ import annotations

import pytest

from linkrag_dagster.cli.build import _done, _show_builds
from linkrag_dagster.stages.build import BuildResult
from linkrag_dagster.stages.plan import RoadPlan, TablePlan
from linkrag_dagster.stages.stage import DocumentFailure, StageReport


def _result(*failures: DocumentFailure) -> BuildResult:
    planned = {
        "raw_documents": TablePlan(stale=1, unchanged=9),
        "elements": TablePlan(new=3, stale=40, unchanged=60, upper_bound=True),
        "chunks": TablePlan(stale=5, upper_bound=True),
    }
    done = {
        "raw_documents": StageReport("raw_documents", stale=1, unchanged=9, rows=10, failures=failures),
        "elements": StageReport("elements", stale=1, unchanged=99, rows=100),
        "chunks": StageReport("chunks", new=5, removed=5, rows=5),
    }
    return BuildResult(done, RoadPlan(planned, idle=False), generation=2)


def test_planned_beside_done(capsys: pytest.CaptureFixture[str]) -> None:
    """VE-05: bounds say that they are bounds; rows that stayed are counted, and why they did."""
    _show_builds({"harbour": _result()}, 1.0)
    shown = capsys.readouterr().out
    line = next(line.split() for line in shown.splitlines() if line.split()[:1] == ["elements"])
    assert line[1:4] == ["≤", "43", "1"]
    assert (
        "elements: planned ≤ 43, done 1: 39 stayed as they were, for their input came out the same" in shown
    )
    assert "chunks: planned" not in shown and "raw_documents: planned" not in shown


def test_a_failed_document_is_no_early_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    """FA-01: rows may also have stayed because their document failed."""
    _show_builds({"harbour": _result(DocumentFailure("a", "empty", "a.md has no bytes"))}, 1.0)
    assert "came out the same, or their document failed" in capsys.readouterr().out


def test_the_numbers_for_programs() -> None:
    """VE-05: the fixed keys of a stage, and beside them what was planned."""
    elements = _done({"harbour": _result()}, 1.0)["corpora"]["harbour"]["stages"]["elements"]
    assert elements["kept"] == 39
    assert elements["planned"] == {"new": 3, "stale": 40, "retry": 0, "removed": 0, "upper_bound": True}
    fixed = {"new", "stale", "retried", "unchanged", "removed", "failed", "rows", "seconds"}
    assert fixed <= elements.keys()
