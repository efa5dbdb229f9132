"""The header of an indexed text: document title and heading trail (EX-02)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby

from linkrag_dagster.markdown.elements import Element

JOINT = " > "
_LETTERS = re.compile(r"[^\W\d_]+")
# Scripts that texts of one language mix; their characters are words of their own.
_EAST_ASIAN = frozenset(
    ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC")
)
_EAST = "East Asian"
_UNSPACED = frozenset((_EAST, "THAI", "LAO", "KHMER", "MYANMAR"))
# So many code points tell which script a text is written in.
_SAMPLE = 4096
# And so many of a title: whatever is longer is a text.
_TITLE = 256


LONGEST_TITLE = 8192
"""Tokens of a title above which no header has room for it, where no window says less."""


class Headers:
    """The headers of a document's chunks. Each title is read once, however many chunks stand below it (TK-04)."""

    def __init__(self, title: str, *, most: int, count: Callable[[str], int]) -> None:
        """For the chunks of one document.

        Args:
            title: the document's; "" for none.
            most: tokens that a header has room for at most. A title that alone has more is in no header, nor are those
                outside of it, which would go first (EX-05): a wall of text behind a `#` is not read anew with each of
                the chunks below it.
            count: tokens of a text.
        """
        self._title = title
        self._most = most
        self._count = count
        self._parts: dict[str, str | None] = {}
        self._made: dict[tuple[str, ...], tuple[str, ...]] = {}

    def over(self, trail: tuple[str, ...]) -> tuple[str, ...]:
        """Title and headings, outermost first, each on one line; a first heading equal to the title is not repeated."""
        made = self._made.get(trail)
        if made is None:
            made = self._made[trail] = tuple(self._inner(trail))
        return made

    def _inner(self, trail: tuple[str, ...]) -> list[str]:
        parts = [self._part(part) for part in (self._title, *trail)]
        if len(parts) > 1 and parts[0] == parts[1]:
            del parts[0]
        inner: list[str] = []
        for part in parts:
            if part is None:
                inner.clear()
            elif part:
                inner.append(part)
        return inner

    def _part(self, title: str) -> str | None:
        """A title on one line; None for one that no header has room for."""
        if title not in self._parts:
            line = " ".join(title.split())
            fits = len(line) <= self._most or self._count(line) <= self._most
            self._parts[title] = line if fits else None
        return self._parts[title]


def header_line(parts: Sequence[str]) -> str:
    """`Title > Section > Sub`."""
    return JOINT.join(parts)


def title_of(elements: Sequence[Element]) -> str:
    """Title of a document without a declared one: its first level-1 heading, else none."""
    for element in elements:
        if element.kind == "heading" and element.level == 1 and element.title:
            return element.title
    return ""


def is_foreign(title: str, text: str) -> bool:
    """Whether a title is in no script that most of the text is in, and the text has none of its words.

    Such a title (`Super_Bowl_50` above a Chinese article) is a label beside the text. Readers who ask in the text's
    language do not use its words, and before each chunk it makes the vectors of a document's chunks alike.

    Args:
        title: a document's title, of which the begin counts; one without letters is never foreign.
        text: the document's text, of which the begin tells the script. Linear in it where the scripts differ.
    """
    title = title[:_TITLE]
    if title.isascii() and text[:_SAMPLE].isascii():
        return False
    own, sample = _words(title), text[:_SAMPLE]
    wanted = sorted({word for word, _ in own}, key=lambda word: (-len(word), word))
    words = re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE)
    if not own or _says(words, sample):  # most titles are words of the first lines: no script need be told
        return False
    most = Counter(script for _, script in _words(sample)).most_common(1)
    return bool(most) and most[0][0] not in {script for _, script in own} and not _says(words, text)


def _says(words: re.Pattern[str], text: str) -> bool:
    """Whether the text has one of the words, not only as a part of another."""
    return any(not _goes_on(found, text) for found in words.finditer(text))


def _goes_on(found: re.Match[str], text: str) -> bool:
    """Whether what was found is only a part of a word of its own script."""
    start, end = found.span()
    first, last = _script(text[start]), _script(text[end - 1])
    return (start > 0 and first not in _UNSPACED and _script(text[start - 1]) == first) or (
        end < len(text) and last not in _UNSPACED and _script(text[end]) == last
    )


def _words(text: str) -> list[tuple[str, str]]:
    """Runs of letters of one script with its name; letter by letter where a script has no spaces."""
    words: list[tuple[str, str]] = []
    for run in _LETTERS.findall(text):
        for script, letters in groupby(run, _script):
            if script in _UNSPACED:
                words += [(letter, script) for letter in letters]
            elif script:
                words.append(("".join(letters), script))
    return words


@lru_cache(4096)
def _script(character: str) -> str:
    """The script of a letter as Unicode names it, `LATIN`, those of East Asia as one; "" for what has none."""
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "").split(" ", 1)[0]
    return _EAST if name in _EAST_ASIAN else "LATIN" if name in ("FULLWIDTH", "MODIFIER") else name
