"""The worker: reads jobs from standard input, writes outcomes to what was its standard output.

It says that it is ready, once; then for each job that it begins, each scan in it that was read, and what came of it.

It imports extraction and nothing above it, and ends by itself: when the build ends (its input closes; on Linux it is
killed with it), and a little after a document's time is over (an alarm, in case nobody is left to end it).
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import resource
import signal
import sys
from dataclasses import replace

from linkrag_dagster.extraction.media_type import HEAD_BYTES, detect
from linkrag_dagster.extraction.pdf.library import pymupdf
from linkrag_dagster.workers.frames import SCAN_READ, packed, read_frame
from linkrag_dagster.workers.job import Job, Work, perform
from linkrag_dagster.workers.memory import out_of_memory

ALARM_AFTER = 5.0
"""Seconds after a document's time: the build looks first."""


def serve(seconds: float, seconds_per_scan: float, memory_mb: int) -> None:
    """Answer jobs until there are no more.

    Args:
        seconds: a document's time, without scans.
        seconds_per_scan: by which its time grows with each page of pictures of text.
        memory_mb: the worker's memory in MiB.
    """
    # What libraries print belongs to the last words, not into the frames.
    with os.fdopen(os.dup(1), "wb", buffering=0) as outcomes, os.fdopen(os.dup(0), "rb") as jobs:
        os.dup2(2, 1)
        faulthandler.enable()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _limit_memory(memory_mb)
        _send(outcomes.fileno(), packed(None))
        while (body := read_frame(jobs)) is not None:
            job: Work[object] = pickle.loads(body)
            _load_library(job)
            if isinstance(job, Job):
                job = replace(job, on_scan=_ScansRead(outcomes.fileno(), seconds_per_scan))
            _send(outcomes.fileno(), packed(None))
            signal.setitimer(signal.ITIMER_REAL, seconds + ALARM_AFTER)
            answer = _answer(job, memory_mb)
            signal.setitimer(signal.ITIMER_REAL, 0)
            _send(outcomes.fileno(), answer)


class _ScansRead:
    """Tells of each scan that was read, and puts the alarm off by its time."""

    def __init__(self, target: int, seconds_per_scan: float) -> None:
        self._target = target
        self._seconds_per_scan = seconds_per_scan

    def __call__(self) -> None:
        _send(self._target, SCAN_READ)
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        signal.setitimer(signal.ITIMER_REAL, left + self._seconds_per_scan)


def _load_library(job: Work[object]) -> None:
    """Load what takes long to load, outside of the document's time."""
    if detect(job.data[:HEAD_BYTES], job.path) == "application/pdf":
        with contextlib.suppress(ImportError):  # the extractor will say so, too, and of which document
            pymupdf()


def _answer(job: Work[object], memory_mb: int) -> bytes:
    try:
        return packed((perform(job), _resident()))
    except MemoryError:
        return packed((out_of_memory(job.name, memory_mb), _resident()))


def _send(target: int, frame: bytes) -> None:
    rest = memoryview(frame)
    while rest:
        rest = rest[os.write(target, rest) :]


def _limit_memory(memory_mb: int) -> None:
    """No core files, and no more memory than allowed, where the system can be told so."""
    # Address space would count the libraries' reservations, too, which take no memory.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    for limit, most in ((resource.RLIMIT_CORE, 0), (kind, memory_mb << 20)):
        hard = resource.getrlimit(limit)[1]
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses limits below what is mapped
            resource.setrlimit(limit, (wanted, wanted))


def _resident() -> int:
    """Bytes in memory now; 0 where the system doesn't tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as numbers:
            return int(numbers.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0
