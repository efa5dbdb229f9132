"""Whether a failure is for want of memory, and the failure that it makes of a document (XT-11)."""

from __future__ import annotations

import re

from linkrag_dagster.extraction.failures import ExtractionError

# `malloc(): corrupted top size` is how the C library says that memory was overwritten, and no want of any.
_WANT_OF_MEMORY = re.compile(
    r"bad.?alloc|\b(?:[mc]|re)alloc\b(?!\(\))|memory ?(?:error|exhausted)|(?:out of|allocate|insufficient) memory",
    re.IGNORECASE,
)


def is_want_of_memory(words: str) -> bool:
    """Whether a library's error, or a dying process's last words, say that there is no more memory."""
    return _WANT_OF_MEMORY.search(words) is not None


def out_of_memory(name: str, memory_mb: int | None = None) -> ExtractionError:
    """The failure of a document that needs more memory than there is, or than the limit in MiB."""
    limit = "there is" if memory_mb is None else f"the limit of {memory_mb:,} MiB"
    return ExtractionError(
        "memory",
        f"{name} takes more memory than {limit}: split it, exclude it, or raise extraction.memory_mb",
    )
