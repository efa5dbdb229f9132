"""Accents that recognition saw where there are none: `MÍDI` in a document that writes `MIDI` (XT-08)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")


class Spellings:
    """The words of a document, for those of one that were recognised with an accent too many."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = Counter(word for text in texts for word in _WORD.findall(text))

    def corrected(self, text: str) -> str:
        """The text with each accented word written plainly that the document writes plainly more often."""
        return text if text.isascii() else _WORD.sub(self._plain, text)

    def _plain(self, match: re.Match[str]) -> str:
        word = match[0]
        if word.isascii():
            return word
        parts = unicodedata.normalize("NFD", word)
        plain = "".join(part for part in parts if not unicodedata.combining(part))
        return plain if plain.isascii() and self._counts[plain] > self._counts[word] else word
