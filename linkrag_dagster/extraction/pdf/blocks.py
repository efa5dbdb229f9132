"""Rows of a column as blocks: paragraphs, list items, code, with tables and figures where they stand (XT-06)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from linkrag_dagster.extraction.pdf.marks import BULLET, NUMBER, TICK
from linkrag_dagster.extraction.pdf.rows import Row, row
from linkrag_dagster.extraction.pdf.table import Table
from linkrag_dagster.extraction.pdf.words import Box, Segment, Word, union

_ENDS = (".", "!", "?", ":", "。", "！", "？", "：", ".”", ".’", '."', ".)")
_BROKEN = re.compile(r"[^\W\d_][-\u2010\u00ad]\s*$")
"""A word that a line's end broke."""
PAGE_BREAK = "\x1e"
"""Within a cell; no word holds a control character."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a block: its words, and the box of its glyphs on the page as shown.

    `confidence` says how sure their recognition is, where they were recognised in a picture.
    """

    text: str
    page: int
    place: Box
    confidence: float | None = None


CellLines = tuple[TextLine | None, ...]
"""Of a row's cells; None for a cell without words."""


def _no_rows() -> dict[int, tuple[CellLines, CellLines]]:
    return {}


@dataclass(slots=True)
class Block:
    """A block before it is written.

    Attributes:
        kind: `paragraph`, `item`, `heading`, `code`, `table`, `image`.
        lines: in reading order; a table's rows are empty ones with boxes; an image's are its caption.
        labels: of an image.
        parts: where in `lines` a further column or page begins.
        cells: of a table's rows; `PAGE_BREAK` stands where one goes on on the next page.
        table: what was found on the page, or of a joined table on its last page.
        broken: rows that a page's end broke: row → each cell's line on the first page, and on the next.
        inset, step: how far code stands in from the left of its column, and the width of its characters.
        size: of the font.
        weight: 2 where all of it is bold, 1 where all is italic, else 0.
        level: of a heading.
        full: whether the last line reaches the right end of its column: it may go on in the next.
        indented: whether the first line stands in.
        note: whether it is a footnote.
    """

    kind: str
    lines: list[TextLine]
    size: float
    weight: int = 0
    full: bool = False
    indented: bool = False
    note: bool = False
    level: int = 0
    parts: tuple[int, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    table: Table | None = None
    labels: tuple[TextLine, ...] = ()
    broken: dict[int, tuple[CellLines, CellLines]] = field(default_factory=_no_rows)
    inset: float = 0.0
    step: float = 1.0
    box: Box = (0.0, 0.0, 0.0, 0.0)

    @property
    def page(self) -> int:
        return self.lines[0].page

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class Placed:
    """A table or a figure at its place in the flow; a figure has no table, but may have labels."""

    box: Box
    place: Box
    table: Table | None = None
    labels: tuple[Segment, ...] = ()


@dataclass(frozen=True, slots=True)
class Placeholder(Word):
    """A word that stands for a table or an image while the reading order is found.

    Attributes:
        number: the table's or image's, among those of its page.
    """

    number: int = 0


def placeholder(placed: Placed, number: int, size: float) -> Placeholder:
    """The word in place of a table or an image, as heavy as a line."""
    return Placeholder("\ufffc" * 20, placed.box, placed.place, placed.box[3], size, number=number)


def is_placed(row: Row) -> bool:
    """Whether a row stands for tables and figures alone."""
    return all(isinstance(part.words[0], Placeholder) for part in row.segments)


def blocks_of(
    rows: Sequence[Row], page: int, placed: Sequence[Placed], body: float, *, mono_is_code: bool
) -> Iterator[Block]:
    """The blocks of a column, from top to bottom."""
    run: list[Row] = []
    left = min((one.box[0] for one in rows), default=0.0)
    for one in rows:
        texts = [s for s in one.segments if not isinstance(s.words[0], Placeholder)]
        if len(texts) < len(one.segments):
            yield from _runs(run, page, left, mono_is_code)
            run = []
            for held in one.segments:
                mark = held.words[0]
                if isinstance(mark, Placeholder):
                    yield _object(placed[mark.number], page, body)
            if texts:
                run = [row(texts)]
        else:
            run.append(one)
    yield from _runs(run, page, left, mono_is_code)


def _object(held: Placed, page: int, body: float) -> Block:
    if held.table is None:
        labels = tuple(_line(row([label]), page) for label in held.labels)
        return Block("image", [TextLine("", page, held.place)], body, labels=labels, box=held.place)
    rows = held.table.rows
    lines = [TextLine("", page, one.place) for one in rows]
    cells = tuple(one.cells for one in rows)
    return Block("table", lines, body, cells=cells, table=held.table, box=held.place)


def _runs(rows: Sequence[Row], page: int, left: float, mono_is_code: bool) -> Iterator[Block]:
    """Rows that look alike and follow closely, then their paragraphs."""
    begin = 0
    pitches = _pitches(rows)
    for at in range(1, len(rows) + 1):
        if at == len(rows) or _separate(rows[at - 1], rows[at], pitches, mono_is_code):
            run = rows[begin:at]
            begin = at
            if mono_is_code and is_mono(run[0]):
                yield _code(run, page, left)
            else:
                yield from _paragraphs(run, page)


def _pitches(rows: Sequence[Row]) -> dict[int, float]:
    """Font size (rounded) → usual distance of lines in it."""
    found: dict[int, list[float]] = {}
    for one, other in pairwise(rows):
        distance = other.base - one.base
        if abs(one.size - other.size) < 0.6 and 0.8 * one.size < distance < 2.2 * one.size:
            found.setdefault(round(one.size), []).append(distance)
    return {size: median(distances) for size, distances in found.items()}


def _separate(one: Row, other: Row, pitches: dict[int, float], mono_is_code: bool) -> bool:
    mono = mono_is_code and is_mono(one)
    if mono_is_code and mono != is_mono(other):
        return True
    if not mono and (abs(one.size - other.size) > 0.6 or weight(one) != weight(other)):
        return True
    pitch = pitches.get(round(one.size), 1.3 * one.size)
    return other.base - one.base > (3.4 if mono else 1.3) * min(pitch, 1.9 * one.size)


def _paragraphs(run: Sequence[Row], page: int) -> Iterator[Block]:
    left, right = min(r.box[0] for r in run), max(r.box[2] for r in run)
    begin = 0
    for at in range(1, len(run) + 1):
        if at == len(run) or _begins(run, begin, at, left, right):
            rows = run[begin:at]
            first, last = rows[0], rows[-1]
            text = first.text
            item = any(mark.match(text) for mark in (BULLET, NUMBER, TICK))
            yield Block(
                "item" if item else "paragraph",
                [_line(r, page) for r in rows],
                first.size,
                weight=weight(first),
                full=last.box[2] >= right - 2.0 * last.size,
                indented=first.box[0] > left + 0.8 * first.size,
                box=union(word.place for r in rows for word in r.words),
            )
            begin = at


def _begins(run: Sequence[Row], begin: int, at: int, left: float, right: float) -> bool:
    """Whether a row begins a paragraph of its own within rows that look alike."""
    before, one = run[at - 1], run[at]
    text, ended = one.text, before.text.rstrip().endswith(_ENDS)
    if BULLET.match(text) or TICK.match(text):
        return True
    if _BROKEN.search(before.text) and text[:1].islower():
        return False
    short = before.box[2] < right - 0.2 * (right - left)
    beside = NUMBER.match(run[begin].text) and abs(one.box[0] - run[begin].box[0]) < one.size
    if NUMBER.match(text) and (ended or short or beside):
        return True
    indent = 0.8 * one.size
    following = run[at + 1] if at + 1 < len(run) else None
    if one.box[0] > before.box[0] + indent and one.box[0] > left + indent:
        # Stands in against the row before, and the next one doesn't: a first line. A hanging line has followers.
        hanging = following is not None and abs(following.box[0] - one.box[0]) < 0.3 * one.size
        if not hanging and (ended or following is not None) and at - begin > 0:
            return ended or short
    hangs = at - begin > 1 and min(r.box[0] for r in run[begin + 1 : at]) > run[begin].box[0] + 0.5 * one.size
    if hangs and one.box[0] <= run[begin].box[0] + 0.3 * one.size:
        return True
    # The next word would have fitted: the line was ended on purpose.
    first = one.words[0]
    width = one.size if first.text[:1] > "\u2e80" else first.box[2] - first.box[0]
    fitted = before.box[2] + 0.3 * one.size + width < right - 1.5 * one.size
    return fitted and (ended or short)


def weight(one: Row) -> int:
    """How far a row stands out: 2 when it is bold, 1 when it is italic, else 0."""
    letters = [word for word in one.words if any(map(str.isalnum, word.text))]
    if not letters:
        return 0
    return 2 if all(word.bold for word in letters) else int(all(word.italic for word in letters))


def is_mono(one: Row) -> bool:
    """Whether all of a row is set in a monospaced font."""
    return all(word.mono for word in one.words)


def _line(one: Row, page: int) -> TextLine:
    sure = [(word.confidence, len(word.text)) for word in one.words if word.confidence is not None]
    confidence = sum(c * n for c, n in sure) / sum(n for _, n in sure) if sure else None
    return TextLine(one.text, page, union(word.place for word in one.words), confidence)


def _code(run: Sequence[Row], page: int, column: float) -> Block:
    """Lines of code with their indentation, which the page shows as distance from the left."""
    left = min(r.box[0] for r in run)
    words = [w for r in run for w in r.words]
    step = median((w.box[2] - w.box[0]) / len(w.text) for w in words) or 1.0
    distances = [b.base - a.base for a, b in pairwise(run)]
    pitch = min((d for d in distances if d > 0.5 * run[0].size), default=1.2 * run[0].size)
    lines: list[TextLine] = []
    for at, r in enumerate(run):
        place = union(word.place for word in r.words)
        if at:
            blank = max(0, round(distances[at - 1] / pitch) - 1)
            lines += [TextLine("", page, place)] * blank
        text = ""
        for word in r.words:
            column = round((word.box[0] - left) / step)
            text += " " * max(column - len(text), 1 if text and text[-1] != " " and _spaced(r, word) else 0)
            text += word.text
        lines.append(TextLine(text, page, place))
    return Block(
        "code", lines, run[0].size, inset=left - column, step=step, box=union(w.place for w in words)
    )


def _spaced(one: Row, word: Word) -> bool:
    words = one.words
    at = words.index(word)
    return at == 0 or words[at - 1].space
