"""The experiment's three ways of cutting (ST-01, ST-08)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from linkrag_dagster.experiments.seed002.fixture import Document, Parameters

# A paragraph: lines that are not blank, without the last one's end.
_PARAGRAPH = re.compile(r"(?<![^\r\n])[^\S\r\n]*[^\s][^\r\n]*(?:(?:\r\n|\r|\n)[^\S\r\n]*[^\s][^\r\n]*)*")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece `[start, end)` of one version of a document; what it costs is its length."""

    doc_id: str
    version: str
    start: int
    end: int
    text: str


def windows(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """Spans of `size` code points, `overlap` of them shared; the first that reaches the end is the last (ST-01)."""
    spans: list[tuple[int, int]] = []
    step = max(1, size - overlap)
    for start in range(0, len(text), step):
        end = min(start + size, len(text))
        spans.append((start, end))
        if end == len(text):
            break
    return spans


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Spans between blank lines, of any length; blank lines and the line end before them belong to none (ST-08)."""
    return [match.span() for match in _PARAGRAPH.finditer(text)]


STRATEGIES: Mapping[str, Callable[[str, Parameters], list[tuple[int, int]]]] = {
    "fixed": lambda text, parameters: windows(text, parameters.fixed_size, 0),
    "overlap": lambda text, parameters: windows(text, parameters.fixed_size, parameters.overlap),
    "paragraph": lambda text, _: paragraphs(text),
}
"""The strategies by name, in the table's order: text and sizes in, spans out."""


def cut(document: Document, strategy: str, parameters: Parameters) -> list[Chunk]:
    """The chunks of one document, in its order."""
    return [
        Chunk(document.doc_id, document.version, start, end, document.text[start:end])
        for start, end in STRATEGIES[strategy](document.text, parameters)
    ]
