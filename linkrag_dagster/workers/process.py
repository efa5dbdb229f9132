"""One worker as the build sees it: start, job, answer, end, and what it died of."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO, Any, cast

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.workers.errors import WorkerStartError
from linkrag_dagster.workers.frames import Incoming, packed, unpacked
from linkrag_dagster.workers.job import Work
from linkrag_dagster.workers.limits import WorkerLimits
from linkrag_dagster.workers.memory import is_want_of_memory, out_of_memory

START_SECONDS = 120.0
"""A worker is ready in less than a second; a machine out of breath gets two minutes."""

_PR_SET_PDEATHSIG = 1
# A program of its own and not a fork: threads and locks of the build stay behind, and `__main__` is not imported.
# First of all it has the kernel end it with the thread that started it; without Linux only its input tells.
_PROGRAM = f"""\
import ctypes, json, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl({_PR_SET_PDEATHSIG}, {int(signal.SIGKILL)})
if os.getppid() != int(sys.argv[2]):
    sys.exit(0)
sys.path[:] = json.loads(sys.argv[1])
from linkrag_dagster.workers.worker import serve
serve(float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
"""
_READ = 1 << 20
_LAST_WORDS = 4096


class WorkerProcess:
    """A process that extracts one document at a time. It belongs to the thread that started it, and ends with it."""

    def __init__(self, limits: WorkerLimits) -> None:
        """Start the process; it is ready a moment later, and takes a job at once.

        Raises:
            WorkerStartError: the system starts no process.
        """
        self._limits = limits
        self._incoming = Incoming()
        self._ready = self._begun = False
        self._scans = 0
        self._job: Work[object] | None = None
        self.done = 0
        self.resident = 0
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    _PROGRAM,
                    json.dumps(sys.path),
                    str(os.getpid()),
                    str(limits.seconds),
                    str(limits.seconds_per_scan),
                    str(limits.memory_mb),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                # Ctrl-C is the build's to handle.
                process_group=0,
            )
        except OSError as error:
            self._words.close()
            raise WorkerStartError(
                f"no worker process can be started ({error.strerror or error}): free memory or processes, "
                "or lower extraction.workers"
            ) from error
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("IO[bytes]", self._process.stdout)
        os.set_blocking(self._output.fileno(), False)
        self._deadline = time.monotonic() + START_SECONDS

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def fileno(self) -> int:
        """What to wait on for answers."""
        return self._output.fileno()

    @property
    def left(self) -> float:
        """Seconds until its time is over."""
        return max(0.0, self._deadline - time.monotonic())

    @property
    def worn(self) -> bool:
        """Whether it is dead, or to be replaced before the next job."""
        dead = self._process.returncode is not None
        swollen = self.resident > self._limits.memory_mb * 2**20 // 2
        return dead or swollen or self.done >= self._limits.documents

    def give(self, job: Work[object]) -> None:
        """Hand over the next job; while the process starts, it is kept until then."""
        self._job = job
        if self._ready:
            self._send(job)

    def _send(self, job: Work[object]) -> None:
        self._begun = False
        self._scans = 0
        self._deadline = time.monotonic() + START_SECONDS
        try:
            self._input.write(packed(job))
            self._input.flush()
        except BrokenPipeError:
            pass  # it died meanwhile: its output says so next

    def answer(self) -> Any:
        """What has come of the job; None while it is under way. To be asked when its output can be read.

        Raises:
            WorkerStartError: it died before it was ready.
            EOFError: it died over the job; `autopsy` tells of what.
        """
        while True:
            try:
                data = os.read(self.fileno(), _READ)
            except BlockingIOError:
                return None
            if not data:
                if self._ready:
                    raise EOFError
                raise WorkerStartError(self._start_failure())
            self._incoming.add(data)
            while (body := self._incoming.message()) is not None:
                if self._begun and not body:
                    self._scans += 1
                    self._deadline += self._limits.seconds_per_scan
                    continue
                if self._begun:
                    return self._taken(body)
                if self._ready:
                    self._begun = True
                    self._deadline = time.monotonic() + self._limits.seconds
                    continue
                self._ready = True
                if self._job is not None:
                    self._send(self._job)

    def _taken(self, body: bytes) -> Any:
        name = self._job.name if self._job else ""
        self._job = None
        self.done += 1
        try:
            outcome, self.resident = unpacked(body)
        except (
            pickle.UnpicklingError,
            AttributeError,
            ImportError,
            IndexError,
            TypeError,
            ValueError,
        ) as error:
            self.done = self._limits.documents
            return ExtractionError(
                "crash", f"{name}: its worker answered with what is no extraction ({error})"
            )
        return outcome

    def _start_failure(self) -> str:
        self._process.wait()
        lines = self._last_words().split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "without a word")
        return (
            f"a worker process ended before it was ready ({said}): "
            "raise extraction.memory_mb, or mend the installation"
        )

    def too_late(self) -> ExtractionError:
        """Kill it because its time is over. Raises WorkerStartError where it had not begun."""
        name = self._job.name if self._job else ""
        self._kill()
        if not self._begun:
            raise WorkerStartError(
                f"a worker process did not begin within {START_SECONDS:.0f} seconds: is the machine overloaded?"
            )
        return self._timeout(name)

    def autopsy(self) -> ExtractionError:
        """Why it died over its job, by its exit status and its last words."""
        name = self._job.name if self._job else ""
        code = self._process.wait()
        words = self._last_words()
        if code == -signal.SIGALRM:
            return self._timeout(name)
        # Nobody here sends SIGKILL to a worker that has time left: the system does when memory runs out.
        if code == -signal.SIGKILL or is_want_of_memory(words):
            return out_of_memory(name, self._limits.memory_mb)
        how = f"signal {-code}, {signal.strsignal(-code)}" if code < 0 else f"exit status {code}"
        return ExtractionError(
            "crash",
            f"{name} crashes the library that reads it ({how}): repair it, print it anew, or exclude it",
        )

    def _timeout(self, name: str) -> ExtractionError:
        time_of_scans, raised = "", "extraction.seconds"
        if self._scans:
            one = f"{self._limits.seconds_per_scan:g} for each of the {self._scans:,} scans read"
            time_of_scans, raised = f" and {one}", "extraction.seconds_per_scan"
        return ExtractionError(
            "timeout",
            f"{name} takes longer than {self._limits.seconds:g} seconds{time_of_scans}: split it, exclude it, "
            f"or raise {raised}",
        )

    def _last_words(self) -> str:
        """The end of what it wrote to its standard error."""
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - _LAST_WORDS))
        return self._words.read().decode("utf-8", "replace")

    def end(self) -> None:
        """Kill it, if it lives, and leave nothing of it: no zombie, no open file."""
        self._kill()
        for file in (self._input, self._output, self._words):
            with contextlib.suppress(BrokenPipeError):  # what it had not read is lost with it
                file.close()

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
