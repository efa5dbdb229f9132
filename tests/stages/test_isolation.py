"""A build reads documents in workers: one that hangs or crashes is a failure on record, the rest is built (XT-11)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import linkrag_dagster.stages.extraction_progress as extraction_progress
import linkrag_dagster.workers.process as process
from linkrag_dagster.stages.build import BuildResult, build
from linkrag_dagster.stages.extraction_progress import ExtractionProgress
from linkrag_dagster.stages.road import STAGES
from tests.workers.misbehaving import PROGRAM

from .conftest import Project, run_here

REAL = process._PROGRAM
SEA = "<!DOCTYPE html><title>Sea</title><h1>Sea</h1><p>Herring comes in from the sea, {} boats a day."


def build_text(project: Project, lake: str = "lake") -> BuildResult:
    return build(project.road(lake), run_here, through="extracted_text")


def rows(project: Project, table: str, lake: str = "lake") -> pl.DataFrame:
    road = project.road(lake)
    return road.lake.read(road.lake.next_generation(), table)


def in_place(data: bytes, path: str) -> bool:
    return False


@pytest.fixture
def misbehaving(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Documents that hang, crash and swell among good ones, and workers that do as they ask."""
    monkeypatch.setattr(process, "_PROGRAM", PROGRAM)
    for name in ("hang", "crash", "swell", "good"):
        project.write(f"{name}.html", SEA.format(name))
    project.set("limits.failed_documents", 1.0)
    project.set("extraction.seconds", 4)
    project.set("extraction.memory_mb", 512)
    return project


def test_bad_documents_are_failures_and_the_rest_is_built(
    misbehaving: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XT-11, FA-01: each by its kind and as retryable; nothing else is lost, nothing is tried again unasked.

    Another limit is a reason to try again what has failed, and makes no row stale.
    """
    result = build_text(misbehaving)
    assert {(f.kind, f.retryable) for f in result.stages["extracted_text"].failures} == {
        ("timeout", True),
        ("crash", True),
        ("memory", True),
    }
    texts = rows(misbehaving, "extracted_text")["text"].to_list()
    assert len(texts) == 5 and any("good boats" in text for text in texts)
    again = build_text(misbehaving)
    assert again.plan is not None and again.plan.idle and again.failed == 3
    monkeypatch.setattr(process, "_PROGRAM", REAL)
    misbehaving.set("extraction.seconds", 120)
    result = build_text(misbehaving)
    report = result.stages["extracted_text"]
    assert (result.failed, report.unchanged, report.stale, report.rows) == (0, 5, 0, 8)


@pytest.mark.parametrize(
    ("limit", "value"), [("seconds", 301), ("seconds_per_scan", 11), ("memory_mb", 4097)]
)
def test_another_limit_is_another_attempt(project: Project, limit: str, value: int) -> None:
    """FA-01, XT-11: what failed for want of time or memory is tried again, and no row is stale."""
    document = {"sha256": "0" * 64, "media_type": "application/pdf", "size_bytes": 9}
    before = project.road()
    stage = next(stage for stage in STAGES if stage.name == "extracted_text")
    project.set(f"extraction.{limit}", value)
    after = project.road()
    assert before.attempt(document, stage.name) != after.attempt(document, stage.name)
    assert before.spec(stage, document) == after.spec(stage, document)


def test_rows_are_the_same_in_place(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """XT-11: workers change no row, and neither does their number."""
    for number in range(4):
        project.write(f"sea-{number}.html", SEA.format(number))
    project.write("broken.pdf", b"%PDF-1.7\n")
    build_text(project, "in-workers")
    project.set("extraction.workers", 1)
    build_text(project, "in-one")
    monkeypatch.setattr("linkrag_dagster.workers.pool.needs_worker", in_place)
    build_text(project, "in-place")
    for table in ("extracted_text", "locators"):
        expected = rows(project, table, "in-place")
        assert expected.height >= 8
        assert rows(project, table, "in-workers").equals(expected)
        assert rows(project, table, "in-one").equals(expected)
    when = ["first_seen", "last_seen"]
    assert (
        rows(project, "failures", "in-workers")
        .drop(when)
        .equals(rows(project, "failures", "in-place").drop(when))
    )


def test_no_worker_is_started_for_markdown(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """XT-12: a corpus of notes pays nothing for isolation."""
    monkeypatch.setattr("sys.executable", str(Path("/nowhere/python")))
    assert build_text(project).failed == 0


def test_progress_counts_documents_pages_and_failures() -> None:
    """XT-12: every 200 documents, and at the end where something was told before."""
    lines: list[str] = []
    told = ExtractionProgress(450, lines.append)
    for number in range(450):
        if number % 10 == 0:
            told.failed()
        else:
            told.read(2)
    assert lines == [
        "200/450 documents, 360 pages, 20 failed",
        "400/450 documents, 720 pages, 40 failed",
        "450/450 documents, 810 pages, 45 failed",
    ]


def test_a_few_documents_that_are_quick_are_not_told_of() -> None:
    """XT-12: what is over at once needs no progress."""
    lines: list[str] = []
    told = ExtractionProgress(3, lines.append)
    for _ in range(3):
        told.read(1)
    assert lines == []


def test_progress_is_told_while_documents_are_slow(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """XT-12: a build tells of each document when the last word is long ago."""
    monkeypatch.setattr(extraction_progress, "EVERY_SECONDS", 0.0)
    project.write("sea.html", SEA.format(3))
    lines: list[str] = []
    road = project.road()
    for stage in ("raw_documents", "extracted_text"):
        road.materialise(stage, lines.append)
    assert lines == [f"{n}/5 documents, 0 pages, 0 failed" for n in range(1, 6)]
