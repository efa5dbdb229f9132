"""What a worker may take, and how many there are."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Limits of each worker process, and their number.

    Attributes:
        seconds: a document's time, on the clock, without scans.
        seconds_per_scan: by which its time grows with each page of pictures of text.
        memory_mb: a worker's memory in MiB, libraries and all: private writable pages on Linux, address space
            elsewhere; macOS does not enforce it.
        workers: most processes at once.
        documents: a worker is replaced after so many, whatever its libraries have leaked by then.
    """

    seconds: float = 300.0
    seconds_per_scan: float = 10.0
    memory_mb: int = 4096
    workers: int = field(default_factory=usable_cores)
    documents: int = 100
