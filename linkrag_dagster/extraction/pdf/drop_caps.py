"""Initials over several lines, joined with the line that they begin (XT-04)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from linkrag_dagster.extraction.pdf.words import Segment, segment

_LARGER = 1.7
"""Times the size of the lines beside it that an initial has at least."""
_CAPITAL = 0.7
"""Height of a capital letter as a share of the font's size."""
_OFF = 0.6
"""How far, in sizes of the lines, an initial may stand off them: above, below and beside."""
_FURTHEST = 1.2
_WORDS = ("A", "I", "O", "Y")
"""Initials that may be words of their own."""
_QUOTES = "\"'\u201c\u201e\u2018\u00ab\u00bf\u00a1("


def with_initials(segments: Sequence[Segment]) -> list[Segment]:
    """Segments with each initial as the first letters of the line that stands highest beside it.

    The other lines beside it begin where it does: they stand in for its sake alone. An initial that may be a word of
    its own is one where the page has the word after it elsewhere.

    Before: `n 1938, Griffin measured the depth` and `I of the harbour`, for a large `I` beside two lines.
    After: `In 1938, Griffin measured the depth` and `of the harbour`.
    """
    first: dict[int, Segment] = {}  # the line that an initial begins → the initial
    others: dict[int, Segment] = {}
    ordered = sorted(segments, key=lambda one: one.base)
    bases = [one.base for one in ordered]
    least = _LARGER * min((one.size for one in segments), default=0.0)
    for one in segments:
        lines: list[Segment] = []
        if one.size >= least and _may_be_initial(one):
            near = slice(bisect_right(bases, one.base - one.size), bisect_right(bases, one.base + one.size))
            lines = _lines_beside(one, ordered[near])
        if lines:
            first[id(lines[0])] = one
            others.update((id(line), one) for line in lines[1:])
    if not first:
        return list(segments)
    gone = {id(one) for one in first.values()}
    words = {word.text.lower() for one in segments for word in one.words[1:]}
    made: list[Segment] = []
    for one in segments:
        if id(one) in first:
            made.append(_joined(first[id(one)], one, words))
        elif id(one) in others:
            made.append(_from(others[id(one)].box[0], one))
        elif id(one) not in gone:
            made.append(one)
    return made


def _may_be_initial(one: Segment) -> bool:
    text = one.text.strip(_QUOTES)
    return len(one.words) == 1 and len(text) == 1 and text.isalpha() and text == text.upper() != text.lower()


def _lines_beside(initial: Segment, near: Sequence[Segment]) -> list[Segment]:
    """Two lines or more at an initial's right: its top is the first one's, its foot the last one's.

    Args:
        initial: may be one.
        near: what stands up to its size above or below it, from top to bottom.
    """
    beside = [
        one
        for one in near
        if one is not initial
        and initial.size >= _LARGER * one.size
        and -_OFF * one.size <= one.box[0] - initial.box[2] <= _FURTHEST * one.size
        and initial.base - initial.size < one.base <= initial.base + _OFF * one.size
    ]
    if len(beside) < 2:
        return []
    first, last = beside[0], beside[-1]
    top = initial.base - _CAPITAL * initial.size
    off = _OFF * first.size
    is_level = (
        abs(top - (first.base - _CAPITAL * first.size)) <= 2 * off and abs(last.base - initial.base) <= off
    )
    return beside if is_level and first.text[:1].isalnum() else []


def _from(left: float, line: Segment) -> Segment:
    word = line.words[0]
    return segment([replace(word, box=(left, *word.box[1:])), *line.words[1:]])


def _joined(initial: Segment, line: Segment, words: set[str]) -> Segment:
    (letter,) = initial.words
    after = line.words[0].text.lower()
    alone = letter.text.strip(_QUOTES) in _WORDS and after in words
    box = (letter.box[0], line.box[1], letter.box[2], line.box[3])
    first = replace(letter, box=box, base=line.base, size=line.size, space=alone)
    return segment([first, *line.words])
