"""Word boundaries in scripts that put no blanks between words: Chinese, Japanese, Thai.

Chinese by the dictionary of jieba (`rjieba`), Japanese by the phrases of BudouX (`budoux`), Thai by the dictionary of
PyThaiNLP (`newmm-tokenizer`): small, offline, chosen in docs/decisions/006. Where one is not installed, and for other
scripts, no boundary is claimed; a cut there falls between graphemes and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, cast

from linkrag_dagster.tokens.cutting import CLOSING, OPENING
from linkrag_dagster.tokens.tokenizer import well_formed

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u3099-\u309f\u30a1-\u30ff\uff66-\uff9f"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_RUN = re.compile(f"[{_HAN}{_KANA}]+|[{_THAI}]+")
_ANY_KANA = re.compile(f"[{_KANA}]")
_JAPANESE_EDGE = re.compile(
    "[\u3400-\u9fff](?=[\u30a1-\u30fa])|[\u30a1-\u30fa\u30fc](?=[\u3400-\u9fff\u3041-\u3096])"
    "|[てで](?=いる|いた|いま|くだ|おり|しま|あ[るりっ])"
    "|[\u3400-\u9fff](?=で(?:あ[るりっ]|す|した|は)|に[はも]|として|という)"
)
_ANY_HIRAGANA = re.compile("[\u3041-\u3096]")
# A dictionary looks at this many code points at a time; a boundary near the end is judged again with what follows.
_WINDOW = 512
_LONGEST_COMPOUND = 64
_LONGEST_WORD = 20
# A single ideograph between words is less likely a word of its own.
_SINGLE = 3
_MARGIN = 32

Words = Callable[[str], list[str]]


def word_boundaries(text: str, start: int, end: int) -> list[int]:
    """Positions inside `text[start:end]`, ascending, between two words of an unspaced script, or beside a run of one.

    Every position lies between two code points of such a run, or where the run meets another script's letters. Linear.

    Args:
        text: any text.
        start, end: the slice; words are looked for within it alone.
    """
    found: list[int] = []
    japanese = _ANY_KANA.search(text, start, end) is not None
    for run in _RUN.finditer(text, start, end):
        thai = "\u0e00" <= run[0][0] <= "\u0e7f"
        words = _thai() if thai else _japanese() if japanese else _chinese()
        if run.start() > start and (not found or found[-1] < run.start()):
            found.append(run.start())
        if words is not None:
            inner = _inner(well_formed(run[0]), words)
            found += [run.start() + b for b in inner if not (japanese and _inside_compound(run[0], b))]
        if run.end() < end:
            found.append(run.end())
    return [b for b in found if start < b < end and _good(text, b)]


def part_boundaries(text: str, start: int, end: int) -> list[int]:
    """Positions inside a word of an unspaced script that is too long itself: between the words that it is made of.

    Chinese and Thai compounds as the fewest words of the dictionary, Japanese ones between any phrases, where katakana
    begin or end, and before an auxiliary.
    """
    found: list[int] = []
    japanese = _ANY_KANA.search(text, start, end) is not None
    for run in _RUN.finditer(text, start, end):
        thai = "\u0e00" <= run[0][0] <= "\u0e7f"
        if japanese and not thai:
            phrases = _japanese()
            inner: set[int] = {m.end() for m in _JAPANESE_EDGE.finditer(run[0])}
            if phrases is not None:
                inner |= set(_inner(well_formed(run[0]), phrases))
            found += (run.start() + b for b in sorted(inner))
        elif len(run[0]) <= _LONGEST_COMPOUND:
            known = _thai_word() if thai else _chinese_word()
            if known is not None:
                found += (run.start() + b for b in _parts(run[0], known))
    return [b for b in found if start < b < end and _good(text, b)]


def _good(text: str, position: int) -> bool:
    """Whether a reader would cut there: no syllable is split, no mark or measure word parted from its own."""
    left, right = text[position - 1], text[position]
    if right in CLOSING or left in OPENING or (left.isdecimal() and right.isalpha()):
        return False
    return not splits_syllable(text, position)


def splits_syllable(text: str, position: int) -> bool:
    """Whether a cut there parts what is written as one: a Thai vowel from its consonant, a kana from its mark."""
    left, right = text[position - 1], text[position]
    return (
        "\u0e30" <= right <= "\u0e3a"
        or "\u0e45" <= right <= "\u0e4e"
        or "\u0e40" <= left <= "\u0e44"
        or (right in "\u3099\u309a\u30fc\u3005")
    )


def segmenters() -> dict[str, bool]:
    """Which segmenters are installed, by language."""
    return {"zh": _chinese() is not None, "ja": _japanese() is not None, "th": _thai() is not None}


def _inner(run: str, words: Words) -> Iterator[int]:
    """Word boundaries inside a run, found window by window."""
    at = 0
    while at < len(run):
        stop = min(len(run), at + _WINDOW)
        last, trusted = at, at
        for word in words(run[at:stop]):
            last += len(word)
            if last < stop or stop == len(run):
                if stop < len(run) and last > stop - _MARGIN and trusted > at:
                    break
                trusted = last
                if last < len(run):
                    yield last
        # One word as long as the window: read on behind it.
        at = trusted if trusted > at else stop


def _inside_compound(run: str, position: int) -> bool:
    """Whether two ideographs, or two katakana, meet there: in Japanese a compound more often than two words."""
    left, right = run[position - 1], run[position]
    if _ANY_HIRAGANA.match(left) or _ANY_HIRAGANA.match(right):
        return False
    return bool(_ANY_KANA.match(left)) == bool(_ANY_KANA.match(right))


def _parts(word: str, known: Callable[[str], bool]) -> list[int]:
    """Boundaries of the fewest known words, none of them `word`, that make it; none where there are no such words."""
    best: list[tuple[int, int]] = [
        (0, 0)
    ]  # cost of the first k code points, and where their last word begins
    for end in range(1, len(word) + 1):
        costs = [
            (best[begin][0] + (_SINGLE if end - begin == 1 else 1), begin)
            for begin in range(max(0, end - _LONGEST_WORD), end)
            if best[begin][1] >= 0 and end - begin < len(word) and known(word[begin:end])
        ]
        best.append(min(costs, default=(0, -1)))
    found: list[int] = []
    at = best[-1][1]
    while at > 0:
        found.append(at)
        at = best[at][1]
    return found[::-1]


@cache
def _chinese_word() -> Callable[[str], bool] | None:
    module = _module("rjieba")
    return None if module is None else cast("Callable[[str], bool]", module.has_word)


@cache
def _thai_word() -> Callable[[str], bool] | None:
    module = _module("newmm_tokenizer.common")
    return None if module is None else cast("frozenset[str]", module.thai_words()).__contains__


@cache
def _chinese() -> Words | None:
    module = _module("rjieba")
    return None if module is None else cast("Words", module.cut)


@cache
def _japanese() -> Words | None:
    module = _module("budoux")
    return None if module is None else cast("Words", module.load_default_japanese_parser().parse)


@cache
def _thai() -> Words | None:
    module = _module("newmm_tokenizer.tokenizer")
    return None if module is None else cast("Words", module.word_tokenize)


def _module(name: str) -> Any | None:
    try:
        return import_module(name)
    except ImportError:
        return None
