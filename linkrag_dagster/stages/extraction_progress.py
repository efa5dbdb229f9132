"""What a build tells while it reads documents (XT-12)."""

from __future__ import annotations

import time

from linkrag_dagster.stages.stage import Progress

EVERY_DOCUMENTS = 200
EVERY_SECONDS = 5.0


class ExtractionProgress:
    """Counts documents, pages and failures, and tells them every 200 documents or 5 seconds."""

    def __init__(self, total: int, tell: Progress) -> None:
        self._total = total
        self._tell = tell
        self._documents = self._pages = self._failed = 0
        self._told = 0
        self._next = time.monotonic() + EVERY_SECONDS

    def read(self, pages: int) -> None:
        """A document was read; formats without pages have none."""
        self._pages += pages
        self._count()

    def failed(self) -> None:
        """A document failed."""
        self._failed += 1
        self._count()

    def _count(self) -> None:
        self._documents += 1
        due = self._documents - self._told >= EVERY_DOCUMENTS or time.monotonic() >= self._next
        # Whoever was told of a part is told of the whole.
        if due or (self._told and self._documents == self._total):
            self._told = self._documents
            self._next = time.monotonic() + EVERY_SECONDS
            self._tell(
                f"{self._documents}/{self._total} documents, {self._pages} pages, {self._failed} failed"
            )
