"""A build that is killed while characters are recognised leaves no process; the next one is whole (FA-04, XT-08)."""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path

import pytest

from tests.crash.recognising import Recognising, scans
from tests.crash.small_corpus import SmallCorpus, contents
from tests.extraction.test_ocr import needs_extra
from tests.workers.test_workers import tells_of_strangers


@pytest.mark.slow
@needs_extra
@tells_of_strangers
@pytest.mark.parametrize("picture", [1, 2, 4], ids=["first", "second", "last"])
def test_a_build_killed_while_a_picture_is_read(tmp_path: Path, picture: int) -> None:
    """FA-04, XT-11: its workers end with it, in the middle of native code; no table is torn, none differs."""
    corpus = SmallCorpus(tmp_path / "project")
    corpus.write("notes.md", "# Notes\n\nA page of text beside the scans.\n")
    corpus.build()
    before = contents(corpus.lake())
    scans(corpus, documents=2, pages=2)
    build = Recognising(corpus.root, tmp_path / "told")
    workers: dict[int, int] = {}
    try:
        for _ in range(picture):
            pid = build.next_reader()
            if pid not in workers:
                workers[pid] = os.pidfd_open(pid)
    finally:
        build.kill()
    for worker in workers.values():
        gone = select.select([worker], [], [], 60.0)[0]
        if not gone:
            signal.pidfd_send_signal(worker, signal.SIGKILL)
        os.close(worker)
        assert gone, "a worker outlives its build"
    assert build.process.exitcode == -signal.SIGKILL
    assert contents(corpus.lake()) == before
    corpus.build()
    corpus.build("undisturbed")
    after = contents(corpus.lake())
    assert after == contents(corpus.lake("undisturbed"))
    assert len(after["extracted_text"]) == 3 and not corpus.lake().staged()
    assert sum("Herring number" in str(row) for row in after["extracted_text"]) == 2
