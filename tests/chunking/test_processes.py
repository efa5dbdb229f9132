"""Chunk tables do not depend on the process, its hash seed, or the order of documents (EX-06)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linkrag_dagster.choices.strategies import STRATEGIES

REPOSITORY = Path(__file__).resolve().parents[2]

PROGRAM = """
import hashlib, sys
import numpy as np
from linkrag_dagster.chunking import chunk_text
from linkrag_dagster.choices.strategies import STRATEGIES
from tests.chunking.worst_cases import SECTION, TEXTS

def scorer(texts):
    rows = [np.frombuffer(hashlib.sha256(t.encode("utf-8", "replace")).digest(), np.uint8) for t in texts]
    return np.array(rows, dtype=float) - 127.5

names = ["a document", "Chinese on one line", "many tables", "quotes and lists", "images", "one emoji", "footnotes"]
texts = {name: TEXTS[name](4000) for name in names} | {"front": "---\\ntitle: T\\n---\\n\\n" + SECTION * 3}
order = sorted(texts, reverse=sys.argv[1] == "backwards")
for tokenizer in ("cl100k_base", "encoder"):
    tables = {}
    for name in order:
        for strategy in STRATEGIES:
            made = chunk_text(
                texts[name], strategy=strategy, tokenizer=tokenizer, doc_id=name, scorer=scorer,
                settings={"max_tokens": 60, "overlap_tokens": 8},
            )
            tables[name, strategy] = hashlib.sha256(repr((made.final, made.chunks, made.trace)).encode()).hexdigest()
    for key in sorted(tables):
        print(tokenizer, *key, tables[key])
"""


def _tables(seed: str, order: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", PROGRAM, order]
    done = subprocess.run(
        command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout


@pytest.mark.slow
def test_equal_in_every_process() -> None:
    """EX-06: byte for byte, under two hash seeds, and whichever documents were chunked before."""
    first = _tables("0", "forwards")
    assert len(first.splitlines()) == 2 * 8 * len(STRATEGIES)
    assert len(set(first.split())) > len(STRATEGIES)
    again = _tables("4242", "backwards")
    assert hashlib.sha256(again.encode()).hexdigest() == hashlib.sha256(first.encode()).hexdigest()
