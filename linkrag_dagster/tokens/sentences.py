"""Sentence spans, found in the text, Latin and CJK (TK-03)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import sentencex

from linkrag_dagster.tokens.tokenizer import well_formed

_BLANK_LINES = re.compile(r"(?:\r\n|\n|\r)[^\S\r\n]*(?:\r\n|\n|\r)\s*")
_KANA = re.compile("[\u3041-\u30ff]")
_IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_LATIN = re.compile("[A-Za-z]")
# sentencex takes quadratic time in CJK text, so it is given this many code points at a time.
_WINDOW = 1024
# A boundary nearer than this to the end of a window is judged again with what follows it.
_MARGIN = 64
_CLOSERS = frozenset("”’»›）】》〉」』〕〗〙〛｝］｠｣)]}。．！？!?…")
_STRAIGHT = frozenset("\"'")


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`, in order.

    The spans are trimmed of white space, never empty, never overlap, and together hold every character
    that is no white space. A blank line ends a sentence; a single line break does not. Closing quotes,
    brackets and repeated stops stay with the sentence before them. Boundaries are those of the package
    `sentencex`, with the rules of Chinese or Japanese for paragraphs mostly in those scripts, and of
    English for the rest. Linear in the text.
    """
    plain = well_formed(text)
    found: list[tuple[int, int]] = []
    start = 0
    for end, following in _paragraphs(plain):
        for first, last in _split(plain, start, end):
            piece = plain[first:last]
            left = first + len(piece) - len(piece.lstrip())
            right = first + len(piece.rstrip())
            if left < right:
                found.append((left, right))
        start = following
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
            for boundary in _boundaries(language, text, position, stop, end)
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


def _boundaries(language: str, text: str, start: int, stop: int, end: int) -> list[int]:
    """Ends of sentences in `text[start:stop]`, past the marks that close each."""
    found: list[dict[str, Any]] = cast(Any, sentencex).get_sentence_boundaries(language, text[start:stop])
    return [_past_closers(text, start + boundary["end_index"], end) for boundary in found]


def _past_closers(text: str, position: int, end: int) -> int:
    while position < end and (
        text[position] in _CLOSERS
        or (text[position] in _STRAIGHT and (position + 1 == end or text[position + 1].isspace()))
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
    ideographs, kana = len(_IDEOGRAPH.findall(sample)), len(_KANA.findall(sample))
    if ideographs + kana <= len(_LATIN.findall(sample)):
        return "en"
    return "ja" if kana else "zh"
