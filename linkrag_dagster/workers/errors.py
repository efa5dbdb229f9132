"""What is wrong with the machine and not with a document."""

from __future__ import annotations


class WorkerStartError(Exception):
    """No worker can be started: no document is to blame, so none is failed for it."""
