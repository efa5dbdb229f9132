"""The same account for a terminal: the text with its gaps, cuts and reasons between the words."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from linkrag_dagster.chunking import ChunkSet
from linkrag_dagster.explain.account import Account, Cut, Gap, Shown, account_of
from linkrag_dagster.explain.counted import counted, line_range
from linkrag_dagster.explain.limits import Limits
from linkrag_dagster.explain.reasons import badges, facts, gap_words, scores, why
from linkrag_dagster.explain.scale import key
from linkrag_dagster.explain.valleys import valleys
from linkrag_dagster.explain.visible import plain

_BARS = "▁▂▃▄▅▆▇█"
_BOLD, _DIM, _RED, _YELLOW, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
_LEAST_WIDTH = 40


def terminal(
    made: ChunkSet,
    text: str,
    *,
    name: str = "document",
    limits: Limits | None = None,
    width: int = 100,
    colour: bool = False,
) -> str:
    """Lines of at most `width` cells, ending with a line break; no control sequence but colours comes out.

    Args:
        made: all that chunking made of the text.
        text: the document's canonical text.
        name: what the document is called.
        limits: what it was cut under; without them nothing is counted.
        width: cells of a line, at least 40.
        colour: whether to use colours.
    """
    shower = _Terminal(account_of(made, text, limits), name, max(_LEAST_WIDTH, width), colour)
    return "".join(f"{line}\n" for line in shower.lines())


class _Terminal:
    def __init__(self, account: Account, name: str, width: int, colour: bool) -> None:
        self._account = account
        self._name = name
        self._width = width
        self._colour = colour
        self._console = Console(file=io.StringIO(), width=width, color_system=None)
        self._valleys = valleys([gap.trace for gap in account.gaps])
        self._deepest = max((g.trace.depth or 0.0 for g in account.gaps), default=0.0)

    def lines(self) -> Iterator[str]:
        yield self._in(_BOLD, plain(self._name))
        said = " · ".join(f"{word}: {value}" for word, value in facts(self._account))
        yield from (self._in(_DIM, line) for line in self._wrapped(plain(said), ""))
        if self._deepest:
            legend = f"{_BARS[0]} to {_BARS[-1]}: depth of a gap, from none to the deepest of all"
            yield from (self._in(_DIM, line) for line in self._wrapped(legend, ""))
        for note in self._account.notes:
            yield from (self._in(_YELLOW, line) for line in self._wrapped(plain(note), ""))
        outside = list(self._account.uncovered)
        cut: Cut | None = None
        for shown in self._account.shown:
            if shown.chunk.role == "source":
                if cut is not None:
                    yield from self._cut(cut)
                cut = shown.cut
                while outside and outside[0].start_char < shown.chunk.start_char:
                    span = outside.pop(0)
                    yield from self._outside(span.start_char, span.end_char)
            yield from self._chunk(shown)
        for span in outside:
            yield from self._outside(span.start_char, span.end_char)

    def _outside(self, start: int, end: int) -> Iterator[str]:
        yield self._in(_DIM, f"  in no source chunk [{start}, {end}):")
        yield from self._wrapped(self._account.text[start:end].strip("\n"), "    ")

    def _chunk(self, shown: Shown) -> Iterator[str]:
        chunk = shown.chunk
        yield ""
        what = "chunk" if chunk.role == "source" else "derived chunk"
        head = f"{what} {chunk.ordinal} · {self._size(chunk.tokens)} "
        lines = line_range(chunk.start_line, chunk.end_line)
        head += f"· {lines} · [{chunk.start_char}, {chunk.end_char})"
        yield self._in(_BOLD, f"── {head} " + "─" * max(0, self._width - len(head) - 4))
        if chunk.heading_trail:
            yield from self._labelled("trail", " › ".join(chunk.heading_trail))
        for word, meaning in badges(shown):
            yield from (
                self._in(_YELLOW, line) for line in self._wrapped(plain(f"{word}: {meaning}"), "  ! ")
            )
        parts = shown.parts
        yield from self._labelled("header", parts.header)
        yield from self._labelled("with it" if chunk.role == "derived" else "repeated", parts.introduction)
        yield from self._labelled("before", parts.before)
        for row in shown.rows:
            for block in row.blocks:
                words = chunk.content[block.start : block.end].strip("\n")
                if words:
                    yield from self._wrapped(words, "  │ ")
            if row.gap is not None:
                yield from (self._in(_DIM, line) for line in self._gap(row.gap))
        yield from self._labelled("after", parts.after)

    def _size(self, tokens: int) -> str:
        limits = self._account.limits
        if limits is None or limits.settings.compares:
            return counted(tokens, "token")
        return f"{tokens}/{limits.settings.max_tokens} tokens"

    def _labelled(self, label: str, words: str) -> Iterator[str]:
        if words:
            yield from (
                self._in(_DIM, line) for line in self._wrapped(words, f"  {label}: ", " " * (len(label) + 4))
            )

    def _gap(self, gap: Gap) -> Iterator[str]:
        legal = "legal" if gap.trace.legal else "illegal"
        said = f"gap {gap.trace.gap_index} · {scores(gap)} · {legal}: {gap_words(gap)}"
        return self._wrapped(f"{self._bar(gap)}{said}", "  ┊ ")

    def _bar(self, gap: Gap | None) -> str:
        """The depth of a gap beside the deepest, and a blank; nothing where no gap has a depth."""
        if gap is None or not self._deepest:
            return ""
        if gap.trace.depth is None:
            return "  "
        return f"{_BARS[min(len(_BARS) - 1, int(gap.trace.depth / self._deepest * len(_BARS)))]} "

    def _cut(self, cut: Cut) -> Iterator[str]:
        first, *more = why(cut, self._account, None if cut.gap is None else self._valleys.get(key(cut.gap)))
        for line in self._wrapped(
            plain(first), f"✂ {cut.number} {self._bar(cut.gap)}at {cut.position}: ", "    "
        ):
            yield self._in(_RED, line)
        for said in more:
            yield from self._wrapped(plain(said), "    ")
        if len(cut.weighed) > 1:
            weighed = ", ".join(
                f"gap {g.trace.gap_index} {'–' if g.trace.depth is None else f'{g.trace.depth:.3f}'}"
                for g in cut.weighed
            )
            yield from self._wrapped(f"Weighed: {weighed}.", "    ")

    def _wrapped(self, words: str, first: str, rest: str | None = None) -> Iterator[str]:
        """Lines with a margin; what a terminal would obey is named instead."""
        margin = first
        for line in words.split("\n"):
            shown = Text(plain(line.expandtabs(4)))
            for part in shown.wrap(self._console, self._width - len(first)) or [shown]:
                yield f"{margin}{part.plain.rstrip()}"
                margin = first if rest is None else rest

    def _in(self, style: str, line: str) -> str:
        return f"{style}{line}{_OFF}" if self._colour else line
