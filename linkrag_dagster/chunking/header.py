"""The header of an indexed text: document title and heading trail (EX-02)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
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


def header_parts(title: str, trail: Sequence[str]) -> list[str]:
    """Title and headings, outermost first, each on one line; a first heading equal to the title is not repeated."""
    parts = [" ".join(part.split()) for part in (title, *trail)]
    if len(parts) > 1 and parts[0] == parts[1]:
        del parts[0]
    return [part for part in parts if part]


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
        title: a document's title; one without letters is never foreign.
        text: the document's text, of which the begin tells the script. Linear in it where the scripts differ.
    """
    if title.isascii() and text[:_SAMPLE].isascii():
        return False
    own = _words(title)
    most = Counter(script for _, script in _words(text[:_SAMPLE])).most_common(1)
    if not own or not most or most[0][0] in {script for _, script in own}:
        return False
    wanted = sorted({word for word, _ in own}, key=lambda word: (-len(word), word))
    return all(
        _goes_on(found, text) for found in re.finditer("|".join(map(re.escape, wanted)), text, re.IGNORECASE)
    )


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
