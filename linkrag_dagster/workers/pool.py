"""Many documents, some of them in workers, none of them in another's way."""

from __future__ import annotations

import selectors
from collections.abc import Generator, Hashable, Iterable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.workers.job import R, Work, perform
from linkrag_dagster.workers.limits import WorkerLimits
from linkrag_dagster.workers.process import WorkerProcess
from linkrag_dagster.workers.trust import needs_worker

K = TypeVar("K", bound=Hashable)

AGAIN = ("crash", "memory")
"""Failures that a worker's earlier documents may have caused: such a document is tried once more, in a fresh worker."""


class _Task(Generic[K, R]):
    """A document under way; `last_try` in a worker that has seen no other one."""

    __slots__ = ("job", "key", "last_try")

    def __init__(self, key: K, job: Work[R]) -> None:
        self.key = key
        self.job = job
        self.last_try = True


class Workers:
    """Worker processes, started when a document needs one, kept until the end of the `with` statement.

    No thread is used: all happens while `run` is iterated over, in the thread that does so.
    """

    def __init__(self, limits: WorkerLimits | None = None) -> None:
        self._limits = limits or WorkerLimits()
        self._idle: list[WorkerProcess] = []
        self._all: set[WorkerProcess] = set()
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in list(self._all):
            self._end(worker)
        self._selector.close()

    def run(self, jobs: Iterable[tuple[K, Work[R]]]) -> Generator[tuple[K, R | ExtractionError]]:
        """What has come of each job, as it comes: in no order.

        Jobs are taken one by one as workers are free, so that few documents are in memory at once.

        Raises:
            WorkerStartError: no worker can be started; what is under way is given up with the workers.
        """
        waiting = iter(jobs)
        busy: dict[WorkerProcess, _Task[K, R]] = {}
        try:
            while True:
                while len(busy) < self._limits.workers and (found := next(waiting, None)) is not None:
                    key, job = found
                    if needs_worker(job.data, job.path):
                        self._give(busy, _Task(key, job), self._idle.pop() if self._idle else self._start())
                    else:
                        yield key, perform(job)
                    yield from self._answers(busy, 0.0)
                if not busy:
                    return
                yield from self._answers(busy, min(worker.left for worker in busy))
        finally:
            for worker in busy:
                self._end(worker)

    def _answers(
        self, busy: dict[WorkerProcess, _Task[K, R]], seconds: float
    ) -> Iterator[tuple[K, R | ExtractionError]]:
        """Outcomes that are there within so many seconds."""
        for key, _ in self._selector.select(seconds):
            worker: WorkerProcess = key.data
            if worker not in busy:
                # Nobody asked it: it died of something else than a document.
                self._idle.remove(worker)
                self._end(worker)
                continue
            try:
                outcome = worker.answer()
            except EOFError:
                outcome = worker.autopsy()
            if outcome is not None:
                yield from self._done(busy, worker, outcome)
        # Whoever has begun to answer was in time.
        answering = {key.data for key, _ in self._selector.select(0.0)}
        for worker in [one for one in busy if not one.left and one not in answering]:
            yield from self._done(busy, worker, worker.too_late())

    def _done(
        self, busy: dict[WorkerProcess, _Task[K, R]], worker: WorkerProcess, outcome: R | ExtractionError
    ) -> Iterator[tuple[K, R | ExtractionError]]:
        task = busy.pop(worker)
        hurt = isinstance(outcome, ExtractionError) and outcome.kind in AGAIN
        if hurt or worker.worn:
            self._end(worker)
        else:
            self._idle.append(worker)
        if hurt and not task.last_try:
            self._give(busy, task, self._start())
        else:
            yield task.key, outcome

    def _start(self) -> WorkerProcess:
        worker = WorkerProcess(self._limits)
        self._all.add(worker)
        self._selector.register(worker, selectors.EVENT_READ, worker)
        return worker

    @staticmethod
    def _give(busy: dict[WorkerProcess, _Task[K, R]], task: _Task[K, R], worker: WorkerProcess) -> None:
        task.last_try = worker.done == 0
        busy[worker] = task
        worker.give(task.job)

    def _end(self, worker: WorkerProcess) -> None:
        """Twice does no harm."""
        if worker in self._all:
            self._all.remove(worker)
            self._selector.unregister(worker)
            worker.end()
