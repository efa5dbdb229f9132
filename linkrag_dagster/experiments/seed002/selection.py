"""What a reader is handed: the first k chunks, or those that fit a budget (CS-01; the policy `skip` of ME-03)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.experiments.seed002.chunks import Chunk
from linkrag_dagster.experiments.seed002.fixture import Parameters
from linkrag_dagster.experiments.seed002.ranking import Ranked

SELECTIONS = ("topk", "budget")
"""The selections by name, in the table's order."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A chunk that was found and not handed over.

    Attributes:
        rank: its place in the ranking, from 1.
        reason: `beyond_top_k` or `exceeds_remaining_budget`.
        remaining: code points left when its turn came; None without a budget.
    """

    rank: int
    chunk: Chunk
    reason: str
    remaining: int | None = None


def select(
    ranked: Sequence[Ranked], selection: str, parameters: Parameters
) -> tuple[list[Chunk], list[Skipped]]:
    """Whole chunks in rank order; nothing is truncated, packed better or freed of repetition.

    `topk` takes the first k at any length. `budget` takes each chunk that fits what is left and goes on after one that
    does not.
    """
    chosen: list[Chunk] = []
    skipped: list[Skipped] = []
    remaining = parameters.char_budget
    for place, item in enumerate(ranked, start=1):
        length = len(item.chunk.text)
        if selection == "topk":
            if place <= parameters.top_k:
                chosen.append(item.chunk)
            else:
                skipped.append(Skipped(place, item.chunk, "beyond_top_k"))
        elif length <= remaining:
            chosen.append(item.chunk)
            remaining -= length
        else:
            skipped.append(Skipped(place, item.chunk, "exceeds_remaining_budget", remaining))
    return chosen, skipped
