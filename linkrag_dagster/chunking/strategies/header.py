"""ST-06, `header`: the header chunker of seed 000: paragraphs of a `##` section packed to a target, with a header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source
from linkrag_dagster.chunking.strategies.recursive import LINE, SENTENCE, split
from linkrag_dagster.chunking.strategies.units import Units
from linkrag_dagster.markdown.elements import PROTECTED_KINDS, Element

PARAGRAPH, SECTION = "paragraph", "section"
_DEEPEST = 2

# What JavaScript takes for white space and for the end of a line.
_JS_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_JS_STRIP = "".join(re.findall(f"[{_JS_SPACE}]", "".join(map(chr, range(0x10000)))))
_JS_HEADING = re.compile("(?:^|(?<=[\n\r\u2028\u2029]))## ([^\n\r\u2028\u2029]+)(?=[\n\r\u2028\u2029]|\\Z)")
_JS_HEADING_LINE = re.compile("## [^\n\r\u2028\u2029]+\n")
_JS_PARAGRAPH = re.compile(r"[^\n](?:[^\n]|\n(?!\n))*")
_JS_SENTENCE = re.compile(f"[^.!?]*[.!?]*[{_JS_SPACE}]*")


def header(source: Source) -> Cutting:
    """Pieces of at most `target` code points within sections, with a header.

    A section is what stands below a heading of level 1 or 2, and what stands before the first; deeper headings are
    words of it. Headings of sections are in the trail instead of the pieces, save those that nothing follows. Blocks
    (paragraphs, lists, code, tables) are packed up to `target`; a longer one is cut between sentences, code and tables
    between lines, and at lesser places only where those do not suffice.

    With `compat` it is the seed's program to the letter, faults included: the target in UTF-16 units, text before the
    first `##` lost, `##` in code taken for headings, sentences by `. ! ?` alone.
    """
    if source.settings.compat:
        return Cutting(list(_compat(source.text, source.settings.usual_target)))
    return Cutting(packed_paragraphs(source))


def packed_paragraphs(source: Source) -> list[Piece]:
    """The pieces of `header`, in order."""
    text, target = source.text, source.settings.usual_target
    units = Units(text, None)
    pieces: list[Piece] = []
    for trail, heading, body in _sections(source.elements):
        if not body:
            if heading is not None:
                pieces += _under(
                    trail, split(text, units, target, heading.start_char, heading.end_char), SECTION
                )
            continue
        found: list[Piece] = []
        begin: int | None = None
        at = body[0].start_char
        for element in body:
            start, end = element.start_char, element.end_char
            if begin is not None and end - begin > target:
                found.append(Piece(begin, at, PARAGRAPH))
                begin = None
            if end - start > target:
                first = LINE if element.kind in PROTECTED_KINDS else SENTENCE
                found += _under(None, split(text, units, target, start, end, first=first), PARAGRAPH)
                continue
            begin, at = start if begin is None else begin, end
        if begin is not None:
            found.append(Piece(begin, at, PARAGRAPH))
        pieces += _under(trail, found, SECTION)
    return pieces[:-1] + _under(pieces[-1].trail, pieces[-1:], END) if pieces else []


def _under(trail: tuple[str, ...] | None, pieces: Sequence[Piece], ends: str) -> list[Piece]:
    """Pieces with that trail, the last one with that end."""
    last = len(pieces) - 1
    return [
        Piece(p.start_char, p.end_char, ends if number == last else p.ends, trail)
        for number, p in enumerate(pieces)
    ]


def _sections(
    elements: Sequence[Element],
) -> Iterator[tuple[tuple[str, ...], Element | None, list[Element]]]:
    """Trail, heading and body of each section; a heading that others stand under, and nothing else, is left out."""
    titles: list[tuple[int, str]] = []
    heading: Element | None = None
    body: list[Element] = []
    for element in elements:
        if element.kind == "front_matter":
            yield (), None, [element]
        elif element.kind == "heading" and element.level is not None and element.level <= _DEEPEST:
            above = heading is not None and heading.level is not None and heading.level < element.level
            if body or not above:
                yield tuple(t for _, t in titles), heading, body
            titles = [(level, title) for level, title in titles if level < element.level]
            titles.append((element.level, element.title or ""))
            heading, body = element, []
        elif element.kind != "rule":
            body.append(element)
    yield tuple(t for _, t in titles), heading, body


def _compat(text: str, target: int) -> Iterator[Piece]:
    """What the seed's `chunkDocument` gives."""
    wide = [0, *accumulate(1 + (character > "\uffff") for character in text)]
    heads = list(_JS_HEADING.finditer(text))
    starts = [h.start() for h in heads] or [0]
    sections = [h[1].strip(_JS_STRIP) for h in heads] or [""]
    for at, end, section in zip(starts, [*starts[1:], len(text)], sections, strict=True):
        line = _JS_HEADING_LINE.match(text, at, end)
        trail = (section,) if section else ()
        for start, stop in _compat_ranges(text, line.end() if line else at, end, target, wide):
            words = text[start:stop]
            first = start + len(words) - len(words.lstrip(_JS_STRIP))
            content = words.strip(_JS_STRIP)
            if content:
                yield Piece(first, first + len(content), PARAGRAPH, trail)


def _compat_ranges(
    text: str, start: int, end: int, target: int, wide: Sequence[int]
) -> Iterator[tuple[int, int]]:
    held: tuple[int, int] | None = None
    for paragraph in _JS_PARAGRAPH.finditer(text, start, end):
        first, last = paragraph.span()
        if wide[last] - wide[first] > target:
            if held:
                yield held
                held = None
            current: tuple[int, int] | None = None
            for sentence in _JS_SENTENCE.finditer(text, first, last):
                if not sentence[0]:
                    continue
                if current and wide[sentence.end()] - wide[current[0]] > target:
                    yield current
                    current = None
                current = (current[0] if current else sentence.start(), sentence.end())
            if current:
                yield current
            continue
        if held and wide[last] - wide[held[0]] > target:
            yield held
            held = None
        held = (held[0] if held else first, last)
    if held:
        yield held
