"""Characters recognised in pictures of text (XT-08)."""

from linkrag_dagster.extraction.ocr.lines import Reading, RecognisedLine, Recogniser
from linkrag_dagster.extraction.ocr.orientation import read_upright
from linkrag_dagster.extraction.ocr.rapidocr import EXTRA, components, is_installed, recogniser
from linkrag_dagster.extraction.ocr.settings import OcrSettings

__all__ = [
    "EXTRA",
    "OcrSettings",
    "Reading",
    "RecognisedLine",
    "Recogniser",
    "components",
    "is_installed",
    "read_upright",
    "recogniser",
]
