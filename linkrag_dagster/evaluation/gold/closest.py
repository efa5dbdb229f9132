"""The passage of a corpus that is most like words which it does not hold: what to quote instead of a missing needle.

An index of words, made once, finds windows that share much of the needle, rare words first; only those few are
compared letter by letter. So the cost is linear in the corpus once, and bounded for each needle.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from linkrag_dagster.evaluation.gold.corpus import GoldCorpus, Place
from linkrag_dagster.evaluation.gold.white_space import collapsed

_WORD = re.compile(r"[^\W_]+")
_UNSPACED_WORD = re.compile("[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]")
POSTINGS = 20_000
"""Occurrences of a needle's words that are looked at, the rarest words first."""
CANDIDATES = 4
"""Windows that are compared letter by letter."""
COMPARED_LETTERS = 1_000
"""Longest needle that is compared letter by letter; longer ones word by word."""
LEAST_SIMILARITY = 0.4
"""Passages less like the needle are no help."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of the corpus.

    Attributes:
        place: where it stands.
        text: its words.
        similarity: with the needle, from 0 to 1 (Ratcliff and Obershelp's ratio).
    """

    place: Place
    text: str
    similarity: float


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of a text, case-folded, with their spans; in Han and kana every character is one."""

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


class PassageIndex:
    """Words of a corpus by their places."""

    def __init__(self, corpus: GoldCorpus) -> None:
        self._documents = corpus.documents
        self._texts = [_words(document.text) for document in corpus.documents]
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, text in enumerate(self._texts):
            for index, word in enumerate(text.words):
                self._postings.setdefault(word, []).append((number, index))
        self._size = sum(len(text.words) for text in self._texts)

    def closest(self, needle: str) -> Passage | None:
        """The passage most like the needle; None where nothing resembles it.

        Of equal ones the first by name and offset.
        """
        wanted = _words(needle).words
        found = [self._passage(needle, wanted, number, at) for number, at in self._candidates(wanted)]
        close = [p for p in found if p is not None and p.similarity >= LEAST_SIMILARITY]
        return min(close, key=lambda p: (-p.similarity, p.place), default=None)

    def _candidates(self, wanted: tuple[str, ...]) -> list[tuple[int, int]]:
        """Document and word from which on windows as long as the needle share most of it, the best first."""
        weights = {
            word: math.log(1 + self._size / len(self._postings[word]))
            for word in set(wanted)
            if word in self._postings
        }
        hits: list[tuple[int, int, str]] = []
        for word in sorted(weights, key=lambda w: (len(self._postings[w]), w)):
            if hits and len(hits) + len(self._postings[word]) > POSTINGS:
                break
            hits += [(number, index, word) for number, index in self._postings[word][:POSTINGS]]
        hits.sort()
        best: list[tuple[float, int, int]] = []
        inside: Counter[str] = Counter()
        score, last = 0.0, 0
        for first, (number, index, word) in enumerate(hits):
            while last < len(hits) and hits[last][0] == number and hits[last][1] < index + len(wanted):
                inside[hits[last][2]] += 1
                score += weights[hits[last][2]] if inside[hits[last][2]] == 1 else 0.0
                last += 1
            best.append((-score, number, index))
            inside[word] -= 1
            score -= weights[word] if not inside[word] else 0.0
            last = max(last, first + 1)
        return self._apart(sorted(best), len(wanted))

    @staticmethod
    def _apart(ranked: list[tuple[float, int, int]], length: int) -> list[tuple[int, int]]:
        """The best windows that do not overlap better ones."""
        kept: list[tuple[int, int]] = []
        for _, number, index in ranked:
            if all(n != number or abs(i - index) >= length for n, i in kept):
                kept.append((number, index))
                if len(kept) == CANDIDATES:
                    break
        return kept

    def _passage(self, needle: str, wanted: tuple[str, ...], number: int, at: int) -> Passage | None:
        """The words at a window that fit the needle best."""
        text, document = self._texts[number], self._documents[number]
        window = text.words[at : at + len(wanted) + len(wanted) // 4 + 1]
        blocks = SequenceMatcher(None, wanted, window, autojunk=False).get_matching_blocks()[:-1]
        if not blocks:
            return None
        head, tail = blocks[0], blocks[-1]
        # What the needle has beyond the common words stands, changed, beyond them in the text too.
        first = max(0, at + head.b - head.a)
        last = min(len(text.words), at + tail.b + len(wanted) - tail.a)
        start, end = text.spans[first][0], _with_stops(document.text, text.spans[last - 1][1])
        words = document.text[start:end]
        place = Place(document.name, start, end, document.doc_id)
        return Passage(place, words, _similarity(needle, words))


_STOPS = re.compile(r"[.!?。！？…\"'”’)\]」』]*")


def _with_stops(text: str, end: int) -> int:
    """`end` moved past closing marks that follow."""
    found = _STOPS.match(text, end)
    return found.end() if found else end


def _similarity(needle: str, passage: str) -> float:
    one, other = collapsed(needle), collapsed(passage)
    if max(len(one), len(other)) > COMPARED_LETTERS:
        return SequenceMatcher(None, _words(one).words, _words(other).words, autojunk=False).ratio()
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _words(text: str) -> _Words:
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    for run in _WORD.finditer(text):
        start = run.start()
        for position, character in enumerate(run.group(), start=start):
            if _UNSPACED_WORD.match(character):
                if start < position:
                    words.append(text[start:position].casefold())
                    spans.append((start, position))
                words.append(character)
                spans.append((position, position + 1))
                start = position + 1
        if start < run.end():
            words.append(text[start : run.end()].casefold())
            spans.append((start, run.end()))
    return _Words(tuple(words), tuple(spans))
