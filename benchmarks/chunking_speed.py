"""Parsing and chunking against the tokenizer alone, on the sample corpus repeated: one run, one table of ratios.

    python benchmarks/chunking_speed.py

A chunker that counts tokens can't be faster than its tokenizer; how near it comes is what counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from linkrag_dagster.chunking import chunk_text
from linkrag_dagster.markdown import parse
from linkrag_dagster.tokens import load_tokenizer

HANDBOOK = Path(__file__).resolve().parent.parent / "data" / "handbook"
CHARACTERS = 1_000_000
REPEATS = 3


def fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs."""
    times: list[float] = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print the table."""
    tokenizer = load_tokenizer("cl100k_base")
    print("| text | tokenizer, MB/s | parse, MB/s | chunk, MB/s | chunk ÷ tokenizer |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for path in sorted(HANDBOOK.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        text *= -(-CHARACTERS // len(text))
        size = len(text.encode()) / 1e6
        counted = fastest(lambda text=text: tokenizer.count(text))
        parsed = fastest(lambda text=text: parse(text))
        chunked = fastest(lambda text=text: chunk_text(text, tokenizer=tokenizer))
        print(
            f"| {path.name} | {size / counted:.1f} | {size / parsed:.1f} | {size / chunked:.1f} "
            f"| {counted / chunked:.2f} |"
        )


if __name__ == "__main__":
    main()
