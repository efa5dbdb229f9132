"""Encoder tokens of indexed texts, added up from what is known of the document instead of encoded anew (TK-02)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from linkrag_dagster.chunking.header import header_line
from linkrag_dagster.chunking.window import IndexedText
from linkrag_dagster.tokens import TokenCounter, Tokenizer

_PARTED = "\n\n"


class Place(Protocol):
    """Where a content stands, and whether as the document's own slice."""

    @property
    def start_char(self) -> int: ...
    @property
    def end_char(self) -> int: ...
    @property
    def verbatim(self) -> bool: ...


class IndexedTokens:
    """Counts indexed texts of one document, without the encoder's special tokens.

    A text is its parts with line breaks between them. Where counts add up between a line break and the first
    character of each part, the text has as many tokens as they, breaks included; and those of a slice of the document
    are known, but for its end.

    Args:
        encoder: whose tokens are counted.
        document: counts of the document's slices by that encoder; asked for once they are needed.
    """

    def __init__(self, encoder: Tokenizer, document: Callable[[], TokenCounter]) -> None:
        self._encoder = encoder
        self._document = document
        self._adds_up: dict[str, bool] = {}
        self._known: dict[str, int] = {}

    def count_each(
        self, texts: Sequence[IndexedText], places: Sequence[Place], contents: Sequence[int] | None = None
    ) -> list[int]:
        """Tokens of each text.

        Args:
            texts: their parts.
            places: where their contents stand in the document.
            contents: the encoder's tokens of the contents, if they are known.
        """
        known = [None] * len(texts) if contents is None else contents
        counts = [
            self._added_up(text, place, tokens)
            for text, place, tokens in zip(texts, places, known, strict=True)
        ]
        rest = [number for number, count in enumerate(counts) if count is None]
        encoded = dict(zip(rest, self._encoder.count_many([str(texts[n]) for n in rest]), strict=True))
        return [encoded[number] if count is None else count for number, count in enumerate(counts)]

    def count(self, text: IndexedText, place: Place) -> int:
        """Tokens of one text, whose content stands at a place of the document."""
        count = self._added_up(text, place, None)
        return self._encoder.count(str(text)) if count is None else count

    def _added_up(self, text: IndexedText, place: Place, content: int | None) -> int | None:
        """Tokens of the parts, from the last one to the first; None where they do not add up."""
        following = text.content
        if not following:
            return None
        context = text.context
        if text.after:
            if not self._apart(text.after):
                return None
            span = context[-1]
            total = self._document().count(span.start_char, span.end_char)
            total += self._content(text.content, place, _PARTED)
        else:
            total = self._content(text.content, place, "") if content is None else content
        if text.prefix:
            if not self._apart(following):
                return None
            total += self._short(text.prefix + "\n")
            following = text.prefix
        if text.before:
            if not self._apart(following):
                return None
            span = context[0]
            total += self._document().count_followed(span.start_char, span.end_char, _PARTED)
            following = text.before
        if text.introduction:
            if not self._apart(following):
                return None
            total += self._short(text.introduction + _PARTED)
            following = text.introduction
        if text.header:
            if not self._apart(following):
                return None
            total += self._short(header_line(text.header) + _PARTED)
        return total

    def _content(self, content: str, place: Place, end: str) -> int:
        # As the document has it, unless white space was left out.
        if place.verbatim and place.end_char - place.start_char == len(content):
            return self._document().count_followed(place.start_char, place.end_char, end)
        return self._encoder.count(content + end)

    def _apart(self, following: str) -> bool:
        """Whether counts add up between a line break and what follows it."""
        first = following[0]
        known = self._adds_up.get(first)
        if known is None:
            known = self._adds_up[first] = len(self._encoder.safe_cuts("\n" + first)) > 0
        return known

    def _short(self, words: str) -> int:
        """Tokens of words that many texts, or tries at one, begin with."""
        known = self._known.get(words)
        if known is None:
            known = self._known[words] = self._encoder.count(words)
        return known
