"""What is to be done with one document, and what comes of it; the same in a worker as in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.media_type import HEAD_BYTES
from linkrag_dagster.extraction.page_images import PageImage, draw_pages
from linkrag_dagster.extraction.pdf import PdfExtractor
from linkrag_dagster.extraction.records import Extraction
from linkrag_dagster.extraction.registry import choose
from linkrag_dagster.workers.memory import is_want_of_memory, out_of_memory

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Outcome = Extraction | ExtractionError


class Work(Protocol[R_co]):
    """Something to be done with a document's bytes, by any process."""

    @property
    def data(self) -> bytes:
        """The document's bytes."""
        ...

    @property
    def path(self) -> str:
        """A hint at its format."""
        ...

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def result(self) -> R_co:
        """Do it. Raises ExtractionError."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """A document to extract.

    Attributes:
        data: its bytes.
        path: a hint at its format.
        name: what messages call it.
        options: of its extractor.
        on_scan: called after each page with pictures of text, by the process that reads it.
    """

    data: bytes
    path: str
    name: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    on_scan: Callable[[], None] | None = None

    def result(self) -> Extraction:
        """Its text. Raises ExtractionError."""
        extractor = choose(self.data[:HEAD_BYTES], self.path)
        if self.on_scan is not None and isinstance(extractor, PdfExtractor):
            return extractor.extract(self.data, name=self.name, options=self.options, on_scan=self.on_scan)
        return extractor.extract(self.data, name=self.name, options=self.options)


@dataclass(frozen=True, slots=True)
class Drawing:
    """Pages of a PDF document to draw, by number from 1."""

    data: bytes
    path: str
    name: str
    pages: Sequence[int]

    def result(self) -> tuple[PageImage, ...]:
        """Their pictures. Raises ExtractionError."""
        return draw_pages(self.data, name=self.name, pages=self.pages)


def perform(work: Work[R]) -> R | ExtractionError:
    """What comes of it; never an exception, whatever is wrong with the document."""
    try:
        return work.result()
    except ExtractionError as error:
        if isinstance(error.__cause__, MemoryError) or is_want_of_memory(str(error.__cause__ or "")):
            return out_of_memory(work.name)
        if work.name in error.message:
            return error
        return ExtractionError(error.kind, f"{work.name}: {error.message}", retryable=error.retryable)
    except MemoryError:
        return out_of_memory(work.name)
    except Exception as error:
        # A fault of the extractor, or of its library: the document is named, and the others go on.
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        if is_want_of_memory(reason):
            return out_of_memory(work.name)
        return ExtractionError(
            "crash",
            f"{work.name}: its extractor failed ({reason}): report it, and exclude the document until then",
        )
