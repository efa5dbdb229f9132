"""Which documents are read in a process of their own."""

from __future__ import annotations

from linkrag_dagster.extraction.media_type import HEAD_BYTES, MARKDOWN, PLAIN, detect
from linkrag_dagster.extraction.registry import extractor_for

IN_PROCESS_BYTES = 1 << 20


def needs_worker(data: bytes, path: str) -> bool:
    """Whether a document is to be read by a worker.

    Markdown and plain text are decoded and looked through once, in Python, in time linear in their length: up to 1
    MiB (milliseconds) they are read in place. All other formats have parsers of their own, native or not linear. What
    no extractor takes needs no process to say so.
    """
    media_type = detect(data[:HEAD_BYTES], path)
    if not data or extractor_for(media_type) is None:
        return False
    return len(data) > IN_PROCESS_BYTES or media_type not in (MARKDOWN, PLAIN)
