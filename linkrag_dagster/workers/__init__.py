"""Extraction in processes of its own: a document that hangs, crashes or eats memory harms no other (XT-11)."""

from linkrag_dagster.workers.errors import WorkerStartError
from linkrag_dagster.workers.job import Drawing, Job, Outcome, perform
from linkrag_dagster.workers.limits import WorkerLimits
from linkrag_dagster.workers.pool import Workers
from linkrag_dagster.workers.trust import needs_worker

__all__ = [
    "Drawing",
    "Job",
    "Outcome",
    "WorkerLimits",
    "WorkerStartError",
    "Workers",
    "needs_worker",
    "perform",
]
