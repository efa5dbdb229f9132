"""Extractors of Markdown and plain text: the bytes' own characters, nothing added, nothing lost."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from linkrag_dagster.extraction.encoding import decode
from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.language import guess_language
from linkrag_dagster.extraction.locators import line_break_locators
from linkrag_dagster.extraction.media_type import MARKDOWN, detect
from linkrag_dagster.extraction.records import Extraction
from linkrag_dagster.markdown import parse
from linkrag_dagster.markdown.front_matter import Value, read_front_matter


@dataclass(frozen=True, slots=True)
class TextExtractor:
    """Decodes a document that is text.

    Attributes:
        name, version: see `Extractor`.
        media_types: the formats it takes.
        markup: `markdown` or `plain`, given to every text.
    """

    name: str
    version: str
    media_types: tuple[str, ...]
    markup: str

    def libraries(self) -> Mapping[str, str]:
        """Versions on which the text depends: the detector's statistics, Python's codecs."""
        return {"chardet": version("chardet"), "python": platform.python_version()}

    def recognition(self) -> Mapping[str, str]:
        """None."""
        return {}

    def extract(self, data: bytes, *, name: str, options: Mapping[str, object]) -> Extraction:
        """The document's text with LF line breaks and without a byte order mark.

        Raises:
            ExtractionError: `empty` (no bytes), `no_text` (white space only), `decode` (no text).
        """
        if not data:
            raise ExtractionError("empty", f"{name} has no bytes: write it, or delete it")
        decoded = decode(data)
        text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
        if not text.strip():
            raise ExtractionError("no_text", f"{name} holds nothing but white space: write it, or delete it")
        title, language = _declared(text) if self.markup == "markdown" else (None, None)
        return Extraction(
            text=text,
            title=title,
            language=language or guess_language(text),
            media_type=detect(data, name),
            markup=self.markup,
            extractor=self.name,
            extractor_version=self.version,
            encoding=decoded.encoding,
            locators=line_break_locators(decoded.text),
        )


def _declared(text: str) -> tuple[str | None, str | None]:
    """Title and language of a Markdown text: its front matter's, else the first heading of level 1."""
    matter = read_front_matter(text)
    values: Mapping[str, Value] = {} if matter is None else matter.values
    title = _words(values.get("title"))
    if title is None:
        titles = (_words(element.title) for element in parse(text) if element.level == 1)
        title = next((words for words in titles if words is not None), None)
    language = _words(values.get("lang")) or _words(values.get("language"))
    return title, language.split("-")[0].split("_")[0].lower() if language else None


def _words(value: Value) -> str | None:
    """One line without outer white space; None for nothing, or for a list."""
    return " ".join(value.split()) or None if isinstance(value, str) else None


MARKDOWN_EXTRACTOR = TextExtractor("markdown", "1", (MARKDOWN,), "markdown")
PLAIN_EXTRACTOR = TextExtractor(
    "plain-text",
    "1",
    (
        "text/plain",
        "text/csv",
        "text/tab-separated-values",
        "application/json",
        "application/jsonl",
        "application/xml",
    ),
    "plain",
)
