"""From a document's bytes to its canonical text (XT-01, XT-02, XT-10, XT-11)."""

from linkrag_dagster.extraction.failures import RETRYABLE, ExtractionError
from linkrag_dagster.extraction.locators import Locator
from linkrag_dagster.extraction.media_type import detect
from linkrag_dagster.extraction.records import Extraction, Page
from linkrag_dagster.extraction.registry import EXTRACTORS, Extractor, choose, extract, extractor_for, spec

__all__ = [
    "EXTRACTORS",
    "RETRYABLE",
    "Extraction",
    "ExtractionError",
    "Extractor",
    "Locator",
    "Page",
    "choose",
    "detect",
    "extract",
    "extractor_for",
    "spec",
]
