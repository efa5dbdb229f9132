"""What a declaration grants to the processes that extract."""

from __future__ import annotations

from linkrag_dagster.declaration import Extraction
from linkrag_dagster.workers.limits import WorkerLimits


def extraction_limits(declared: Extraction, workers: int) -> WorkerLimits:
    """The declared limits of time and memory, for so many processes at once."""
    return WorkerLimits(
        seconds=declared.seconds,
        seconds_per_scan=declared.seconds_per_scan,
        memory_mb=declared.memory_mb,
        workers=workers,
    )
