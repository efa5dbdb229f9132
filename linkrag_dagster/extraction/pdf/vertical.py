"""Chinese and Japanese set in columns from the right to the left, character by character (XT-09)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from linkrag_dagster.extraction.pdf.words import Word

_LEAST = 20
"""Characters below which a page is not taken for a vertical one."""
_SHARE = 0.8
"""Of a page's characters that stand alone, from which on it may be one."""
_SAME_COLUMN = 0.35
_NEXT = 0.8
"""Gap below a character, in font sizes, up to which the next belongs to the same run."""


def vertical_runs(words: Sequence[Word]) -> list[list[Word]] | None:
    """The columns of a page that is written from top to bottom; None for a page that is not.

    A page is one when its characters stand alone, with less space below them than beside them. Fonts that are
    vertical themselves need none of this: their lines run down already.
    """
    alone = [word for word in words if len(word.text) == 1 and "\u2e80" <= word.text <= "\uffef"]
    total = sum(len(word.text) for word in words)
    if len(alone) < _LEAST or len(alone) < _SHARE * total:
        return None
    below, beside = _gaps(alone, down=True), _gaps(alone, down=False)
    if not below or (beside and median(below) >= 0.7 * median(beside)):
        return None
    if median(below) > 0.6 * median(word.size for word in alone):
        return None
    columns: list[list[Word]] = []
    for word in sorted(words, key=lambda w: (-_middle(w), w.place[1])):
        column = columns[-1] if columns else None
        if column is None or abs(_middle(column[0]) - _middle(word)) > _SAME_COLUMN * word.size:
            columns.append([word])
        else:
            column.append(word)
    runs: list[list[Word]] = []
    for column in columns:
        run: list[Word] = []
        for word in sorted(column, key=lambda w: w.place[1]):
            if run and word.place[1] - run[-1].place[3] > _NEXT * word.size:
                runs.append(run)
                run = []
            run.append(replace(word, space=False))
        runs.append(run)
    return runs


def _middle(word: Word) -> float:
    return (word.place[0] + word.place[2]) / 2


def _gaps(words: Sequence[Word], *, down: bool) -> list[float]:
    """Distances from each character to the next, below it or beside it."""
    along, across = (1, 0) if down else (0, 1)
    lanes: dict[int, list[Word]] = {}
    for word in words:
        middle = (word.place[across] + word.place[across + 2]) / 2
        lanes.setdefault(round(middle / (0.5 * word.size)), []).append(word)
    found: list[float] = []
    for lane in lanes.values():
        ordered = sorted(lane, key=lambda w: w.place[along])
        found += [max(0.0, other.place[along] - one.place[along + 2]) for one, other in pairwise(ordered)]
    return found
