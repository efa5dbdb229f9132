"""What a comparison strategy gives: pieces of the text, each with where it stands and why it ends there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from linkrag_dagster.chunking.records import Span
from linkrag_dagster.chunking.scorer import Scorer
from linkrag_dagster.chunking.strategy_settings import StrategySettings
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.tokens import Tokenizer

# Slices longer than this are stripped at once, shorter ones code point by code point, without a copy.
_LONG = 4096

END = "end"
"""Why the last piece of a text ends."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A slice of the text, `text[start_char:end_char]`, that becomes a chunk.

    Attributes:
        start_char, end_char: its place, half-open.
        ends: why it ends there, in one word.
        trail: headings or symbols that it stands under, outermost first; None: those of its elements.
        copied: the end of the piece before, repeated in front of it (ST-07); it counts as evidence like the piece
            itself. None for nothing.
    """

    start_char: int
    end_char: int
    ends: str
    trail: tuple[str, ...] | None = None
    copied: Span | None = None


@dataclass(frozen=True, slots=True)
class WeighedGap:
    """A place that a strategy compared, and what became of it (SD-16).

    Attributes:
        position: code point in the text where a cut there would fall, or where the curve was taken.
        cohesion: likeness of what stands on both sides; None where nothing could be compared.
        depth: of the valley there; None for strategies without valleys.
        legal: whether a cut may fall at that very place.
        chosen: whether one does.
        reason: a word for why, then its figures.
    """

    position: int
    cohesion: float | None
    depth: float | None
    legal: bool
    chosen: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Cutting:
    """What a strategy made of one text.

    Attributes:
        pieces: in order of their starts, none of them blank.
        strategy: the strategy that cut, where `auto` chose it; else "".
        reason: why that strategy, or why a simpler way was taken; else "".
        gaps: every place that was compared, those of the cuts among them, in order; empty where nothing was.
    """

    pieces: Sequence[Piece]
    strategy: str = ""
    reason: str = ""
    gaps: Sequence[WeighedGap] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """What a strategy works on.

    Attributes:
        text: the document's text.
        elements: its elements, in order.
        settings: sizes and choices.
        tokenizer: whose tokens are counted.
        scorer: compares texts; None where there is none.
        language: the name of the format's syntax where it is known, such as `python`; "" to find out.
    """

    text: str
    elements: Sequence[Element]
    settings: StrategySettings
    tokenizer: Tokenizer
    scorer: Scorer | None = None
    language: str = field(default="")


class Strategy(Protocol):
    """A pure function from a text to its pieces."""

    def __call__(self, source: Source) -> Cutting:
        """Pieces of the text; the same ones for the same input.

        Raises:
            ValueError: a scorer is missing.
            ScoringError: the scorer failed.
        """
        ...


def visible(text: str, start: int, end: int) -> tuple[int, int]:
    """The slice without the white space around it; empty, at its start, where it is blank."""
    while start < end and text[end - 1].isspace() and end - start < _LONG:
        end -= 1
    if start < end and not text[start].isspace() and not text[end - 1].isspace():
        return start, end
    words = text[start:end]
    first = start + len(words) - len(words.lstrip())
    return (first, start + len(words.rstrip())) if first < end else (start, start)
