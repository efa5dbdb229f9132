"""Whether a page's characters can be used as they are (XT-08).

A font without a table to Unicode gives characters that stand for nothing (U+FFFD, private use, controls), or letters
that stand for others. The first are counted. The second look like letters and are only suspected, by what holds in
any language: words have vowels, and no signs between their letters. Whoever suspects them has the page recognised,
and compares.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from linkrag_dagster.extraction.writing import is_writing

BULLETS = "\uf0b7\uf0a7"
"""Private characters of which everyone knows what they stand for."""
_LEAST_LETTERS = 80
"""Letters below which nothing is suspected: labels, codes, part numbers."""
_VOWELS = (0.24, 0.62)
"""Share of vowels among Latin letters, in any language written with them (0.32 to 0.5)."""
_BROKEN_WORDS = 0.3
"""Share of words with signs between their letters."""
_HIGH = 0.3
"""Share of letters above ASCII from which on they are looked at."""
_LATIN = re.compile(r"[A-Za-z]")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_WORD = re.compile(r"\S{4,}")
_SIGN_INSIDE = re.compile(r"[A-Za-z][!\"#$%&()*+,:;<=>?\[\\\]^_`{|}~][A-Za-z]")
_ADDRESS = re.compile(r"[\w.+-]+(?:@|://|\.\w|/|\(\))")
_ALIKE = 0.5


@lru_cache(maxsize=16_384)
def is_unreadable(char: str) -> bool:
    """Whether a character stands for nothing that a reader would see."""
    if char == "\ufffd":
        return True
    category = unicodedata.category(char)
    return category in ("Cc", "Cn", "Cs") or (category == "Co" and char not in BULLETS)


def unreadable_share(text: str) -> float:
    """Share of characters that stand for nothing, white space left out; 0 where there are none."""
    characters = [char for char in text if not char.isspace()]
    return sum(map(is_unreadable, characters)) / len(characters) if characters else 0.0


def is_suspicious(text: str) -> bool:
    """Whether letters look as if they stood for others. Says yes to some codes and tables: compare before you act."""
    latin = len(_LATIN.findall(text))
    letters = sum(map(str.isalpha, text))
    if letters >= _LEAST_LETTERS and letters - latin >= _HIGH * letters:
        return not is_writing("".join(char for char in text if not is_unreadable(char)))
    if latin < _LEAST_LETTERS:
        return False
    share = len(_VOWEL.findall(text)) / latin
    if not _VOWELS[0] <= share <= _VOWELS[1]:
        return True
    words = [word for word in _WORD.findall(text) if not _ADDRESS.match(word)]
    broken = sum(_SIGN_INSIDE.search(word) is not None for word in words)
    return len(words) >= 10 and broken >= _BROKEN_WORDS * len(words)


def are_alike(one: str, other: str) -> bool:
    """Whether two readings of a page say much the same: half of the pairs of neighbours of the shorter are in both."""
    first, second = _pairs(one), _pairs(other)
    least = min(first.total(), second.total())
    return not least or (first & second).total() >= _ALIKE * least


def _pairs(text: str) -> Counter[str]:
    characters = [char for char in text.lower() if char.isalnum()]
    return Counter(map("".join, pairwise(characters)))
