"""Which extractor takes which media type (XT-01). A further format is one more entry of `EXTRACTORS`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.html import HTML_EXTRACTOR
from linkrag_dagster.extraction.media_type import HEAD_BYTES, detect
from linkrag_dagster.extraction.pdf import PDF_EXTRACTOR
from linkrag_dagster.extraction.records import Extraction
from linkrag_dagster.extraction.text import MARKDOWN_EXTRACTOR, PLAIN_EXTRACTOR


@runtime_checkable
class Extractor(Protocol):
    """Turns the bytes of some media types into text."""

    @property
    def name(self) -> str:
        """Stable name, stored with each row."""
        ...

    @property
    def version(self) -> str:
        """Rises when the same bytes and options may give another text."""
        ...

    @property
    def media_types(self) -> tuple[str, ...]:
        """The media types it takes."""
        ...

    def libraries(self) -> Mapping[str, str]:
        """Library → installed version, for every library the text depends on."""
        ...

    def recognition(self) -> Mapping[str, str]:
        """The same for those that only documents with pictures of text depend on; empty for most extractors."""
        ...

    def extract(self, data: bytes, *, name: str, options: Mapping[str, object]) -> Extraction:
        """The document's text. Raises ExtractionError."""
        ...


EXTRACTORS: tuple[Extractor, ...] = (MARKDOWN_EXTRACTOR, PLAIN_EXTRACTOR, HTML_EXTRACTOR, PDF_EXTRACTOR)


def extractor_for(media_type: str) -> Extractor | None:
    """The extractor that takes `media_type`; None when none does."""
    return next((extractor for extractor in EXTRACTORS if media_type in extractor.media_types), None)


def choose(data_head: bytes, name: str) -> Extractor:
    """The extractor for a document, by its first bytes (64 KiB are looked at) and the hint of its name.

    Raises:
        ExtractionError: `empty` (no bytes), `unsupported` (a format without an extractor, named in the
            message).
    """
    if not data_head:
        raise ExtractionError("empty", f"{name} has no bytes: write it, or delete it")
    media_type = detect(data_head, name)
    extractor = extractor_for(media_type)
    if extractor is None:
        known = ", ".join(sorted(taken for extractor in EXTRACTORS for taken in extractor.media_types))
        raise ExtractionError(
            "unsupported",
            f"{name} is {media_type}, which no extractor takes (known: {known}): exclude or convert it",
        )
    return extractor


def extract(data: bytes, name: str, options: Mapping[str, object] | None = None) -> Extraction:
    """The text of a document by the extractor its content asks for.

    Raises:
        ExtractionError: as `choose` and the extractor.
    """
    return choose(data[:HEAD_BYTES], name).extract(data, name=name, options=options or {})


def spec(media_type: str, options: Mapping[str, object] | None = None) -> dict[str, object]:
    """All that decides the text of a document of `media_type` besides its bytes, as JSON values (VE-01,
    VE-02).

    A media type without an extractor has a spec too: the row becomes stale when one is added.
    """
    extractor = extractor_for(media_type)
    if extractor is None:
        return {"media_type": media_type, "extractor": None}
    return {
        "media_type": media_type,
        "extractor": extractor.name,
        "version": extractor.version,
        "libraries": dict(sorted(extractor.libraries().items())),
        "options": dict(sorted((options or {}).items())),
    }
