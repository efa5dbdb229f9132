"""Which texts go through the model together (EM-02). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BATCH_TOKENS = 1024
"""Tokens of a batch, padding included; larger ones are slower on a CPU."""


def batches(lengths: Sequence[int], *, tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Positions of `lengths` in batches of texts of like length, shortest first; each position comes once.

    A batch holds at most `tokens` tokens when all its texts are padded to its longest; a text that is longer than
    that makes a batch of its own.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[position] > tokens:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
