"""The experiment's retriever: how many different query terms stand in a chunk."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from linkrag_dagster.experiments.seed002.chunks import Chunk

_TERM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk that was found.

    Attributes:
        matched: the query's terms in it, sorted; their number is the score.
    """

    chunk: Chunk
    matched: tuple[str, ...]

    @property
    def score(self) -> int:
        """Different query terms in the chunk."""
        return len(self.matched)


def terms(text: str) -> frozenset[str]:
    """The different lower-case words of ASCII letters and digits, hyphens within them kept."""
    return frozenset(_TERM.findall(text.lower()))


def rank(chunks: Iterable[Chunk], query: str) -> list[Ranked]:
    """Chunks with a term of the query, by falling score; ties by document, version, start and end.

    Ids sort as the seed's JavaScript does, by UTF-16 units, so that the order of documents changes nothing.
    """
    wanted = terms(query)
    found = [Ranked(chunk, tuple(sorted(wanted & terms(chunk.text)))) for chunk in chunks]
    return sorted((item for item in found if item.matched), key=_order)


def _order(item: Ranked) -> tuple[int, bytes, bytes, int, int]:
    chunk = item.chunk
    return (-item.score, _utf16(chunk.doc_id), _utf16(chunk.version), chunk.start, chunk.end)


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")
