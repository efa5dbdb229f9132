"""Time grows with the length of a text, not with its square (TK-04)."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from linkrag_dagster.chunking import chunk_text

SENTENCE = "The harbour office keeps a ledger of every boat that enters. "
TEXTS: dict[str, Callable[[int], str]] = {
    "one unbroken line": lambda n: "QUJDREVG" * (8_000 * n),
    "one line of sentences": lambda n: SENTENCE * (1_500 * n),
    "one table": lambda n: "| a | b |\n|---|---|\n" + "| 1 | value |\n" * (4_000 * n),
    "one code block": lambda n: "```\n" + "value = compute(1)\n" * (4_000 * n) + "```\n",
    "many sections": lambda n: "".join(f"## Part\n\n{SENTENCE * 4}\n\n" for _ in range(300 * n)),
    "images among headings": lambda n: "![a](b.png)\n\n###### h\n\n---\n\n" * (400 * n),
    "blank lines": lambda n: "a\n" + "\n" * (10_000 * n) + "b",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_time_is_linear(kind: str) -> None:
    """TK-04: eight times the text takes less than twenty times as long (the square would take sixty-four)."""
    chunk_text("warm", tokenizer="cl100k_base")
    small, large = (_seconds(TEXTS[kind](n)) for n in (1, 8))
    assert large < 20 * small + 0.2


def _seconds(text: str) -> float:
    """The best of three: other work on the machine only ever adds."""
    taken: list[float] = []
    for _ in range(3):
        begun = time.perf_counter()
        chunk_text(text, tokenizer="cl100k_base")
        taken.append(time.perf_counter() - begun)
    return min(taken)
