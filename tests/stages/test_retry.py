"""`linkrag retry`: failures are tried again when told, counted up, and cost no good row (FA-01, VE-05)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.lake.status import corpus_status
from linkrag_dagster.stages.chunks import Chunks
from linkrag_dagster.stages.plan import plan_road
from linkrag_dagster.stages.retry import mark_for_retry
from linkrag_dagster.stages.road import STAGES

from .conftest import Project


@pytest.fixture(autouse=True)
def _small(project: Project, small_models: dict[str, Path]) -> None:
    project.use(small_models["old"])


class Broken:
    """A contract of the chunks that documents with a word break, until it is mended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, word: str, rule: str = "EX-07") -> None:
        self.word = word
        kept = Chunks.checks

        def checks(
            stage: Chunks, road: Any, generation: Any, frames: Any, keys: Any
        ) -> Iterator[CheckResult]:
            yield from kept(stage, road, generation, frames, keys)
            frame = frames["chunks"]
            broken = frame.filter(pl.col("content").str.contains(self.word)) if self.word else frame.clear()
            found = tuple(
                Violation(rule, key, "scripted") for key in broken["doc_key"].unique(maintain_order=True)
            )
            yield CheckResult("scripted", (rule,), "", frame.height, found)

        monkeypatch.setattr(Chunks, "checks", checks)


def failed(project: Project) -> dict[str, dict[str, Any]]:
    return {failure["doc_name"]: failure for failure in corpus_status(project.road().lake).failed}


def catalogue(project: Project, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(project.road().lake_root / "warehouse.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_a_marked_failure_is_tried_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """FA-01: plan shows `retry`, the build tries, attempts count up; without a mark nothing is tried."""
    broken = Broken(monkeypatch, "herring")
    assert project.build().failed == 1
    assert plan_road(project.road(), STAGES).idle
    before = project.road().lake.current()
    marked = mark_for_retry(project.road())
    assert [(d.doc_name, d.attempts) for d in marked.marked] == [("notes.txt", 1)]
    assert project.road().lake.current() == before

    plan = plan_road(project.road(), STAGES)
    assert not plan.idle and plan.stages["extracted_text"].retry == 1
    assert plan.stages["extracted_text"].reasons == {"marked for retry": 1}
    tried = project.build()
    assert tried.failed == 1 and tried.stages["extracted_text"].retried == 1
    assert failed(project)["notes.txt"]["attempts"] == 2
    again = project.build()
    assert again.plan is not None and again.plan.idle

    broken.word = ""
    assert project.build().failed == 1
    mark_for_retry(project.road(), ["notes.txt"])
    healed = project.build()
    assert healed.failed == 0 and healed.stages["chunks"].retried > 0
    assert failed(project) == {}


def test_last_good_rows_stay_through_every_try(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """FA-01, LA-02: they answer, marked stale, and the views say what is wrong and what to do."""
    project.build()
    chunks = catalogue(project, "SELECT count(*) FROM harbour.chunks")
    assert catalogue(project, "SELECT * FROM harbour.stale_rows") == []
    Broken(monkeypatch, "mackerel")
    project.write("notes.txt", "plain words about mackerel\n")
    project.build()
    mark_for_retry(project.road())
    project.build()
    assert failed(project)["notes.txt"]["attempts"] == 2
    assert catalogue(project, "SELECT count(*) FROM harbour.chunks") == chunks
    stale = catalogue(project, "SELECT doc_name, rows FROM harbour.stale_rows WHERE table_name = 'chunks'")
    assert stale == catalogue(project, "SELECT 'notes.txt', count(*) FROM harbour.chunks WHERE stale")
    assert stale[0][1] > 0
    help_rows = catalogue(
        project, "SELECT doc_name, attempts, answers, what_to_do FROM harbour.failures_help"
    )
    assert [row[:3] for row in help_rows] == [("notes.txt", 2, True)] and "quarantine" in help_rows[0][3]
    cases = catalogue(project, "SELECT doc_name, stage, rule, failing_case FROM harbour.quarantine")
    assert cases == [("notes.txt", "chunks", "EX-07", "scripted")]


def test_only_what_is_asked_for_is_marked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """FA-01: by kind, by path, by id; the source's own failures need no mark."""
    Broken(monkeypatch, "herring")
    project.write("empty.md", b"")
    project.write("a.md", "---\nid: same\n---\n\nOne.\n")
    project.write("b.md", "---\nid: same\n---\n\nTwo.\n")
    project.set("limits.failed_documents", 1.0)
    project.build()
    assert set(failed(project)) == {"notes.txt", "empty.md", "b.md"}

    by_kind = mark_for_retry(project.road(), kind="empty")
    assert [d.doc_name for d in by_kind.marked] == ["empty.md"] and len(by_kind.others) == 2
    by_name = mark_for_retry(project.road(), ["notes.txt", "b.md"])
    assert [d.doc_name for d in by_name.marked] == ["notes.txt"]
    assert [d.doc_name for d in by_name.looked_at_anyway] == ["b.md"]
    by_id = mark_for_retry(project.road(), [failed(project)["empty.md"]["doc_id"]])
    assert [d.doc_name for d in by_id.marked] == ["empty.md"]
    assert "nowhere.md" not in by_id.known and {"empty.md", "notes.txt", "b.md"} <= by_id.known
    project.build()
    attempts = {name: failure["attempts"] for name, failure in failed(project).items()}
    assert attempts == {"notes.txt": 2, "empty.md": 2, "b.md": 1}


def test_nothing_failed_is_nothing_marked(project: Project) -> None:
    """VE-06: no file is written."""
    project.build()
    marked = mark_for_retry(project.road())
    assert marked.marked == () and project.road().lake.staged() is None


def test_a_rule_that_is_declared_to_warn_fails_no_document(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CO-03, FA-01: the breach is in the report, the document is committed; what has failed is tried again at once, for
    the stage is another one. Declared to fail again, it fails, and its last good rows stay."""
    Broken(monkeypatch, "herring", rule="EX-03")
    assert project.build().failed == 1
    project.set("contracts.warn", ["EX-03"])
    warned = project.build()
    assert warned.failed == 0 and failed(project) == {}
    assert warned.plan is not None
    assert next(iter(warned.plan.stages["chunks"].reasons)) == 'warned [] → ["EX-03"]'
    (check,) = [check for check in warned.stages["chunks"].checks if check.name == "scripted"]
    assert not check.passed and len(check.documents) == 1
    chunks = warned.stages["chunks"].rows
    project.set("contracts.warn", [])
    strict = project.build()
    assert strict.failed == 1 and strict.stages["chunks"].rows == chunks
    assert strict.stages["embeddings"].stale == strict.stages["embeddings"].new == strict.embedded_texts == 0
