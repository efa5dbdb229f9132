"""Reads the words of a page with the library, in the order in which the page shows them (XT-03, XT-09)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

from linkrag_dagster.extraction.pdf.dingbats import dingbat
from linkrag_dagster.extraction.pdf.drawn_bullets import drawn_bullets
from linkrag_dagster.extraction.pdf.drop_caps import with_initials
from linkrag_dagster.extraction.pdf.forms import ticks
from linkrag_dagster.extraction.pdf.legibility import is_unreadable
from linkrag_dagster.extraction.pdf.letter_spacing import alike_as_one, closed_up
from linkrag_dagster.extraction.pdf.library import pymupdf
from linkrag_dagster.extraction.pdf.painted_twice import painted_once
from linkrag_dagster.extraction.pdf.right_to_left import (
    gap_beside,
    holds_right_to_left,
    in_order_of_speech,
    with_stops_last,
)
from linkrag_dagster.extraction.pdf.vertical import vertical_runs
from linkrag_dagster.extraction.pdf.words import (
    Box,
    PageText,
    Segment,
    Word,
    holds,
    on_page,
    segment,
    shown,
    turn,
    union,
)

_MONO_NAME = re.compile(
    r"mono(?!type)|courier|nimbusmon|[cl]mtt|typewriter|consol|menlo|monaco|lettergothic|sourcecode|firacode|andale"
)
"""Of fonts whose characters are equally wide, in small letters: many of them don't say so themselves."""
_BOLD, _MONO, _ITALIC, _SUPERSCRIPT = 16, 8, 2, 1
_PAINTED = 16 | 32 | 64
"""Flags of characters that are filled, stroked, or a path to clip by."""
_ASKEW = 0.2
"""Tangent of the angle from which on a line runs askew."""
_SQUARE = 6.0
"""Points."""
_WIDE_GAP = 0.5
"""Gap within a line, in font sizes, from which on what follows may belong to another column or cell."""
_WIDE_GAP_MONO = 1.0
"""The same between monospaced words, whose usual blank is wider."""


def read_page(page: Any, number: int) -> PageText:
    """The words of a page of PyMuPDF."""
    flags = pymupdf().TEXT_PRESERVE_WHITESPACE | pymupdf().TEXT_MEDIABOX_CLIP
    raw = page.get_text("rawdict", flags=flags)
    matrix = page.rotation_matrix if page.rotation else None
    size = (float(page.rect.width), float(page.rect.height))
    found: list[tuple[int | None, list[Word]]] = []
    characters = unreadable = 0
    for line, spans in _shown_once(raw["blocks"]):
        for span in spans:
            for char in span["chars"]:
                if not char["c"].isspace():
                    characters += 1
                    unreadable += is_unreadable(char["c"])
        words = _words(spans, matrix, size)
        if words:
            direction = line["dir"] if matrix is None else _turned_vector(line["dir"], matrix)
            found.append((_quarter(direction), words))
    quarters = [quarter for quarter, _ in found]
    lines = list(zip(quarters, painted_once([words for _, words in found]), strict=True))
    lines += _with_ticks(page, lines)
    colours = {
        span["color"] for block in raw["blocks"] for line in block.get("lines", ()) for span in line["spans"]
    }
    across = [words for quarter, words in lines if quarter == 0]
    lines += [(0, [bullet]) for bullet in drawn_bullets(page, across, colours)]
    counts: Counter[int] = Counter()
    for quarter, words in lines:
        if quarter is not None:
            counts[quarter] += sum(len(word.text) for word in words)
    main = counts.most_common(1)[0][0] if counts else 0
    if main == 0 and (columns := vertical_runs([word for _, words in lines for word in words])) is not None:
        main, lines = 1, [(1, run) for run in columns]
    segments: list[Segment] = []
    aside: list[Word] = []
    for quarter, words in lines:
        if quarter != main:
            aside += words
        elif words:
            segments += _segments([_turned(word, main, size) for word in words] if main else words)
    width, height = size if main in (0, 2) else size[::-1]
    images = tuple(shown(page, info["bbox"]) for info in page.get_image_info())
    return PageText(
        number,
        width,
        height,
        main,
        tuple(with_initials(segments)),
        tuple(aside),
        characters,
        unreadable,
        images,
    )


def _with_ticks(page: Any, lines: list[tuple[int | None, list[Word]]]) -> list[tuple[int | None, list[Word]]]:
    """Boxes to tick as lines of their own; what is drawn in them goes from the lines."""
    boxes = ticks(page)
    for at, (quarter, words) in enumerate(lines) if boxes else ():
        kept = [word for word in words if not any(holds(box.place, word.place) for box in boxes)]
        lines[at] = quarter, kept
    return [(0, [box]) for box in boxes]


def _shown_once(blocks: Sequence[Any]) -> list[tuple[Any, list[Any]]]:
    """Lines of the page's text with their spans, without hidden text where visible text says it.

    Scans have their recognised text hidden under the picture: it is all the text there is. Where visible words stand at
    the same place (a layer for readers aloud, or recognised anew), it would come twice.
    """
    lines = [(line, list(line["spans"])) for block in blocks for line in block.get("lines", ())]
    spans = [span for _, held in lines for span in held]
    if not any(map(_is_hidden, spans)):
        return lines
    # Squares of the page on which visible text stands.
    taken = {
        (across, down)
        for span in spans
        if not _is_hidden(span)
        for char in span["chars"]
        if not char["c"].isspace()
        for across, down in (_square(char["bbox"]),)
    }
    return [(line, [s for s in held if not (_is_hidden(s) and _is_taken(s, taken))]) for line, held in lines]


def _square(box: Box) -> tuple[int, int]:
    return int((box[0] + box[2]) / 2 // _SQUARE), int((box[1] + box[3]) / 2 // _SQUARE)


def _is_hidden(span: Any) -> bool:
    """Whether a span is neither filled nor stroked nor used to clip, or all transparent."""
    return not span.get("char_flags", _PAINTED) & _PAINTED or span.get("alpha", 255) == 0


def _is_taken(span: Any, taken: Set[tuple[int, int]]) -> bool:
    squares = [_square(char["bbox"]) for char in span["chars"] if not char["c"].isspace()]
    near = sum(
        any((across + x, down + y) in taken for x in (-1, 0, 1) for y in (-1, 0, 1))
        for across, down in squares
    )
    return near * 2 > len(squares)


def _turned(word: Word, quarters: int, size: tuple[float, float]) -> Word:
    box = turn(word.place, quarters, size)
    return replace(word, box=box, base=box[3] - 0.2 * word.size)


def _quarter(direction: tuple[float, float]) -> int | None:
    """Quarters by which a line is turned clockwise; None for one that runs askew, such as a watermark."""
    x, y = direction
    if min(abs(x), abs(y)) > _ASKEW * max(abs(x), abs(y)):
        return None
    if abs(x) >= abs(y):
        return 0 if x >= 0 else 2
    return 1 if y > 0 else 3


def _turned_vector(direction: tuple[float, float], matrix: Any) -> tuple[float, float]:
    x, y = direction
    return x * matrix.a + y * matrix.c, x * matrix.b + y * matrix.d


def _words(spans: Sequence[Any], matrix: Any, size: tuple[float, float]) -> list[Word]:
    words: list[Word] = []
    text: list[str] = []
    boxes: list[Box] = []
    style: Any = None
    base = 0.0

    def close(space: bool) -> None:
        if text:
            found = union(boxes)
            box = found if matrix is None else tuple(pymupdf().Rect(found) * matrix)
            flags = style["flags"]
            font = style["font"].lower()
            bold = bool(flags & _BOLD) or "bold" in font or "black" in font
            mono = bool(flags & _MONO) or _MONO_NAME.search(font) is not None
            italic = bool(flags & _ITALIC) or "italic" in font or "oblique" in font
            raised = bool(flags & _SUPERSCRIPT)
            words.append(
                Word(
                    "".join(text),
                    box,
                    on_page(box, size),
                    base,
                    style["size"],
                    bold,
                    italic,
                    mono,
                    raised,
                    space,
                )
            )
            text.clear()
            boxes.clear()
        elif words and space and not words[-1].space:
            words[-1] = replace(words[-1], space=True)

    line: list[Any] = []
    backward = any(map(holds_right_to_left, spans))
    joined = alike_as_one(spans)
    for span in with_stops_last(joined) if backward else joined:
        if style is not None and text and abs(span["size"] - style["size"]) > 0.5:
            close(space=False)
        is_dingbats = "dingbats" in span["font"].lower()
        chars = closed_up(span["chars"], span["size"])
        if backward:
            chars = in_order_of_speech(chars)
        line += chars
        for at, char in enumerate(chars, start=len(line) - len(chars)):
            c = dingbat(char["c"]) if is_dingbats else char["c"]
            if c.isspace() or c in "\u200b\ufeff":
                close(space=True)
            elif c >= " " and unicodedata.category(c) not in ("Cc", "Cs", "Cn"):
                apart = char["bbox"][0] - boxes[-1][2] if text else 0.0
                if apart > _WIDE_GAP * span["size"] and c > "\u2e80":
                    close(space=True)  # ideographs have no blanks, in a table either
                elif backward and text and gap_beside(line, at) > _WIDE_GAP * span["size"]:
                    close(space=True)
                if not text:
                    style, (x, y) = span, char["origin"]
                    base = y if matrix is None else x * matrix.b + y * matrix.d + matrix.f
                text.append(c)
                boxes.append(char["bbox"])
    close(space=True)
    return words


def _segments(words: Sequence[Word]) -> list[Segment]:
    """A line cut at its wide gaps, whichever way it is written."""
    found: list[Segment] = []
    begin = 0
    for at in range(1, len(words)):
        one, other = words[at - 1], words[at]
        gap = max(other.box[0] - one.box[2], one.box[0] - other.box[2])
        wide = _WIDE_GAP_MONO if one.mono and other.mono else _WIDE_GAP
        if gap > wide * max(one.size, other.size):
            found.append(segment(words[begin:at]))
            begin = at
    found.append(segment(words[begin:]))
    return found
