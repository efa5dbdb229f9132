"""The words of a page with their places, in the order in which the page shows them (XT-03).

All boxes are (left, top, right, bottom) in points from the top left corner of the page as it is shown. On a page whose
text runs up or down, `Word.box` is turned so that its lines run to the right, and `Word.place` stays as shown.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkrag_dagster.extraction.pdf.library import pymupdf

Box = tuple[float, float, float, float]

_BOLD, _MONO, _ITALIC, _SUPERSCRIPT = 16, 8, 2, 1
_LAM, _ALEF = "\u0644", "\u0622\u0623\u0625\u0627"
_WIDE_GAP = 0.5
"""Gap within a line, in font sizes, from which on what follows may belong to another column or cell."""


@dataclass(frozen=True, slots=True)
class Word:
    """Characters between two blanks.

    Attributes:
        text: as the page holds it; ligatures are taken apart.
        box: see the module.
        place: the box on the page as shown.
        base: where the line stands on which the word is written, from above.
        size: of the font, in points.
        bold, italic, mono, raised: how it is set.
        space: whether a blank follows it in its line.
    """

    text: str
    box: Box
    place: Box
    base: float
    size: float
    bold: bool = False
    italic: bool = False
    mono: bool = False
    raised: bool = False
    space: bool = True


@dataclass(frozen=True, slots=True)
class Segment:
    """Words of one line without a wide gap between them, in reading order."""

    words: tuple[Word, ...]
    box: Box
    base: float
    size: float

    @property
    def text(self) -> str:
        return joined(self.words)


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page holds.

    Attributes:
        number: of the page, from 1.
        width, height: of the page in the coordinates of `Word.box`.
        turned: quarters by which the text's lines are turned against the page as shown.
        segments: lines that run in the page's main direction.
        aside: words that run in another direction.
    """

    number: int
    width: float
    height: float
    turned: int
    segments: tuple[Segment, ...]
    aside: tuple[Word, ...]


def joined(words: Sequence[Word]) -> str:
    """Words of a line with a blank where the page has one."""
    return "".join(word.text + (" " if word.space else "") for word in words).strip()


def union(boxes: Iterable[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def segment(words: Sequence[Word]) -> Segment:
    heaviest = max(words, key=lambda word: len(word.text) * (not word.raised))
    return Segment(tuple(words), union(word.box for word in words), heaviest.base, heaviest.size)


def read_page(page: Any, number: int) -> PageText:
    """The words of a page of PyMuPDF."""
    flags = pymupdf().TEXT_PRESERVE_WHITESPACE | pymupdf().TEXT_MEDIABOX_CLIP
    raw = page.get_text("rawdict", flags=flags)
    matrix = page.rotation_matrix if page.rotation else None
    lines: list[tuple[int, list[Word]]] = []
    for block in raw["blocks"]:
        for line in block.get("lines", ()):
            direction = line["dir"] if matrix is None else _turned_vector(line["dir"], matrix)
            quarter = _quarter(direction)
            words = _words(line["spans"], matrix)
            if words:
                lines.append((quarter, words))
    counts: Counter[int] = Counter()
    for quarter, words in lines:
        counts[quarter] += sum(len(word.text) for word in words)
    main = counts.most_common(1)[0][0] if counts else 0
    size = (float(page.rect.width), float(page.rect.height))
    segments: list[Segment] = []
    aside: list[Word] = []
    for quarter, words in lines:
        if quarter != main:
            aside += words
            continue
        turned = [_turned(word, main, size) for word in words] if main else words
        segments += _segments(turned)
    width, height = size if main in (0, 2) else size[::-1]
    return PageText(number, width, height, main, tuple(segments), tuple(aside))


def turn(box: Box, quarters: int, size: tuple[float, float]) -> Box:
    """A box of the page as shown, in coordinates in which the text's lines run to the right."""
    left, top, right, bottom = box
    width, height = size
    match quarters % 4:
        case 1:  # lines run down
            return top, width - right, bottom, width - left
        case 2:
            return width - right, height - bottom, width - left, height - top
        case 3:  # lines run up
            return height - bottom, left, height - top, right
        case _:
            return box


def _turned(word: Word, quarters: int, size: tuple[float, float]) -> Word:
    box = turn(word.place, quarters, size)
    return replace(word, box=box, base=box[3] - 0.2 * word.size)


def _quarter(direction: tuple[float, float]) -> int:
    x, y = direction
    if abs(x) >= abs(y):
        return 0 if x >= 0 else 2
    return 1 if y > 0 else 3


def _turned_vector(direction: tuple[float, float], matrix: Any) -> tuple[float, float]:
    x, y = direction
    return x * matrix.a + y * matrix.c, x * matrix.b + y * matrix.d


def _words(spans: Sequence[Any], matrix: Any) -> list[Word]:
    words: list[Word] = []
    text: list[str] = []
    boxes: list[Box] = []
    style: Any = None
    base = 0.0

    def close(space: bool) -> None:
        if text:
            found = union(boxes)
            place = found if matrix is None else tuple(pymupdf().Rect(found) * matrix)
            flags = style["flags"]
            font = style["font"].lower()
            bold = bool(flags & _BOLD) or "bold" in font or "black" in font
            mono = bool(flags & _MONO) or "mono" in font or "courier" in font
            italic = bool(flags & _ITALIC) or "italic" in font or "oblique" in font
            raised = bool(flags & _SUPERSCRIPT)
            words.append(
                Word("".join(text), place, place, base, style["size"], bold, italic, mono, raised, space)
            )
            text.clear()
            boxes.clear()
        elif words and space and not words[-1].space:
            words[-1] = replace(words[-1], space=True)

    for span in spans:
        if style is not None and text and abs(span["size"] - style["size"]) > 0.5:
            close(space=False)
        for char in _logical(span["chars"]):
            c = char["c"]
            if c.isspace() or c in "\u200b\ufeff":
                close(space=True)
            elif c >= " " and unicodedata.category(c) not in ("Cc", "Cs", "Cn"):
                if not text:
                    style, (x, y) = span, char["origin"]
                    base = y if matrix is None else x * matrix.b + y * matrix.d + matrix.f
                text.append(c)
                boxes.append(char["bbox"])
    close(space=True)
    return words


def _logical(chars: Sequence[Any]) -> Sequence[Any]:
    """Characters in the order of speech: taken apart, the ligature of lam and alef comes with the alef first."""
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


def _segments(words: Sequence[Word]) -> list[Segment]:
    """A line cut at its wide gaps, whichever way it is written."""
    found: list[Segment] = []
    begin = 0
    for at in range(1, len(words)):
        one, other = words[at - 1], words[at]
        gap = max(other.box[0] - one.box[2], one.box[0] - other.box[2])
        if gap > _WIDE_GAP * max(one.size, other.size):
            found.append(segment(words[begin:at]))
            begin = at
    found.append(segment(words[begin:]))
    return found
