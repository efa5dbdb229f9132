"""Blocks to canonical text, with the place of each in the source (XT-02)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from linkrag_dagster.extraction.html.blocks import Block, Container
from linkrag_dagster.extraction.locators import Locator


def write(blocks: Iterable[Block]) -> tuple[str, tuple[Locator, ...]]:
    """The Markdown text of blocks, and a locator for each run of lines that shares a place in the source."""
    parts: list[str] = []
    locators: list[Locator] = []
    at = 0
    before: Sequence[Container] = ()
    for block in blocks:
        if parts:
            gap = _gap(before, block.containers)
            parts.append(gap)
            at += len(gap)
            if gap.strip():  # a quote's mark on the blank line belongs to the block before
                locators[-1] = replace(locators[-1], end_char=at - 1)
        first, rest = _prefixes(block.containers)
        starts: list[int] = []
        ends: list[int] = []
        for number, line in enumerate(block.lines):
            written = (first if number == 0 else rest) + line
            written = written if line else written.rstrip()
            if number:
                parts.append("\n")
                at += 1
            parts.append(written)
            starts.append(at)
            at += len(written)
            ends.append(at)
        locators += [
            Locator(starts[head], ends[end - 1], f"#char={start},{stop}")
            for head, end, start, stop in block.runs
        ]
        before = block.containers
    return "".join(parts) + "\n" if parts else "", tuple(locators)


def _prefixes(containers: Sequence[Container]) -> tuple[str, str]:
    """What goes before a block's first line and before the others; marks the items as begun."""
    first: list[str] = []
    rest: list[str] = []
    for container in containers:
        blank = container.mark if container.is_quote else " " * len(container.mark)
        first.append(blank if container.used else container.mark)
        rest.append(blank)
        container.used = True
    return "".join(first), "".join(rest)


def _gap(before: Sequence[Container], now: Sequence[Container]) -> str:
    """The line break between two blocks: an item that follows another in its list needs no blank line."""
    begins = any(not container.used and not container.is_quote for container in now)
    if begins and any(not container.is_quote for container in before):
        return "\n"
    # A blank line inside a quote carries the quote's mark, or it would end the quote.
    shared: list[str] = []
    for one, other in zip(before, now, strict=False):
        if one is not other:
            break
        shared.append(one.mark if one.is_quote else " " * len(one.mark))
    return "\n" + "".join(shared).rstrip() + "\n"
