"""ST-07: the ablation A to F of seed 000: boundaries, header and copy, each with and without.

    A  blind windows            C  paragraph boundaries            E  C with a header
    B  A with the copy          D  C with the copy                 F  E with the copy

The copy is the end of the piece before, in front of a piece's own words: pieces are as many as without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from linkrag_dagster.chunking.records import Span
from linkrag_dagster.chunking.strategies.fixed import WINDOW, character_windows
from linkrag_dagster.chunking.strategies.header import packed_paragraphs
from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source, Strategy
from linkrag_dagster.chunking.strategy_settings import SEED_COPY, SEED_SIZE


def ablation(boundaries: bool, copy: bool) -> Strategy:
    """The cuts of two of the six: header or not is said by `ABLATION_HEADERS`.

    Args:
        boundaries: cuts at paragraphs (`header`'s pieces, `target` code points), else blind (`size` code points).
        copy: the last `overlap` code points of the piece before (64 where nothing is said) in front of each piece.
    """

    def strategy(source: Source) -> Cutting:
        pieces = packed_paragraphs(source) if boundaries else _blind(source)
        if copy:
            overlap = source.settings.overlap
            pieces = _copied(pieces, SEED_COPY if overlap is None else overlap)
        return Cutting(pieces)

    return strategy


def _blind(source: Source) -> list[Piece]:
    text = source.text
    size = source.settings.size or source.settings.target or SEED_SIZE
    windows = character_windows(len(text), size, 0)
    return [Piece(a, b, END if b == len(text) else WINDOW) for a, b in windows if not text[a:b].isspace()]


def _copied(pieces: Sequence[Piece], length: int) -> list[Piece]:
    """Each piece but the first with the end of the one before."""
    if not pieces or not length:
        return list(pieces)
    found = [pieces[0]]
    for before, piece in pairwise(pieces):
        span = Span(max(before.start_char, before.end_char - length), before.end_char)
        found.append(replace(piece, copied=span))
    return found


ABLATIONS: dict[str, Strategy] = {
    "ablation_a": ablation(boundaries=False, copy=False),
    "ablation_b": ablation(boundaries=False, copy=True),
    "ablation_c": ablation(boundaries=True, copy=False),
    "ablation_d": ablation(boundaries=True, copy=True),
    "ablation_e": ablation(boundaries=True, copy=False),
    "ablation_f": ablation(boundaries=True, copy=True),
}
