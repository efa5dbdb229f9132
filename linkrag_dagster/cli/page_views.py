"""`linkrag extract --html`: pages beside the text that was read on them, written as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from linkrag_dagster.cli.console import USAGE, stop, write_page
from linkrag_dagster.cli.file_chunker import elements_of
from linkrag_dagster.cli.input_files import drawn_pages

if TYPE_CHECKING:
    from linkrag_dagster.extraction.records import Extraction

MOST_PAGES = 50
"""Pages that are shown unless others are asked for: some five megabytes."""


def show_pages(name: str, found: Extraction, *, page: str, wanted: str | None) -> None:
    """Write the page view of one file.

    Args:
        name: of the file.
        found: what was read in it.
        page: where to write; `-` for standard output.
        wanted: page numbers, as `3`, `2-5` or `1,4-6`; None for the first 50.
    """
    from linkrag_dagster.explain import counted
    from linkrag_dagster.extraction.failures import ExtractionError
    from linkrag_dagster.page_view import view

    count = len(found.pages)
    if not count:
        stop(
            USAGE,
            f"--html {page}: {name} is {found.media_type}, which has no pages; "
            f"linkrag chunk {name} --html shows its text and cuts",
        )
    numbers = list(range(1, min(count, MOST_PAGES) + 1)) if wanted is None else _numbers(wanted, count)
    notes: list[str] = []
    if wanted is None and count > MOST_PAGES:
        notes.append(
            f"The first {MOST_PAGES} of {count} pages. Others: linkrag extract --html OUT --pages {MOST_PAGES + 1}-"
            f"{min(count, 2 * MOST_PAGES)}"
        )
    images = drawn_pages(name, numbers)
    if isinstance(images, ExtractionError):
        stop(USAGE, f"--html {page}: the pages can't be drawn: {images}")
    made = view(
        found,
        elements_of(found),
        {image.page: image for image in images},
        name=Path(name).name,
        notes=notes,
    )
    write_page(page, made, f"{counted(len(images), 'page')} of {name}")


def _numbers(wanted: str, count: int) -> list[int]:
    """Page numbers, in order. Ends the command where they are no numbers of pages."""
    found: set[int] = set()
    for part in wanted.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isascii() or not first.isdigit() or (dash and not (last.isascii() and last.isdigit())):
            stop(USAGE, f"--pages {wanted}: write numbers and ranges, as 3 or 1,4-6")
        low, high = int(first), int(last) if dash else int(first)
        if not 1 <= low <= high <= count:
            stop(USAGE, f"--pages {wanted}: {part.strip()} is no range in 1 to {count}")
        found.update(range(low, high + 1))
    return sorted(found)
