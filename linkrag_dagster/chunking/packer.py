"""Packing atoms into segments: tokens say when to cut, depth (where there is one) says where (SD-07 to SD-12)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.chunking.atoms import Atom
from linkrag_dagster.chunking.cohesion import DECIMALS
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.records import GapTrace
from linkrag_dagster.markdown.frozen import record

Scores = Sequence[float | None]


@record
class Segment:
    """Atoms `first` to `last` (exclusive) that become one final chunk.

    Attributes:
        first, last: positions of atoms.
        reason: why it ends where it ends: `end`, `structural`, `depth`, `sentence`, `token_safe`,
            `token_safe_residue`, `protected_split`.
    """

    first: int
    last: int
    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Token limits of a segment: below `least` it joins a neighbour, above `most` it is cut, never above `hard`."""

    least: int
    most: int
    hard: int


class Packer:
    """Packs the atoms of one coarse chunk. Gap `g` stands before atom `g`; gaps 0 and `len(atoms)` are no gaps.

    Args:
        atoms: they tile the content.
        content: the coarse content.
        measure: its token counts.
        limits: of the segments.
        depths: depth of the valley at the gap after each atom but the last; None for packing without scores.
        cohesion: likeness of the two sides of that gap, likewise.
    """

    def __init__(
        self,
        atoms: Sequence[Atom],
        content: str,
        measure: Measure,
        limits: Limits,
        depths: Scores | None = None,
        cohesion: Scores | None = None,
    ) -> None:
        self._atoms = atoms
        self._content = content
        self._measure = measure
        self._limits = limits
        self._depths: Scores = depths or [None] * (len(atoms) - 1)
        self._scored = any(depth is not None for depth in self._depths)
        self._cohesion: Scores = cohesion or [None] * (len(atoms) - 1)
        self._ends = [atom.end if atom.cut_at is None else atom.cut_at for atom in atoms]
        # Gaps that are cut whatever the sizes; the end is the last of them.
        self._barriers = [gap for gap in range(1, len(atoms)) if self._barred(gap)] + [len(atoms)]

    def segments(self) -> list[Segment]:
        """Segments in order; together they hold every atom once."""
        packed: list[Segment] = []
        first = 0
        while first < len(self._atoms):
            last, reason = self._next(first)
            packed.append(Segment(first, last, reason))
            first = last
        packed = self._join_headings(packed)
        packed = self._join_small(packed)
        return self._join_blanks(packed)

    def trace(self, coarse_id: str, segments: Sequence[Segment]) -> list[GapTrace]:
        """A row for every gap of the chunk (SD-16)."""
        chosen = {s.last: s.reason for s in segments}
        rows: list[GapTrace] = []
        body_seen = False
        for gap in range(1, len(self._atoms)):
            left = self._atoms[gap - 1]
            body_seen = body_seen or not (left.heading or left.blank)
            taken = gap in chosen
            weak = left.heading or self._introduces(gap)
            rows.append(
                GapTrace(
                    coarse_id,
                    gap - 1,
                    left.end,
                    self._cohesion[gap - 1],
                    self._depths[gap - 1],
                    body_seen and (taken or not weak) and not self._inside_block(gap),
                    taken,
                    chosen[gap] if taken else self._why_not(gap, body_seen),
                )
            )
            if taken:
                body_seen = False
        return rows

    def oversized_reason(self, segment: Segment) -> str | None:
        """Why a segment is above the maximum (SD-12); None if it is not."""
        atoms = self._atoms[segment.first : segment.last]
        start, end = atoms[0].start, self.end_of(segment.last)
        if self._measure.fits(start, end, self._limits.most):
            return None
        words = self._content[start:end]
        first, last = start + len(words) - len(words.lstrip()), start + len(words.rstrip())
        # With a blank in front a word may be fewer tokens.
        visible = min(self._measure.count(first, last), self._measure.count(start, last))
        if visible <= self._limits.most or visible <= self._limits.hard < self._measure.count(start, end):
            return "separators"
        body = [a for a in atoms if not (a.heading or a.blank)]
        headings = any(a.heading for a in atoms)
        protected = any(a.protected for a in body)
        cut = not protected or any(a.part is not None for a in body)
        if any(a.ends == "token_safe_residue" for a in atoms) or (cut and not headings):
            return "token_safe_residue"  # what is cut keeps the maximum, but for a code point that exceeds it
        if headings and (len(body) < 2 or not protected):
            return "heading_attached"
        return "protected_single" if len(body) == 1 else "protected_with_context"

    # -- one segment ---------------------------------------------------------------------------------------------

    def _next(self, first: int) -> tuple[int, str]:
        """Where the segment that begins at atom `first` ends, and why."""
        start, end = self._atoms[first].start, first + 1
        stop = self._barriers[bisect_left(self._barriers, end)]
        end = self._measure.first_above(start, self._ends, end, self._limits.most, stop)
        while end < stop:
            good, weak = self._legal(first, end)
            if good:
                return self._deepest(good)
            if self._size(first, end + 1) > self._limits.hard:
                return self._deepest(weak) if weak else (end, self._reason(end))
            end = self._measure.first_above(start, self._ends, end + 1, self._limits.most, stop)
        return (end, self._reason(end)) if end < len(self._atoms) else (end, "end")

    def _legal(self, first: int, end: int) -> tuple[list[int], list[int]]:
        """Gaps that may be cut, and those that may be only when nothing else may (SD-08, SD-09)."""
        good: list[int] = []
        weak: list[int] = []
        body = first
        while body < end and (self._atoms[body].heading or self._atoms[body].blank):
            body += 1
        for gap in range(end, body, -1):
            if self._atoms[gap - 1].heading or self._introduces(gap):
                weak.append(gap)
            else:
                good.append(gap)
                if not self._scored:
                    break  # the last one is the one
        return good, weak

    def _introduces(self, gap: int) -> bool:
        """Whether the gap parts a lead-in from its code or math although both fit the hard maximum."""
        left, right = self._atoms[gap - 1], self._atoms[gap]
        return (
            left.lead_in
            and right.kind in ("code", "math")
            and right.part is None
            and self._fits(gap - 1, gap + 1, self._limits.hard)
        )

    def _deepest(self, gaps: Sequence[int]) -> tuple[int, str]:
        """The deepest gap, of equal ones the later; the last one where there is no depth."""
        # Rounded: what rounding noise tells apart is equal.
        scored = [
            (round(depth, DECIMALS), gap) for gap in gaps if (depth := self._depths[gap - 1]) is not None
        ]
        gap = max(scored)[1] if scored else max(gaps)
        # What splits a grapheme says so, whatever chose it (TK-03).
        return gap, "depth" if scored and self._reason(gap) != "token_safe_residue" else self._reason(gap)

    def _reason(self, gap: int) -> str:
        return self._atoms[gap - 1].ends

    def _inside_block(self, gap: int) -> bool:
        """Whether the gap lies between two parts of one split block: always cut."""
        part = self._atoms[gap].part
        return part is not None and part > 1

    def _barred(self, gap: int) -> bool:
        """Whether the gap is cut always: beside a part of a split block, or behind words that were cut short."""
        return self._inside_block(gap) or self._atoms[gap - 1].part is not None or self._closed(gap)

    def _closed(self, gap: int) -> bool:
        """Whether the words before the gap were cut short, so that nothing may follow them in one slice."""
        return self._atoms[gap - 1].cut_at is not None

    # -- after packing (SD-10) -----------------------------------------------------------------------------------

    def _join_headings(self, packed: Sequence[Segment]) -> list[Segment]:
        """Segments of headings only join the following one, else the preceding, within the hard maximum."""
        joined: list[Segment] = []
        for segment in packed:
            last = joined[-1] if joined else None
            if (
                last is not None
                and self._only_headings(last)
                and self._may_join(last, segment, self._limits.hard)
            ):
                joined[-1] = Segment(last.first, segment.last, segment.reason)
            else:
                joined.append(segment)
        if len(joined) > 1 and self._only_headings(joined[-1]):
            before, last = joined[-2], joined[-1]
            if self._may_join(before, last, self._limits.hard):
                joined[-2:] = [Segment(before.first, last.last, last.reason)]
        return joined

    def _join_small(self, packed: Sequence[Segment]) -> list[Segment]:
        """Segments below the minimum join the neighbour they hold to more, if the sum stays within the maximum."""
        joined: list[Segment] = []
        waiting = list(reversed(packed))
        while waiting:
            segment = waiting.pop()
            if self._size(segment.first, segment.last) >= self._limits.least:
                joined.append(segment)
                continue
            before = joined[-1] if joined and self._may_join(joined[-1], segment, self._limits.most) else None
            after = (
                waiting[-1] if waiting and self._may_join(segment, waiting[-1], self._limits.most) else None
            )
            if after is not None and (before is None or self._closer_to_next(segment)):
                waiting[-1] = Segment(segment.first, after.last, after.reason)
            elif before is not None:
                joined[-1] = Segment(before.first, segment.last, segment.reason)
            else:
                joined.append(segment)
        return joined

    def _join_blanks(self, packed: Sequence[Segment]) -> list[Segment]:
        """No chunk is white space only: such a segment joins the preceding one, else where it fits the following."""
        joined: list[Segment] = []
        waiting = list(reversed(packed))
        full: int | None = None
        while waiting:
            segment = waiting.pop()
            before = joined[-1] if joined else None
            after = waiting[-1] if waiting else None
            if not self._is_blank(segment) or (before is None and after is None):
                joined.append(segment)
            elif after is not None and (
                before is None
                or (
                    (before.first == full or self._size(before.first, segment.last) > self._limits.hard)
                    and self._may_join(segment, after, self._limits.hard)
                )
            ):
                waiting[-1] = Segment(segment.first, after.last, after.reason)
            elif before is not None:
                joined[-1] = before = Segment(before.first, segment.last, segment.reason)
                # What is far above the limit stays so, and isn't counted again at each of many segments (linear time).
                if before.first != full and self._size(before.first, before.last) > 2 * self._limits.hard:
                    full = before.first
        return joined

    def _closer_to_next(self, segment: Segment) -> bool:
        left, right = self._cohesion[segment.first - 1], self._cohesion[segment.last - 1]
        return left is not None and right is not None and right > left

    def _may_join(self, left: Segment, right: Segment, limit: int) -> bool:
        gap = right.first
        return not self._barred(gap) and self._fits(left.first, right.last, limit)

    def _only_headings(self, segment: Segment) -> bool:
        atoms = self._atoms[segment.first : segment.last]
        return all(a.heading or a.blank for a in atoms) and any(a.heading for a in atoms)

    def _is_blank(self, segment: Segment) -> bool:
        start, end = self._atoms[segment.first].start, self._atoms[segment.last - 1].end
        return self._content[start:end].isspace()

    def _size(self, first: int, last: int) -> int:
        return self._measure.count(self._atoms[first].start, self.end_of(last))

    def _fits(self, first: int, last: int, limit: int) -> bool:
        return self._measure.fits(self._atoms[first].start, self._ends[last - 1], limit)

    def end_of(self, last: int) -> int:
        """Where the words of a segment that ends before atom `last` end."""
        return self._ends[last - 1]

    def _why_not(self, gap: int, body_seen: bool) -> str:
        if not body_seen:
            return "headings_only"
        if self._atoms[gap - 1].heading:
            return "after_heading"
        return "lead_in" if self._introduces(gap) else "kept"
