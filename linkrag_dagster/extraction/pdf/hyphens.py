"""Words broken at line ends: joined when the document knows the joined word (XT-07)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]+(?:[-‐‑][^\W\d_]+)*")
_BROKEN = re.compile(r"([^\W\d_]+)([-‐\u00ad])$")
_REST = re.compile(r"[^\W\d_]+")
_LAST = re.compile(r"[^\W\d_]+$")
_LONGEST_WORD = 256
_HANGUL = re.compile(r"[\uac00-\ud7a3]")


_HYPHENATING = 0.04
"""Share of lines that end with a hyphen, from which on a document is one that breaks its words."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a document.

    Attributes:
        counts: how often each stands inside the lines, in small letters.
        breaks: whether the document breaks words at line ends: a joined word is known, or such lines are many.
    """

    counts: Counter[str]
    breaks: bool

    @classmethod
    def of(cls, lines: Sequence[str]) -> Vocabulary:
        """The words of lines, without those that a line's end may have broken."""
        counts: Counter[str] = Counter()
        halves: list[str] = []
        for line, after in zip(lines, [*lines[1:], ""], strict=True):
            words = _WORD.findall(line.lower())
            broken, rest = _BROKEN.search(line.strip()[-_LONGEST_WORD:]), _REST.match(after)
            if words and broken:
                words.pop()
                halves += [(broken[1] + rest[0]).lower()] if rest is not None else []
            counts.update(words)
        many = len(halves) >= 2 and len(halves) >= _HYPHENATING * len(lines)
        return cls(counts, many or any(half in counts for half in halves))

    def is_one(self, before: str, after: str) -> bool:
        """Whether a line's last word and the next one's first are one: the document has it whole as often as a half.

        Before: `감소하 였다`, since Korean has blanks between words, and breaks them at any syllable.
        After: `감소하였다`, which stands whole in another line.
        """
        head, tail = _LAST.search(before), _REST.match(after)
        if head is None or tail is None:
            return False
        whole = self.counts[(head[0] + tail[0]).lower()]
        return whole > 0 and whole >= min(self.counts[head[0].lower()], self.counts[tail[0].lower()])


def junction(before: str, after: str, known: Vocabulary) -> tuple[int, str]:
    """How one line goes on in the next: how many of its last characters go, and what stands between them.

    A hyphen at the end goes where the document has the joined word; it stays where the document writes the word with
    a hyphen. Where it does neither, the hyphen goes if the document breaks words at all, unless both halves are words
    of their own. A soft hyphen always goes.
    """
    # A paragraph grows line by line: looked through each time, it would cost the square of its length.
    before = before[-_LONGEST_WORD:]
    broken = _BROKEN.search(before)
    rest = _REST.match(after)
    if _HANGUL.match(before[-1:]) and _HANGUL.match(after[:1]):
        return 0, "" if known.is_one(before, after) else " "
    if broken is None or rest is None:
        return 0, "" if _is_close(before[-1:]) and _is_close(after[:1]) else " "
    if broken[2] == "\u00ad":
        return 1, ""
    head, tail = broken[1].lower(), rest[0].lower()
    if not rest[0][0].islower():
        return 0, ""  # `Hewlett-` `Packard`
    joined, hyphenated = known.counts[head + tail], known.counts[f"{head}-{tail}"]
    if joined or hyphenated:
        return (1, "") if joined >= hyphenated else (0, "")
    if head.isascii() and len(head) > 2 and len(tail) > 2 and known.counts[head] and known.counts[tail]:
        return 0, ""
    return (1, "") if known.breaks else (0, "")


def join_lines(lines: Sequence[str], known: Vocabulary) -> str:
    """Lines as one."""
    text = ""
    for line in lines:
        if not text:
            text = line
            continue
        dropped, between = junction(text, line, known)
        text = text[: len(text) - dropped] + between + line
    return text


def _is_close(char: str) -> bool:
    """Whether a character is of a script that puts no blanks between words."""
    return bool(char) and unicodedata.east_asian_width(char) in "WF" and not "\uac00" <= char <= "\ud7a3"
