"""Characters of lines that run from the right to the left, in the order of speech (XT-09)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_LETTER = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_LAM, _ALEF = "\u0644", "\u0622\u0623\u0625\u0627"
_STOPS = ".!?:,;\u061f\u060c\u061b\u06d4\u2026"


def is_right_to_left(text: str) -> bool:
    """Whether most letters of a text are of a script that runs from the right to the left."""
    if not _LETTER.search(text):
        return False
    letters = [char for char in text if char.isalpha()]
    return sum(_LETTER.match(char) is not None for char in letters) * 2 > len(letters)


def holds_right_to_left(span: Any) -> bool:
    """Whether a span has letters of such a script."""
    return any("\u0590" <= char["c"] <= "\ufeff" and _LETTER.match(char["c"]) for char in span["chars"])


def with_stops_last(spans: Sequence[Any]) -> Sequence[Any]:
    """Spans of a line with the stop that ends it at its end: the library has it first, since it stands leftmost.

    Before: `.הגשמים הצפוני` for a sentence that ends with `הצפוני`.
    After: `הגשמים הצפוני.`
    """
    if not spans or (len(spans[0]["chars"]) < 2 and len(spans) < 2):
        return spans
    chars = spans[0]["chars"]
    count = 0
    while count < len(chars) and (chars[count]["c"] in _STOPS or chars[count]["c"].isspace()):
        count += 1
    following = next(
        (char for span in spans for char in span["chars"][count if span is spans[0] else 0 :]), None
    )
    if following is None or not _LETTER.match(following["c"]) or all(c["c"].isspace() for c in chars[:count]):
        return spans
    if (chars[count - 1]["bbox"][0] + chars[count - 1]["bbox"][2]) / 2 > following["bbox"][0]:
        return spans  # stands where it is read
    stops: Mapping[str, Any] = {
        **spans[0],
        "chars": [char for char in chars[:count] if not char["c"].isspace()],
    }
    return [{**spans[0], "chars": chars[count:]}, *spans[1:], stops]


def in_order_of_speech(chars: Sequence[Any]) -> Sequence[Any]:
    """Characters with the ligature of lam and alef, taken apart, in order: it comes with the alef first."""
    if not any(char["c"] == _LAM for char in chars):
        return chars
    ordered = list(chars)
    at = 1
    while at < len(ordered):
        alef, lam = ordered[at - 1], ordered[at]
        if alef["c"] in _ALEF and lam["c"] == _LAM and alef["bbox"][0] == alef["bbox"][2]:
            ordered[at - 1], ordered[at] = lam, alef
            at += 1  # a further lam is its own
        at += 1
    return ordered


def gap_beside(chars: Sequence[Any], at: int) -> float:
    """Points of space between a character and the one before it, where one of them is of such a script, else 0.

    A number within such a line runs to the right: its end is what stands beside the letter before it.

    Before: the cells `בשפך` and `9470` are one word, `בשפך9470`.
    After: they are two.
    """
    if at == 0:
        return 0.0
    one, other = chars[at - 1], chars[at]
    first, second = (_LETTER.match(char["c"]) is not None for char in (one, other))
    if not (first or second) or one["c"].isspace() or other["c"].isspace():
        return 0.0
    begin, end = at - 1, at
    while not first and begin > 0 and _runs_right(chars[begin - 1], chars[begin]):
        begin -= 1
    while not second and end + 1 < len(chars) and _runs_right(chars[end], chars[end + 1]):
        end += 1
    if one["bbox"][0] == one["bbox"][2] and begin > 0:
        begin -= 1  # half a ligature, whose place is the other half's
    left = min(chars[begin]["bbox"][0], one["bbox"][0])
    return max(0.0, left - max(chars[end]["bbox"][2], other["bbox"][2]))


def _runs_right(one: Any, other: Any) -> bool:
    return (
        not one["c"].isspace()
        and not other["c"].isspace()
        and not _LETTER.match(one["c"])
        and not _LETTER.match(other["c"])
        and other["bbox"][0] >= one["bbox"][0]
    )
