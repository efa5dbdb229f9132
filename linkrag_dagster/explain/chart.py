"""The document at a glance, as SVG: cohesion and depth over its length, the cuts, and the chunks below them."""

from __future__ import annotations

from collections.abc import Iterator

from linkrag_dagster.explain.account import Account, Cut, Gap, Shown
from linkrag_dagster.explain.anchors import chunk_anchor, cut_anchor, gap_anchor
from linkrag_dagster.explain.counted import counted
from linkrag_dagster.explain.reasons import badges, cut_words, gap_words, scores
from linkrag_dagster.explain.scale import Height, Key, Scale, heights, key, scale_of
from linkrag_dagster.explain.visible import escaped

WIDTH = 1180
"""Pixels at least; a chart of many gaps is wider, and scrolls."""
_MOST_WIDTH = 24_000
_LEFT, _RIGHT, _TOP = 74, 16, 26
_CURVE, _DEPTH, _BANDS, _SPACE = 150, 56, 34, 10
_LABEL = 34
"""Pixels between the labels of two cuts, at least."""
HUES = 6


def chart(account: Account) -> str:
    """An SVG element; without scores only the cuts and the chunks."""
    return _Chart(account).drawn()


class _Chart:
    def __init__(self, account: Account) -> None:
        self._account = account
        self._scale = scale_of(account.gaps)
        wanted = max(WIDTH, 14 * len(account.gaps), 30 * len(account.shown))
        self._width = min(wanted, _MOST_WIDTH)
        self._length = max(1, len(account.text))
        self._depth_top = _TOP + _CURVE + _SPACE
        self._bands_top = self._depth_top + _DEPTH + _SPACE if self._scale else _TOP
        self._height = self._bands_top + _BANDS + 26

    def drawn(self) -> str:
        parts: list[str] = []
        if self._scale is not None:
            parts += self._axes(self._scale)
        parts += self._cuts()
        if self._scale is not None:
            parts += self._curve(self._scale)
            parts += self._depths(self._scale)
        parts += self._bands()
        parts += self._hits()
        label = (
            f"{counted(len(self._account.shown), 'chunk')} and {counted(len(self._account.cuts), 'cut')} "
            "over the document's length"
        )
        whole = ' class="whole"' if self._width == WIDTH else ""  # it shrinks with its window
        return (
            f'<svg{whole} role="img" aria-label="{label}" xmlns="http://www.w3.org/2000/svg" width="{self._width}" '
            f'height="{self._height}" viewBox="0 0 {self._width} {self._height}">{"".join(parts)}</svg>'
        )

    def _x(self, position: int) -> float:
        room = self._width - _LEFT - _RIGHT
        return round(_LEFT + room * position / self._length, 1)

    def _y(self, scale: Scale, cohesion: float) -> float:
        return round(_TOP + _CURVE * (1 - scale.cohesion(cohesion)), 1)

    def _axes(self, scale: Scale) -> Iterator[str]:
        end = self._width - _RIGHT
        for tick in scale.ticks:
            y = self._y(scale, tick)
            yield f'<line class="grid" x1="{_LEFT}" x2="{end}" y1="{y}" y2="{y}"/>'
            yield f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{tick:.1f}</text>'
        yield f'<text class="name" x="6" y="{_TOP - 10}">cohesion</text>'
        base = self._depth_top + _DEPTH
        yield f'<line class="grid" x1="{_LEFT}" x2="{end}" y1="{base}" y2="{base}"/>'
        yield f'<text class="name" x="6" y="{self._depth_top + 12}">depth</text>'
        yield f'<text x="{_LEFT - 6}" y="{self._depth_top + 28}" text-anchor="end">{scale.deepest:.2f}</text>'
        yield f'<text x="{_LEFT - 6}" y="{base}" text-anchor="end">0</text>'

    def _curve(self, scale: Scale) -> Iterator[str]:
        known = heights(self._account.gaps)
        last: dict[str, tuple[Gap, Height]] = {}
        for gap in self._account.gaps:
            height = known.get(key(gap))
            if height is None:
                continue
            before = last.get(gap.trace.coarse_id)
            if before is not None:
                kind = "curve" if before[1].measured and height.measured else "curve bridge"
                x1, y1 = self._x(before[0].position), self._y(scale, before[1].cohesion)
                x2, y2 = self._x(gap.position), self._y(scale, height.cohesion)
                yield f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'
            last[gap.trace.coarse_id] = gap, height
        for gap in self._account.gaps:
            if gap.trace.cohesion is not None:
                x, y = self._x(gap.position), self._y(scale, gap.trace.cohesion)
                radius = 5 if gap.trace.chosen else 3
                chosen = ' style="fill:var(--cut)"' if gap.trace.chosen else ""
                yield f'<circle class="dot" cx="{x}" cy="{y}" r="{radius}"{chosen}/>'

    def _depths(self, scale: Scale) -> Iterator[str]:
        base = self._depth_top + _DEPTH
        for gap in self._account.gaps:
            if gap.trace.depth is None:
                continue
            tall = round(max(1.0, _DEPTH * scale.depth(gap.trace.depth)), 1)
            kind = "bar chosen" if gap.trace.chosen else "bar"
            yield (
                f'<rect class="{kind}" x="{self._x(gap.position) - 3:.1f}" y="{base - tall:.1f}" width="6" '
                f'height="{tall}"/>'
            )

    def _cuts(self) -> Iterator[str]:
        labelled = -float(_LABEL)
        for cut in self._account.cuts:
            x = self._x(cut.position)
            kind = "ownline" if cut.coarse is not None else "cutline"
            yield f'<line class="{kind}" x1="{x}" x2="{x}" y1="{_TOP - 6}" y2="{self._bands_top + _BANDS}"/>'
            if x - labelled >= _LABEL:
                yield f'<text x="{x}" y="{_TOP - 10}" text-anchor="middle">✂ {cut.number}</text>'
                labelled = x

    def _bands(self) -> Iterator[str]:
        top = self._bands_top
        number = -1
        for shown in self._account.shown:
            chunk = shown.chunk
            left, right = self._x(chunk.start_char), self._x(chunk.end_char)
            if chunk.role == "source":
                number += 1
                yield self._band(shown, number, left, max(2.0, right - left), top)
            else:
                middle = (left + right) / 2
                yield (
                    f'<a href="#{chunk_anchor(chunk)}"><title>{escaped(_told(shown))}</title>'
                    f'<path class="band hue{number % HUES}" d="M{middle - 5:.1f} {top + _BANDS + 12}h10l-5 -8z"/></a>'
                )
        yield f'<text class="name" x="6" y="{top + _BANDS / 2 + 4}">chunks</text>'

    def _band(self, shown: Shown, number: int, left: float, wide: float, top: int) -> str:
        chunk = shown.chunk
        over = ' stroke-dasharray="5 3"' if chunk.oversized else ""
        parts = [
            f'<a href="#{chunk_anchor(chunk)}"><title>{escaped(_told(shown))}</title>',
            f'<rect class="band hue{number % HUES}" x="{left}" y="{top}" width="{wide:.1f}" height="{_BANDS}"{over}/>',
        ]
        mark = "▲ " if chunk.oversized else ""
        middle = f'x="{left + wide / 2:.1f}" y="{top + _BANDS / 2 + 4}" text-anchor="middle"'
        if wide > 78:
            parts.append(f'<text class="name" {middle}>{mark}{chunk.ordinal} · {chunk.tokens} tok</text>')
        elif wide > 26:
            parts.append(f'<text class="name" {middle}>{chunk.tokens}</text>')
        parts.append("</a>")
        return "".join(parts)

    def _hits(self) -> Iterator[str]:
        """What shows a gap's figures under the pointer, and leads to it."""
        ends: dict[Key, Cut] = {key(c.gap): c for c in self._account.cuts if c.gap is not None}
        for gap in self._account.gaps:
            cut = ends.get(key(gap))
            target = gap_anchor(gap) if cut is None else cut_anchor(cut)
            legal = "legal" if gap.trace.legal else "illegal"
            told = f"gap {gap.trace.gap_index}, {legal}: {scores(gap)}; {gap_words(gap)}"
            yield (
                f'<a href="#{target}" tabindex="-1"><title>{escaped(told)}</title><rect class="hit" '
                f'x="{self._x(gap.position) - 6:.1f}" y="{_TOP}" width="12" height="{self._bands_top - _TOP}"/></a>'
            )


def _told(shown: Shown) -> str:
    chunk = shown.chunk
    said = [
        f"chunk {chunk.ordinal}, {counted(chunk.tokens, 'token')}, [{chunk.start_char}, {chunk.end_char})"
    ]
    said += [f"{word}: {meaning}" for word, meaning in badges(shown)]
    if shown.cut is not None:
        said.append(f"ends {cut_words(shown.cut.reason)}")
    return "; ".join(said)
