"""The curve beside the text: cohesion runs down from gap to gap, whatever height the words between them take."""

from __future__ import annotations

from itertools import pairwise

from linkrag_dagster.explain.account import Account, Gap, Shown
from linkrag_dagster.explain.scale import Height, heights, key, scale_of

_LEFT, _RIGHT = 4.0, 54.0
"""Per cent of the rail between which cohesion is drawn."""
_BAR, _BAR_END = 62.0, 82.0
"""Likewise for depth; the figures stand to the right."""


class Rail:
    """Draws the pieces of one document's rail.

    Args:
        account: the document.

    Attributes:
        scale: of its scores; None where there are none, and nothing is drawn.
    """

    def __init__(self, account: Account) -> None:
        self.scale = scale_of(account.gaps)
        self._heights = heights(account.gaps)
        self._before: dict[tuple[str, int], Gap] = {}
        runs: dict[str, list[Gap]] = {}
        for gap in account.gaps:
            runs.setdefault(gap.trace.coarse_id, []).append(gap)
        for run in runs.values():
            for left, right in pairwise(run):
                self._before[key(right)] = left
        self._opening: dict[int, Gap | None] = {}
        self._last: dict[int, Gap | None] = {}
        self._follow(account)

    def beside(self, gap: Gap | None, shown: Shown) -> str:
        """The piece beside words that end with `gap`, or with their chunk if it is None."""
        below = gap or self._closing(shown)
        above = self._last.get(shown.chunk.ordinal) if below is None else self._before.get(key(below))
        start, end = self._height(above), self._height(below)
        if self.scale is None or start is None or end is None:
            return ""
        return self._line(start, end)

    def above(self, shown: Shown) -> str:
        """The piece beside what stands before a chunk's words: the curve goes straight down from the cut."""
        return self._straight(self._opening.get(shown.chunk.ordinal))

    def below(self, shown: Shown) -> str:
        """The piece beside what stands after them: straight down to the cut."""
        return self._straight(self._closing(shown))

    def _straight(self, gap: Gap | None) -> str:
        height = self._height(gap)
        return "" if height is None else self._line(height, height)

    def _closing(self, shown: Shown) -> Gap | None:
        return None if shown.cut is None else shown.cut.gap

    def at(self, gap: Gap) -> str:
        """The piece at a gap: the curve's point, the bar of its depth, both figures."""
        height = self._height(gap)
        if self.scale is None or height is None:
            return ""
        drawn = self._line(height, height)
        if gap.trace.cohesion is None:
            return drawn
        x = self._x(height)
        chosen = " chosen" if gap.trace.chosen else ""
        drawn += (
            f'<span class="point{chosen}" style="left:{x:.1f}%"></span>'
            f'<span class="figure" style="left:{x:.1f}%">{gap.trace.cohesion:.2f}</span>'
        )
        if gap.trace.depth is not None:
            wide = max(0.5, (_BAR_END - _BAR) * self.scale.depth(gap.trace.depth))
            drawn += (
                f'<span class="measure{chosen}" style="left:{_BAR}%;width:{wide:.1f}%"></span>'
                f'<span class="figure last">{gap.trace.depth:.2f}</span>'
            )
        return drawn

    def axis(self) -> str:
        """What the rail shows, above it."""
        if self.scale is None:
            return ""
        return (
            f'<span style="left:{_LEFT}%">{self.scale.low:.1f}</span>'
            f'<span class="mid" style="left:{(_LEFT + _RIGHT) / 2}%">cohesion</span>'
            f'<span class="end" style="left:{_RIGHT}%">{self.scale.high:.1f}</span>'
            f'<span style="left:{_BAR + 6}%">depth</span>'
        )

    def _line(self, start: Height, end: Height) -> str:
        kind = "curve" if start.measured and end.measured else "curve bridge"
        return (
            '<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
            f'<line class="{kind}" vector-effect="non-scaling-stroke" x1="{self._x(start):.1f}" y1="0" '
            f'x2="{self._x(end):.1f}" y2="100"/></svg>'
        )

    def _x(self, height: Height) -> float:
        assert self.scale is not None
        return _LEFT + (_RIGHT - _LEFT) * self.scale.cohesion(height.cohesion)

    def _height(self, gap: Gap | None) -> Height | None:
        return None if gap is None else self._heights.get(key(gap))

    def _follow(self, account: Account) -> None:
        before: Gap | None = None
        for shown in account.shown:
            if shown.chunk.role != "source":
                continue
            inside = [row.gap for row in shown.rows if row.gap is not None]
            self._opening[shown.chunk.ordinal] = before
            self._last[shown.chunk.ordinal] = inside[-1] if inside else before
            before = None if shown.cut is None else shown.cut.gap
