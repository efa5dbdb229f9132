"""A worker whose extractor does what a document's words ask for: what hostile files do to libraries, made certain.

Documents are HTML pages, so that they are read by a worker. All else is the real worker: limits, signals, frames.
"""

from __future__ import annotations

import os
import re
import signal

import linkrag_dagster.workers.process as process
import linkrag_dagster.workers.worker as worker
from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.records import Extraction
from linkrag_dagster.workers.job import Job, Outcome, perform

PROGRAM = process._PROGRAM.replace("linkrag_dagster.workers.worker", "tests.workers.misbehaving")
"""To be put in place of the program that starts a worker."""

serve = worker.serve
_seen: list[str] = []


def page(what: str) -> Job:
    """A document that asks for something: hang, crash, exit, abort, swell, kill, pid, spoil, pages."""
    return Job(f"<!DOCTYPE html><p>{what}</p>".encode(), "page.html", f"{what}.html")


def _text(words: str) -> Extraction:
    return Extraction(words, None, None, "text/html", "plain", "misbehaving", "1", None, ())


def misbehaving(job: Job) -> Outcome:
    """Do what the document asks for; extract it where it asks for nothing."""
    _seen.append(job.name)
    what, _, then = job.name.removesuffix(".html").partition(" ")
    if what == "pages":
        assert job.on_scan is not None
        for _ in range(3):
            job.on_scan()
        if then != "hang":
            return _text(str(signal.getitimer(signal.ITIMER_REAL)[0]))
        what = then
    if what == "hang":  # in native code that never returns to Python: no handler of a signal would run
        re.match(r"(a+)+b", "a" * 60)
    elif what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif what == "exit":
        os._exit(3)
    elif what == "abort":
        os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
        os.abort()
    elif what == "swell":
        held: list[bytearray] = []
        while True:
            held.append(bytearray(16 << 20))
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "spoiled" and len(_seen) > 1:
        os.kill(os.getpid(), signal.SIGBUS)
    elif what == "print":
        os.write(1, b"printed by a library")
    elif what == "pid":
        return _text(str(os.getpid()))
    elif what == "fail":
        return ExtractionError("corrupt", f"{job.name} is broken")
    return perform(job)


worker.perform = misbehaving
