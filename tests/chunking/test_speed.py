"""Time grows with the length of a text, not with its square (TK-04)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from types import FrameType

import numpy as np
import pytest
from numpy.typing import NDArray

from linkrag_dagster.chunking import chunk_text
from linkrag_dagster.tokens import Tokenizer, TokenOffsets, load_tokenizer

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


SECTION = (
    f"## Part 7\n\n{SENTENCE * 4}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = 1\n```\n\n"
)
WORST: dict[str, Callable[[int], str]] = {
    "a document": lambda n: SECTION * (400 * n),
    "one line": lambda n: SENTENCE * (2_500 * n),
    "one line without a place to cut": lambda n: "QUJDREVG" * (12_000 * n),
    # A chunk of blank lines alone may hold forty thousand: fewer would measure how the first one fills.
    "blank lines": lambda n: "a\n" + "\n" * (80_000 * n) + "b",
}


class Counting:
    """A tokenizer that notes how many code points it was given."""

    def __init__(self, own: Tokenizer) -> None:
        self._own = own
        self.name, self.version = self._own.name, self._own.version
        self.vocabulary_hash, self.special_tokens = self._own.vocabulary_hash, self._own.special_tokens
        self.densest = self._own.densest
        self.read = 0

    def count(self, text: str) -> int:
        self.read += len(text)
        return self._own.count(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        self.read += sum(map(len, texts))
        return self._own.count_many(texts)

    def encode_offsets(self, text: str) -> TokenOffsets:
        self.read += len(text)
        return self._own.encode_offsets(text)

    def safe_cuts(self, text: str) -> NDArray[np.int64]:
        self.read += len(text)
        return self._own.safe_cuts(text)

    def count_between(self, text: str, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        self.read += len(text)
        return self._own.count_between(text, cuts)


@cache
def cl100k() -> Tokenizer:
    """One that has built its tables."""
    tokenizer = load_tokenizer("cl100k_base")
    chunk_text(WORST["a document"](1), tokenizer=tokenizer)
    return tokenizer


def effort(text: str) -> tuple[int, int]:
    """Calls made while a text is chunked, and code points read by the tokenizer: the same on every machine."""
    tokenizer = Counting(cl100k())
    calls = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        chunk_text(text, tokenizer=tokenizer)
    finally:
        sys.setprofile(before)
    return calls, tokenizer.read


@pytest.mark.parametrize("kind", WORST)
def test_twice_the_text_takes_twice_the_work(kind: str) -> None:
    """TK-04: calls and code points tokenised grow by at most 2.3, whatever the machine."""
    once, twice = (effort(WORST[kind](n)) for n in (1, 2))
    assert all(large <= 2.3 * small for small, large in zip(once, twice, strict=True)), (once, twice)


def test_a_text_is_read_few_times() -> None:
    """TK-02: the tokenizer reads a document once for the sums, and little beside: ends of elements, what is indexed."""
    text = WORST["a document"](1)
    assert effort(text)[1] < 4 * len(text)
