"""Atoms: the smallest parts of a coarse chunk that packing moves (SD-02). They tile its content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from linkrag_dagster.chunking.derived import header_rows
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.records import CoarseChunk, ElementView
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.chunking.splitting import Piece, Splitter
from linkrag_dagster.markdown.elements import PROTECTED_KINDS
from linkrag_dagster.markdown.frozen import record

LEAD_IN_MARKS = (":", "：")
"""A text that ends so introduces the block that follows it (SD-09)."""

_FENCE = ("```", "~~~")
_BREAK = re.compile(r"\r\n|\r|\n")
# To the end of the line, and empty lines behind it.
_TO_LINE_START = re.compile(r"[^\r\n]*[\r\n]*")
# A repeated prefix takes at most this part of a piece.
_PREFIX_SHARE = 4


@record
class Atom:
    """A range of the coarse content, contiguous with the next; white space between belongs to the left one.

    Attributes:
        start, end: its place in the coarse content.
        kind: kind of its element, or of the nested block that it is.
        element_index: its element.
        ends: why it ends where it ends: `structural`, `sentence`, `token_safe`, `token_safe_residue`,
            `protected_split`.
        heading: whether it is a whole heading.
        protected: whether it is a block that no cut enters (or a part of one that was too long).
        blank: whether it is white space only.
        lead_in: whether it is text that introduces what follows.
        part, parts: number among the parts of a split block, and their count; else None.
        repeated_prefix: what the indexed text of a later part repeats.
        cut_at: where a truncated block's words end (`oversize: truncate`); else None.
    """

    start: int
    end: int
    kind: str
    element_index: int
    ends: str = "structural"
    heading: bool = False
    protected: bool = False
    blank: bool = False
    lead_in: bool = False
    part: int | None = None
    parts: int | None = None
    repeated_prefix: str | None = None
    cut_at: int | None = None


def atoms_of(chunk: CoarseChunk, measure: Measure, settings: ChunkSettings) -> list[Atom]:
    """Atoms of a source coarse chunk, in order.

    Headings, code, math, images and tables are one atom each, and so are nested protected blocks; other elements up
    to `max_tokens` too. Longer ones are cut into groups of whole lines, then sentences, then token-safe prefixes. A
    protected block above `hard_max_tokens` becomes parts, or is cut short, by `oversize`. Text that does not fit
    together with the headings right before it, which it may not be parted from (SD-08), is cut like longer text.

    Args:
        chunk: a source chunk.
        measure: token counts of its content.
        settings: limits.
    """
    return _Builder(chunk, measure, settings).build()


class _Builder:
    def __init__(self, chunk: CoarseChunk, measure: Measure, settings: ChunkSettings) -> None:
        self._chunk = chunk
        self._content = chunk.content
        self._measure = measure
        self._max = settings.max_tokens
        self._hard = settings.hard_max_tokens
        self._truncate = settings.oversize == "truncate"
        self._splitter = Splitter(chunk.content, measure, settings.max_tokens, settings.hard_max_tokens)
        self._atoms: list[Atom] = []
        self._heading_start: int | None = None

    def build(self) -> list[Atom]:
        views = self._chunk.views
        nested = sorted((r.start_char, r.end_char, r.kind) for r in self._chunk.protected)
        at = 0
        for number, view in enumerate(views):
            end = views[number + 1].start if number + 1 < len(views) else len(self._content)
            inside: list[tuple[int, int, str]] = []
            while at < len(nested) and nested[at][0] < view.end:
                if nested[at][1] <= view.end and view.kind not in PROTECTED_KINDS:
                    inside.append(nested[at])
                at += 1
            blanks = self._splitter.blanks(view.end, end)
            self._element(view, view.end if blanks else end, inside)
            self._add_pieces(view, blanks)
        return self._atoms

    def _element(self, view: ElementView, end: int, nested: Sequence[tuple[int, int, str]]) -> None:
        if view.kind in PROTECTED_KINDS:
            self._protected(view, view.start, end, view.kind)
        elif view.kind == "heading" and self._measure.fits(view.start, end, self._hard):
            self._add(Atom(view.start, end, view.kind, view.element_index, heading=True))
            return
        elif self._measure.fits(view.start, end, self._max) and self._fits_headings(end):
            self._add(
                Atom(
                    view.start,
                    end,
                    view.kind,
                    view.element_index,
                    lead_in=self._introduces(view),
                )
            )
        else:
            self._long_text(view, end, nested)
        self._heading_start = None

    def _long_text(self, view: ElementView, end: int, nested: Sequence[tuple[int, int, str]]) -> None:
        at = view.start
        for start, stop, kind in _whole_lines(self._content, view.start, end, nested):
            if start > at:
                self._add_pieces(view, self._splitter.text(at, start, self._heading_start))
                self._heading_start = None
            self._protected(view, start, stop, kind)
            self._heading_start = None
            at = stop
        if at < end:
            self._add_pieces(view, self._splitter.text(at, end, self._heading_start))

    def _protected(self, view: ElementView, start: int, end: int, kind: str) -> None:
        whole = Atom(start, end, kind, view.element_index, protected=True)
        if self._measure.fits(start, end, self._hard):
            self._add(whole)
            return
        if self._truncate:
            self._add(replace(whole, cut_at=self._truncation(start, end)))
            return
        prefix = repeated_prefix(self._content[start:end], kind)
        room = self._max
        if prefix is not None:
            # A line break stands between the prefix and the part.
            cost = self._measure.count_alone(prefix + "\n")
            if cost * _PREFIX_SHARE <= self._max:
                room -= cost
            else:
                prefix = None
        splitter = Splitter(self._content, self._measure, room, self._hard)
        pieces = splitter.whole_lines(start, end, self._heading_start)
        for number, piece in enumerate(pieces, start=1):
            last = number == len(pieces)
            residue = piece.ends == "token_safe_residue"
            self._add(
                replace(
                    whole,
                    start=piece.start,
                    end=piece.end,
                    ends="structural" if last else piece.ends if residue else "protected_split",
                    part=number,
                    parts=len(pieces),
                    repeated_prefix=prefix if number > 1 else None,
                )
            )

    def _truncation(self, start: int, end: int) -> int:
        """Where `oversize: truncate` cuts: after the last whole line that fits, else at a token-safe place."""
        origin = start
        if self._heading_start is not None and self._measure.count(self._heading_start, start) < self._hard:
            origin = self._heading_start
        return Splitter(self._content, self._measure, self._hard).whole_lines(start, end, origin)[0].end

    def _fits_headings(self, end: int) -> bool:
        return self._heading_start is None or self._measure.fits(self._heading_start, end, self._hard)

    def _add_pieces(self, view: ElementView, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            lead_in = piece.end >= view.end and not piece.blank and self._introduces(view)
            self._add(
                Atom(
                    piece.start,
                    piece.end,
                    view.kind,
                    view.element_index,
                    piece.ends,
                    blank=piece.blank,
                    lead_in=lead_in,
                )
            )

    def _introduces(self, view: ElementView) -> bool:
        return self._content[view.start : view.end].rstrip().endswith(LEAD_IN_MARKS)

    def _add(self, atom: Atom) -> None:
        if atom.heading and self._heading_start is None:
            self._heading_start = atom.start
        last = self._atoms[-1] if self._atoms else None
        if last is not None and last.cut_at is not None and self._content[atom.start : atom.end].isspace():
            # White space makes no chunk, and nothing follows words that were cut short: it is left out with the rest.
            self._atoms[-1] = replace(last, end=atom.end)
            return
        self._atoms.append(atom)


def repeated_prefix(block: str, kind: str) -> str | None:
    """What each later part of a split block repeats in its indexed text: header rows, or the fence's opening line."""
    if kind == "table":
        return header_rows(block) or None
    first = _BREAK.split(block, maxsplit=1)[0]
    if kind == "code" and first.lstrip(" >\t").startswith(_FENCE):
        return first
    return None


def _whole_lines(
    content: str, start: int, end: int, nested: Sequence[tuple[int, int, str]]
) -> list[tuple[int, int, str]]:
    """Nested protected ranges, widened to whole lines; those inside another one are left out."""
    found: list[tuple[int, int, str]] = []
    floor = start  # no line is searched twice (linear time)
    for first, last, kind in nested:
        breaks = content.rfind("\n", floor, first), content.rfind("\r", floor, first)
        first, floor = max(floor, *(place + 1 for place in breaks)), last
        line = _TO_LINE_START.match(content, last, end)
        last = end if line is None else line.end()
        if found and first < found[-1][1]:
            if last > found[-1][1]:
                found[-1] = (found[-1][0], last, found[-1][2])
            continue
        found.append((first, last, kind))
    return found


def tiles(atoms: Sequence[Atom], length: int) -> bool:
    """Whether atoms are contiguous and cover a content of that length."""
    return (
        bool(atoms)
        and atoms[0].start == 0
        and atoms[-1].end == length
        and all(a.end == b.start for a, b in pairwise(atoms))
    )
