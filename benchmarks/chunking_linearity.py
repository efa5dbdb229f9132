"""Whether chunking takes twice the time for twice the text, for texts made to be slow (TK-04).

    python -m benchmarks.chunking_linearity [--size 1000000] [--strategy pack] [--text NAME]

Code points of the small text; the large one has twice as many. Processor time of everything from the text to its
chunks, the fastest of three, of up to eight where the ratio is near the limit: other work on the machine makes single
runs slower, never faster. The texts are those of the tests (`tests/chunking/worst_cases.py`). Exit code 1 beyond a
ratio of 2.3.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
from collections.abc import Sequence

from linkrag_dagster.choices.strategies import STRATEGIES
from linkrag_dagster.chunking import chunk_text
from linkrag_dagster.tokens import Tokenizer, load_tokenizer
from tests.chunking.worst_cases import TEXTS

MOST = 2.3
REPEATS = 3
# Above this a ratio is measured again.
DOUBTFUL = 2.15
MOST_REPEATS = 8
TOKENIZERS = ("cl100k_base", "encoder")
# Below this, seconds measure the clock and the collector.
NOISE = 0.02


def lengths(texts: Sequence[str]) -> list[list[float]]:
    """Vectors that cost nothing, for the strategies that compare texts: no model is measured here."""
    return [[1.0, float(len(text) % 7)] for text in texts]


def seconds(text: str, strategy: str, tokenizer: str | Tokenizer) -> float:
    """Processor time of one run."""
    gc.collect()
    begun = time.process_time()
    chunk_text(text, strategy=strategy, tokenizer=tokenizer, scorer=lengths)
    return time.process_time() - begun


def once_and_twice(name: str, size: int, strategy: str, tokenizer: str) -> tuple[float, float]:
    """The fastest of some runs of a text and of twice as much of it, by turns."""
    counted = load_tokenizer(tokenizer) if tokenizer != "encoder" else tokenizer
    chunk_text("warm", tokenizer=counted)
    texts = TEXTS[name](size), TEXTS[name](2 * size)
    once = twice = math.inf
    for number in range(MOST_REPEATS):
        if number >= REPEATS and twice <= DOUBTFUL * once:
            break
        once = min(once, seconds(texts[0], strategy, counted))
        twice = min(twice, seconds(texts[1], strategy, counted))
    return once, twice


def main() -> int:
    """Print the table; 1 where a text takes more than its share."""
    parser = argparse.ArgumentParser(description="Time of a text and of twice as much of it.")
    parser.add_argument("--size", type=int, default=1_000_000, help="code points of the small text")
    parser.add_argument("--strategy", choices=STRATEGIES, default="pack")
    parser.add_argument("--text", choices=list(TEXTS), action="append", help="one text; again for more")
    chosen = parser.parse_args()
    print("| text |", " | ".join(f"{name}: s, twice, ratio" for name in TOKENIZERS), "|")
    print("| --- |", " | ".join("---:" for _ in TOKENIZERS), "|")
    beyond: list[str] = []
    for name in chosen.text or TEXTS:
        cells: list[str] = []
        for tokenizer in TOKENIZERS:
            once, twice = once_and_twice(name, chosen.size, chosen.strategy, tokenizer)
            cells.append(f"{once:.2f}, {twice:.2f}, {twice / once:.1f}")
            if twice > MOST * once + NOISE:
                beyond.append(f"{name} ({tokenizer})")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)
    for name in beyond:
        print(f"beyond {MOST}: {name}", file=sys.stderr)
    return 1 if beyond else 0


if __name__ == "__main__":
    raise SystemExit(main())
