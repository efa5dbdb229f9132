"""Sentence spans, found in the text, Latin and CJK (TK-03)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import sentencex

from linkrag_dagster.tokens.graphemes import next_boundary
from linkrag_dagster.tokens.tokenizer import well_formed

_BLANK_LINES = re.compile(r"(?:\r\n|\n|\r)[^\S\r\n]*(?:\r\n|\n|\r)\s*")
_KANA = re.compile("[\u3041-\u30ff]+")
_IDEOGRAPHS = re.compile("[\u3400-\u9fff\uf900-\ufaff]+")
_LATIN = re.compile("[A-Za-z]+")
# sentencex takes quadratic time in CJK text, so it is given this many code points at a time.
_WINDOW = 1024
# A boundary nearer than this to the end of a window is judged again with what follows it.
_MARGIN = 64
_CLOSERS = frozenset("”’»›）】》〉」』〕〗〙〛｝］｠｣)]}。．！？!?…")
_STRAIGHT = frozenset("\"'")
# Right behind a stop and what closes it these go on with the sentence: `《好吗？》，`, `Yahoo!、`.
_GOING_ON = frozenset("，、；：,;:")
_CLOSED_BY = {
    "“": "”", "‘": "’", "「": "」", "『": "』", "（": "）", "《": "》", "〈": "〉", "【": "】", "(": ")", "[": "]"
}  # fmt: skip
_STOPS = frozenset("。！？｡")
_MARKS = re.compile(f"[{re.escape(''.join((*_CLOSED_BY, *_CLOSED_BY.values(), *sorted(_STOPS))))}]")
_INNER_STOP = re.compile("[.!?。！？｡]")
_INITIAL = re.compile(r"(?<![A-Za-z])[A-Za-z]\.\Z")
_BLANKS = re.compile(r"\s*")


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`, in order.

    The spans are trimmed of white space, never empty, never overlap, and together hold every character
    that is no white space. A blank line ends a sentence; a single line break does not. Closing quotes,
    brackets and repeated stops stay with the sentence before them; a comma, a colon or a semicolon right
    behind them goes on with it. Boundaries are those of the package `sentencex`, with the rules of Chinese
    or Japanese for paragraphs mostly in those scripts, and of English for the rest; but a full-width stop
    outside quotes and brackets always ends a sentence (before a digit or a small letter the package lets it
    go on, as after an abbreviation). Linear in the text.
    """
    plain = well_formed(text)
    found: list[tuple[int, int]] = []
    start = 0
    for end, following in _paragraphs(plain):
        for first, last in _at_stops(plain, _split(plain, start, end), start, end):
            piece = plain[first:last]
            left = first + len(piece) - len(piece.lstrip())
            right = first + len(piece.rstrip())
            if left < right:
                found.append((left, right))
        start = following
    return found


def inner_stops(text: str, start: int, end: int) -> list[int]:
    """Where a sentence that is too long may be cut: after stops in its quotes and brackets, and white space there.

    A Latin stop counts before white space alone, so that no number is parted. Linear in the text.

    Args:
        text: any text.
        start, end: place of the sentence.

    Returns:
        Places in `text`, ascending, in `(start, end]`.
    """
    found: list[int] = []
    place = start
    for match in _INNER_STOP.finditer(text, start, end):
        if match.end() > place:
            place = _past_closers(text, match.end(), end)
            while place < end and text[place] in _GOING_ON:
                place += 1
            place = next_boundary(text, start, place)
            blanks = _BLANKS.match(text, place, end)
            after = place if blanks is None else blanks.end()
            if after > place or match.group() in _STOPS:
                found.append(min(after, end))
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """The end of each paragraph and where the next one starts."""
    for gap in _BLANK_LINES.finditer(text):
        yield gap.start(), gap.end()
    yield len(text), len(text)


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans that tile `text[start:end]`, one a sentence."""
    language = _language(text[start : min(end, start + 4 * _WINDOW)])
    position = start
    while position < end:
        stop = min(end, position + _WINDOW)
        trusted = stop if stop == end else stop - _MARGIN
        boundaries = [
            boundary
            for boundary in _boundaries(language, text, position, stop)
            if position < boundary <= trusted
        ]
        for boundary in boundaries:
            if boundary > start:
                yield start, boundary
                start = boundary
        if stop == end:
            break
        position = start if boundaries else _seam(text, position, stop)
    if start < end:
        yield start, end


def _at_stops(text: str, spans: Iterator[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans, which tile `text[start:end]`, cut again at full-width stops."""
    stops = _full_stops(text, start, end)
    at = 0
    for first, last in spans:
        while at < len(stops) and stops[at] < last:
            if stops[at] > first:
                yield first, stops[at]
                first = stops[at]
            at += 1
        yield first, last


def _full_stops(text: str, start: int, end: int) -> list[int]:
    """Ends of sentences at full-width stops: outside pairs of quotes and brackets, or right before one closes."""
    stops: list[int] = []
    # What closes each mark that is open yet, and how many stops there were before it.
    opened: list[tuple[str, int]] = []
    awaited: Counter[str] = Counter()
    place = start  # behind what closes the last stop
    for match in _MARKS.finditer(text, start, end):
        mark = match.group()
        if mark in _CLOSED_BY:
            opened.append((_CLOSED_BY[mark], len(stops)))
            awaited[_CLOSED_BY[mark]] += 1
        elif mark in _STOPS:
            if match.end() > place:
                place = next_boundary(text, start, _past_closers(text, match.end(), end))
                if not _goes_on(text, place):
                    stops.append(place)
        elif awaited[mark]:
            partner, before = "", 0
            while partner != mark:  # what was opened since then has no partner, and holds nothing
                partner, before = opened.pop()
                awaited[partner] -= 1
            inside = stops[before:]
            stops[before:] = [stop for stop in inside[-1:] if stop >= match.end()]
    return stops


def _boundaries(language: str, text: str, start: int, stop: int) -> list[int]:
    """Ends of sentences in `text[start:stop]`, past the marks that close each, and those on the last of them."""
    found: list[dict[str, Any]] = cast(Any, sentencex).get_sentence_boundaries(language, text[start:stop])
    ends: list[int] = []
    passed = start  # behind what closes the last one
    for boundary in found:
        end = start + boundary["end_index"]
        if (
            text.startswith(".", end - 1)
            and _INITIAL.search(text, max(start, end - 3), end)
            and text[end : end + 1].isalnum()
        ):
            continue  # inside `T.C.B.S`
        # Where the marks behind the last one reached this one, they were passed with it (linear time).
        if end > passed:
            passed = next_boundary(text, start, _past_closers(text, end, stop), stop)
            if not _goes_on(text, passed):
                ends.append(passed)
    return ends


def _goes_on(text: str, place: int) -> bool:
    """Whether the sentence goes on right behind a stop."""
    return text[place : place + 1] in _GOING_ON and not text[place - 1].isspace()


def _past_closers(text: str, position: int, stop: int) -> int:
    """Behind closing marks, or at `stop`: a run of them may be as long as the text."""
    while position < stop and (
        text[position] in _CLOSERS
        or (text[position] in _STRAIGHT and (position + 1 == stop or text[position + 1].isspace()))
    ):
        position += 1
    return position


def _seam(text: str, start: int, stop: int) -> int:
    """Where to read on in a sentence longer than a window: within a phrase, so that no boundary is lost."""
    for place in range(stop - _MARGIN, start + _WINDOW // 2, -1):
        if text[place].isspace() and text[place - 1].isalnum():
            return place
    return stop - _MARGIN


def _language(sample: str) -> str:
    """`zh`, `ja` or `en`, by the script that most letters of a sample are in."""
    if sample.isascii():
        return "en"
    ideographs, kana, latin = (_letters(script, sample) for script in (_IDEOGRAPHS, _KANA, _LATIN))
    if ideographs + kana <= latin:
        return "en"
    return "ja" if kana else "zh"


def _letters(script: re.Pattern[str], sample: str) -> int:
    return sum(map(len, script.findall(sample)))
