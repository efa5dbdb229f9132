"""A document that hangs, crashes or eats memory costs no other one (XT-11)."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

import linkrag_dagster.workers.process as process
from linkrag_dagster.extraction import RETRYABLE, Extraction, ExtractionError
from linkrag_dagster.workers import (
    Job,
    Outcome,
    WorkerLimits,
    Workers,
    WorkerStartError,
    needs_worker,
    perform,
)
from linkrag_dagster.workers.frames import packed, unpacked
from linkrag_dagster.workers.worker import ALARM_AFTER
from tests.workers.misbehaving import PROGRAM, page

REPOSITORY = Path(__file__).resolve().parents[2]
LIMITS = WorkerLimits(seconds=60.0, memory_mb=512, workers=2)


def outcomes(jobs: Iterable[Job], limits: WorkerLimits = LIMITS) -> dict[str, Outcome]:
    with Workers(limits) as workers:
        return dict(workers.run((job.name, job) for job in jobs))


def kinds(found: dict[str, Outcome]) -> dict[str, str]:
    return {name: getattr(outcome, "kind", "ok") for name, outcome in found.items()}


@pytest.fixture
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_PROGRAM", PROGRAM)


@pytest.mark.usefixtures("misbehaving")
def test_each_bad_document_fails_by_its_own_kind() -> None:
    """XT-11: crash, exit, abort, memory, the system's SIGKILL; all others have their text."""
    bad = {
        "crash": "crash",
        "exit": "crash",
        "abort": "memory",
        "swell": "memory",
        "kill": "memory",
        "fail": "corrupt",
    }
    good = [f"good {n}" for n in range(6)]
    names = [name for pair in zip(bad, good, strict=True) for name in pair]
    found = outcomes(page(name) for name in names)
    assert kinds(found) == {f"{n}.html": kind for n, kind in (bad | dict.fromkeys(good, "ok")).items()}
    for name in bad:
        failure = found[f"{name}.html"]
        assert isinstance(failure, ExtractionError)
        assert failure.retryable == RETRYABLE[failure.kind]
        assert str(failure).startswith(f"{name}.html")


@pytest.mark.usefixtures("misbehaving")
def test_a_document_that_hangs_in_native_code_times_out() -> None:
    """XT-11: its worker alone is ended; documents before, beside and after it are read."""
    names = ("good 1", "hang", "good 2", "good 3")
    found = outcomes((page(name) for name in names), WorkerLimits(seconds=4.0, workers=1))
    assert kinds(found).pop("hang.html") == "timeout"
    assert [kind for name, kind in kinds(found).items() if name != "hang.html"] == ["ok"] * 3
    failure = found["hang.html"]
    assert isinstance(failure, ExtractionError) and failure.retryable
    assert "4 seconds" in str(failure) and "extraction.seconds" in str(failure)


@pytest.mark.usefixtures("misbehaving")
def test_time_grows_with_the_pages_that_were_read() -> None:
    """XT-11: a long scan has the time of its pages, for the build as for the worker's own alarm."""
    worker = process.WorkerProcess(WorkerLimits(seconds=60.0, seconds_per_scan=1000.0))
    try:
        worker.give(page("pages"))
        outcome = None
        while outcome is None:
            select.select([worker], [], [])
            outcome = worker.answer()
        assert isinstance(outcome, Extraction)
        assert 60.0 < worker.left <= 60.0 + 3 * 1000.0
        assert 60.0 + ALARM_AFTER < float(outcome.text) <= 60.0 + ALARM_AFTER + 3 * 1000.0
    finally:
        worker.end()


@pytest.mark.usefixtures("misbehaving")
def test_a_document_that_hangs_after_some_pages() -> None:
    """XT-11: the failure says how many pages there was time for, and what to raise."""
    limits = WorkerLimits(seconds=2.0, seconds_per_scan=0.5, workers=1)
    failure = outcomes([page("pages hang")], limits)["pages hang.html"]
    assert isinstance(failure, ExtractionError) and failure.kind == "timeout"
    assert "2 seconds and 0.5 for each of the 3 scans read" in str(failure)
    assert "raise extraction.seconds_per_scan" in str(failure)


def test_scans_are_told_as_they_are_read() -> None:
    """XT-08, XT-11: after each page of pictures of text, in the process that reads it; pages of words are none."""
    document: Any = pymupdf.open()  # pyright: ignore[reportUnknownMemberType]
    for number in range(3):
        words = pymupdf.open()  # pyright: ignore[reportUnknownMemberType]
        page: Any = words.new_page()
        page.insert_text((60, 80 + 90 * number), f"Herring comes in at quay {number}.")
        if number < 2:
            document.new_page().insert_image(page.rect, pixmap=page.get_pixmap(dpi=100))
        else:
            document.insert_pdf(words)
    told: list[int] = []
    options = {"ocr": {"enabled": False}}
    outcome = perform(
        Job(document.tobytes(), "a.pdf", "a.pdf", options, on_scan=lambda: told.append(len(told)))
    )
    assert isinstance(outcome, Extraction) and (len(outcome.pages), len(told)) == (3, 2)


@pytest.mark.usefixtures("misbehaving")
def test_what_a_library_prints_is_no_answer() -> None:
    """Standard output belongs to the frames; what native code writes there goes elsewhere."""
    assert kinds(outcomes([page("print"), page("good")])) == {"print.html": "ok", "good.html": "ok"}


@pytest.mark.usefixtures("misbehaving")
def test_workers_are_recycled() -> None:
    """XT-11: after so many documents another process reads on."""
    found = outcomes((page(f"pid {n}") for n in range(7)), WorkerLimits(seconds=60.0, workers=1, documents=3))
    pids = [outcome.text for outcome in found.values() if isinstance(outcome, Extraction)]
    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 3, 1]
    assert len(set(pids)) == 3


@pytest.mark.usefixtures("misbehaving")
def test_what_a_neighbour_broke_is_tried_again_alone() -> None:
    """XT-11: a document that crashes a used worker and not a fresh one has its text, whoever came before it."""
    found = outcomes([page("good"), page("spoiled")], WorkerLimits(seconds=60.0, workers=1))
    assert kinds(found) == {"good.html": "ok", "spoiled.html": "ok"}


@pytest.mark.usefixtures("misbehaving")
def test_nothing_is_left_of_the_workers() -> None:
    """XT-11: no process and no zombie after the `with` statement, also where the iteration was given up."""
    with Workers(LIMITS) as workers:
        found = dict(workers.run((n, page(f"pid {n}")) for n in range(4)))
        given_up = workers.run((n, page(f"{'hang' if n % 2 else 'pid'} {n}")) for n in range(4))
        _, last = next(given_up)
        given_up.close()
        # The workers that were busy are gone; the pool goes on.
        again = dict(workers.run([("more", page("good"))]))
    assert all(isinstance(outcome, Extraction) for outcome in (*found.values(), last, *again.values()))
    for outcome in (*found.values(), last):
        assert isinstance(outcome, Extraction)
        with pytest.raises(ProcessLookupError):
            os.kill(int(outcome.text), 0)


@pytest.mark.usefixtures("misbehaving")
def test_ctrl_c_is_for_the_build_alone() -> None:
    """A worker is in another group of processes: the terminal's signals don't reach it."""
    with Workers(WorkerLimits(workers=1)) as workers:
        ((_, outcome),) = workers.run([("pid", page("pid"))])
        assert isinstance(outcome, Extraction)
        assert os.getpgid(int(outcome.text)) != os.getpgid(0)


tells_of_strangers = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="only Linux tells when a stranger's process ends"
)


def started(script: str) -> subprocess.Popen[str]:
    """A build of its own, to be killed; what it prints can be read, and its input stays open."""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
        text=True,
    )


@tells_of_strangers
@pytest.mark.parametrize("busy", ["idle", "busy"])
def test_workers_die_with_a_killed_build(busy: str) -> None:
    """XT-11: after SIGKILL of the build no worker is left, not even one that hangs in native code."""
    script = f"""
import linkrag_dagster.workers.process as process
from linkrag_dagster.workers import WorkerLimits, Workers
from tests.workers.misbehaving import PROGRAM, page
process._PROGRAM = PROGRAM
with Workers(WorkerLimits(seconds=600.0, workers=1)) as workers:
    for key, outcome in workers.run([(0, page("pid")), (1, page({"hang" if busy == "busy" else "pid 2"!r}))]):
        print(outcome.text, flush=True)
    input()
"""
    with started(script) as build:
        assert build.stdout is not None
        pid = int(build.stdout.readline())
        handle = os.pidfd_open(pid)
        try:
            build.kill()
            assert select.select([handle], [], [], 120.0)[0], f"worker {pid} outlives the build"
        finally:
            os.close(handle)


@tells_of_strangers
def test_workers_that_still_load_die_with_a_killed_build() -> None:
    """XT-11: a build that is killed right after it has started a worker leaves none, however long that one loads."""
    script = """
import select
import linkrag_dagster.workers.process as process
from linkrag_dagster.workers import WorkerLimits
loading = "from linkrag_dagster.workers.worker import serve"
assert loading in process._PROGRAM
process._PROGRAM = process._PROGRAM.replace(loading, "import signal; print(flush=True); signal.pause()")
worker = process.WorkerProcess(WorkerLimits())
select.select([worker], [], [])
print(worker.pid, flush=True)
input()
"""
    with started(script) as build:
        assert build.stdout is not None
        handle = os.pidfd_open(int(build.stdout.readline()))
        try:
            build.kill()
            gone = select.select([handle], [], [], 60.0)[0]
            if not gone:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            assert gone, "a worker outlives the build"
        finally:
            os.close(handle)


def test_a_worker_that_cannot_start_is_no_document_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation that is broken stops the build and fails no document."""
    monkeypatch.setattr(process, "_PROGRAM", "raise SystemExit('no such library')")
    with Workers(LIMITS) as workers, pytest.raises(WorkerStartError, match="no such library"):
        list(workers.run([("good", page("good"))]))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with (
        Workers(LIMITS) as workers,
        pytest.raises(WorkerStartError, match="no worker process can be started"),
    ):
        list(workers.run([("good", page("good"))]))


def test_only_formats_with_a_parser_need_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """XT-11: Markdown and plain text of usual size are read in place, and no process is started for them."""
    assert needs_worker(b"%PDF-1.7\n", "a.txt")
    assert needs_worker(b"<!DOCTYPE html><p>x", "a")
    assert needs_worker(b"word " * 300_000, "a.md")
    assert not needs_worker(b"# Title\n", "a.md")
    assert not needs_worker(b"", "a.pdf")
    assert not needs_worker(b"\x89PNG\r\n\x1a\n", "a.pdf")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    jobs = [
        Job(b"# Title\n", "a.md", "a.md"),
        Job(b"", "b.pdf", "b.pdf"),
        Job(b"\x89PNG\r\n\x1a\n", "c", "c"),
    ]
    assert kinds(outcomes(jobs)) == {"a.md": "ok", "b.pdf": "empty", "c": "unsupported"}


def drawn(words: str, pages: int) -> bytes:
    document = pymupdf.open()
    for number in range(pages):
        document.new_page().insert_textbox((72, 72, 500, 700), f"{words} on page {number}. " * 20)
    return document.tobytes()


def assert_same(jobs: list[Job], found: dict[str, Outcome]) -> None:
    assert set(found) == {job.name for job in jobs}
    for job in jobs:
        here, there = perform(job), found[job.name]
        if isinstance(here, ExtractionError):
            assert isinstance(there, ExtractionError)
            assert (there.kind, there.message, there.retryable) == (here.kind, here.message, here.retryable)
        else:
            assert there == here


def test_workers_find_what_is_found_in_place() -> None:
    """XT-11: the same records, to the last locator and message, whichever process read the document."""
    jobs = [
        Job(drawn("Herring", 3), "a.pdf", "a.pdf"),
        Job(drawn("Crab", 1), "b.pdf", "b.pdf"),
        Job(b"%PDF-1.7\n", "broken.pdf", "broken.pdf"),
        Job(b"<!DOCTYPE html><title>Quay</title><h1>Quay</h1><p>Two &lt; three.<ul><li>one", "c", "c"),
        Job("# 灯塔\r\n\r\n灯每九秒转一圈。\r\n".encode() * 30_000, "long.md", "long.md"),
        Job("# 灯塔\r\n\r\n灯每九秒转一圈。\r\n".encode(), "short.md", "short.md"),
        Job("港口办公室每天清晨登记进港的船只。".encode("gbk") * 40_000, "gbk.txt", "gbk.txt"),
    ]
    found = outcomes(jobs, WorkerLimits(workers=2))
    assert kinds(found).pop("broken.pdf") == "corrupt"
    assert_same(jobs, found)


@pytest.mark.slow
def test_workers_find_what_is_found_in_place_in_the_handbook() -> None:
    """XT-11: the same for the sample's documents: printed chapters, web pages, Markdown."""
    files = sorted((REPOSITORY / "data" / "handbook").iterdir())
    assert {".md", ".pdf", ".html"} <= {file.suffix for file in files}
    jobs = [Job(file.read_bytes(), file.name, file.name) for file in files if file.is_file()]
    assert_same(jobs, outcomes(jobs, WorkerLimits(workers=2)))


def test_a_worker_can_send_records_alone() -> None:
    """Whoever took a worker over through its library can't run code in the build."""
    for message in (os.getcwd, signal.SIGTERM, Path("x")):
        with pytest.raises(Exception, match="a worker sent"):
            unpacked(packed(message)[8:])


def test_an_extractor_s_fault_is_its_document_s_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """XT-11: an exception that nobody foresaw fails one document, by name, and not the build."""

    def broken(data: bytes, name: str) -> object:
        raise KeyError("missing")

    monkeypatch.setattr("linkrag_dagster.workers.job.choose", broken)
    outcome = perform(Job(b"words", "a.md", "a.md"))
    assert isinstance(outcome, ExtractionError)
    assert (
        outcome.kind == "crash" and "KeyError: 'missing'" in str(outcome) and str(outcome).startswith("a.md")
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RuntimeError("code=1: malloc (1073741824 bytes) failed"), "memory"),
        (RuntimeError("Failed to allocate memory for requested buffer"), "memory"),
        (MemoryError(), "memory"),
        (RuntimeError("code=7: cycle in page tree"), "corrupt"),
    ],
)
def test_libraries_say_in_many_ways_that_memory_is_out(
    monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str
) -> None:
    """XT-11: what an extractor takes for a broken file is `memory` where its library said so."""

    def broken(data: bytes, name: str) -> object:
        raise ExtractionError("corrupt", f"{name} can't be read: repair it") from error

    monkeypatch.setattr("linkrag_dagster.workers.job.choose", broken)
    outcome = perform(Job(b"words", "a.md", "a.md"))
    assert isinstance(outcome, ExtractionError) and outcome.kind == kind
    assert outcome.retryable == RETRYABLE[kind] and outcome.message.startswith("a.md")
