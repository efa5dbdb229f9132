"""Words painted twice at one place: to look bold, or to throw a shadow (XT-03)."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.extraction.pdf.words import Box, Word

_NEAR = 0.2
"""Distance in font sizes up to which the same word at the same place is the same word."""


def painted_once(lines: Sequence[Sequence[Word]]) -> list[list[Word]]:
    """As many lines, without the words that stand there already with the same characters."""
    seen: dict[tuple[str, int, int], list[Box]] = {}
    kept: list[list[Word]] = []
    for line in lines:
        mine: list[Word] = []
        for word in line:
            near = _NEAR * word.size
            left, top = word.place[0], word.place[1]
            cell = max(near, 0.1)
            column, row = int(left // cell), int(top // cell)
            twin = any(
                abs(box[0] - left) <= near
                and abs(box[1] - top) <= near
                and abs(box[2] - word.place[2]) <= near
                for x in (-1, 0, 1)
                for y in (-1, 0, 1)
                for box in seen.get((word.text, column + x, row + y), ())
            )
            if not twin:
                mine.append(word)
                seen.setdefault((word.text, column, row), []).append(word.place)
        kept.append(mine)
    return kept
