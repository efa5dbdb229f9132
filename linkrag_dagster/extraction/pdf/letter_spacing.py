"""Spread words closed up: `I N T R O` is set with space between its letters, and is one word (XT-07)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median
from typing import Any

_LEAST_LETTERS = 5
_WIDEST = 0.6
"""Space between spread letters at most, in font sizes."""
_WORDS_APART = 1.7
"""Times the usual space, from which on it is one between words."""
_LEAST_SPREAD, _LEAST_PAIRS = 0.06, 4
"""Space between neighbours, in font sizes, from which on letters are spread, and how many neighbours tell."""


def closed_up(chars: Sequence[Any], size: float) -> Sequence[Any]:
    """A span's characters without the blanks that the library put between the letters of spread words.

    Blanks that the page itself has stay: `a b c d e` is not one word. Nor are letters in the order of the alphabet.
    """
    if not any(char.get("synthetic") for char in chars):
        return chars
    return _without_some_blanks(_without_blanks(chars, size), size)


def _without_some_blanks(chars: Sequence[Any], size: float) -> Sequence[Any]:
    """Spread letters without blanks that only some of them got, since they are a little further from each other.

    Before: `R E MAR KAB L E`, of letters of which all are spread.
    After: `REMARKABLE`.
    """
    beside = [
        other["bbox"][0] - one["bbox"][2]
        for one, other in pairwise(chars)
        if one["c"].isalpha() and other["c"].isalpha()
    ]
    usual = median(beside) if len(beside) >= _LEAST_PAIRS else 0.0
    if not _LEAST_SPREAD * size <= usual <= _WIDEST * size:
        return chars
    return [
        char
        for at, char in enumerate(chars)
        if not (char["c"] == " " and char.get("synthetic") and 0 < at < len(chars) - 1)
        or chars[at + 1]["bbox"][0] - chars[at - 1]["bbox"][2] > _WORDS_APART * usual
    ]


def _without_blanks(chars: Sequence[Any], size: float) -> Sequence[Any]:
    """Spread letters without blanks, where each of them got one."""
    spread = [at for at in range(1, len(chars) - 1) if _is_between_letters(chars, at)]
    runs: list[list[int]] = []
    for at in spread:
        if runs and at == runs[-1][-1] + 2:
            runs[-1].append(at)
        else:
            runs.append([at])
    words = [[chars[run[0] - 1]["c"], *(chars[at + 1]["c"] for at in run)] for run in runs]
    if not any(len(word) >= _LEAST_LETTERS and not _is_alphabet(word) for word in words):
        return chars
    gaps = {at: chars[at + 1]["bbox"][0] - chars[at - 1]["bbox"][2] for at in spread}
    usual = median(gaps.values())
    if not 0 < usual <= _WIDEST * size:
        return chars
    return [
        char for at, char in enumerate(chars) if gaps.get(at, size) > _WORDS_APART * usual or at not in gaps
    ]


def alike_as_one(spans: Sequence[Any]) -> list[Any]:
    """Spans with neighbours in one font and size as one: what is drawn letter by letter has one for each.

    Before: `I N T R O`, of nine spans, none of which has letters that are spread.
    After: one span, which `closed_up` makes `INTRO`.
    """
    return [
        alike[0]
        if len(alike) == 1
        else {**alike[0], "chars": [char for span in alike for char in span["chars"]]}
        for _, group in groupby(spans, key=itemgetter("font", "size", "flags"))
        for alike in (list(group),)
    ]


def _is_between_letters(chars: Sequence[Any], at: int) -> bool:
    """Whether a blank of the library's own stands between two letters that stand alone."""
    char = chars[at]
    return (
        char["c"] == " "
        and bool(char.get("synthetic"))
        and chars[at - 1]["c"].isalpha()
        and chars[at + 1]["c"].isalpha()
        and (at < 2 or not chars[at - 2]["c"].isalnum())
        and (at + 2 >= len(chars) or not chars[at + 2]["c"].isalnum())
    )


def _is_alphabet(letters: Sequence[str]) -> bool:
    return all(ord(other) - ord(one) == 1 for one, other in pairwise(letters))
