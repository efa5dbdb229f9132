"""The two-sided exact sign test (SX-01: every comparison is paired)."""

from __future__ import annotations

from typing import SupportsIndex

from linkrag_dagster.evaluation.statistics.arguments import count


def sign_test(wins: SupportsIndex, losses: SupportsIndex) -> float:
    """How surprising so uneven a split of wins and losses is where each is as likely as the other.

    p = min(1, 2 · P(X ≤ min(wins, losses))), X ~ Binomial(wins + losses, ½); ties are left out. The same as McNemar's
    exact test. Exact in whole numbers, rounded once. Wins must be independent: of two phrasings of one needle count
    one (`wins_and_losses` with `cluster`).
    Source: W. J. Dixon & A. M. Mood, The statistical sign test, JASA 41 (1946).

    Args:
        wins, losses: questions (or needles) that the one, or the other, system answers better.

    Returns:
        The p-value; 1.0 where there is neither a win nor a loss.

    Raises:
        ValueError: a number that is no count.
    """
    few, many = sorted((count("wins", wins), count("losses", losses)))
    n = few + many
    ways = tail = 1
    for i in range(few):
        ways = ways * (n - i) // (i + 1)
        tail += ways
    return min(1.0, 2 * tail / 2**n)
