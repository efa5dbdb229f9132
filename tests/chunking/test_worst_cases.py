"""Nothing is lost, and every limit holds, for texts made to be slow or large (TK-04, EL-04)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from linkrag_dagster.chunking import (
    ChunkSet,
    ChunkSettings,
    check_chunks,
    check_coarse,
    check_final,
    chunk_text,
    resolve_settings,
)
from linkrag_dagster.chunking.default_encoder import default_encoder
from linkrag_dagster.tokens import Tokenizer, load_tokenizer
from tests.chunking.test_speed import Counting
from tests.chunking.worst_cases import TEXTS

CL100K = load_tokenizer("cl100k_base")
TOKENIZERS = ("cl100k_base", "encoder")
SHORT = 4_000
# Code points: what the rules and the shapes' own encodings make of "5 MB", "a million headings" and so on.
LARGE = {
    "a document": 5_000_000,
    "prose on one line": 5_000_000,
    "Chinese on one line": 1_700_000,
    "blank lines": 20_000,
    "items each deeper": 1_000_000,
    "markers on one line": 20_000,
    "one table": 850_000,
    "an open fence": 5_000_000,
    "headings": 13_000_000,
    "base64": 1_000_000,
    "one emoji": 1_400_000,
    "combining marks": 2_500_000,
    "flags": 600_000,
    "opening brackets": 2_000_000,
    "stars": 2_000_000,
    "backticks": 2_000_000,
    "less-than signs": 2_000_000,
    "pipes": 2_000_000,
    "quote marks": 2_000_000,
    "quote marks on one line": 2_000_000,
    "definitions": 3_600_000,
    "quotes and lists": 300_000,
    "all line breaks": 500_000,
    "lone surrogates": 500_000,
    "NUL": 500_000,
    "byte order marks": 500_000,
    "closing quotes": 300_000,
    "many tables": 300_000,
}


def _made(text: str, tokenizer: str) -> tuple[ChunkSet, ChunkSettings, Tokenizer, int | None]:
    counted, window = CL100K, None
    if tokenizer == "encoder":
        counted, window = default_encoder().tokenizer, default_encoder().window
    chosen = resolve_settings({"tokenizer": tokenizer}, window=window, special_tokens=counted.special_tokens)
    return chunk_text(text, tokenizer=tokenizer), chosen, counted, window


def _holds(text: str, tokenizer: str) -> ChunkSet:
    made, chosen, counted, window = _made(text, tokenizer)
    broken = [
        *check_coarse(made.coarse, made.elements, text, chosen, counted),
        *check_final(made.final, made.coarse, text, chosen, counted),
        *check_chunks(made.chunks, made.final, text, chosen, counted, counted, window),
    ]
    assert [f"{v.rule}: {v.message[:200]}" for v in broken[:3]] == []
    _nothing_lost(text, made)
    return made


def _nothing_lost(text: str, made: ChunkSet) -> None:
    """Elements and white space are all there is, and source chunks hold the elements."""
    at = 1 if text.startswith("\ufeff") else 0
    for element in made.elements:
        assert not text[at : element.start_char].strip()
        at = element.end_char
    assert not text[at:].strip()
    words: dict[str, list[str]] = {}
    for final in made.final:
        words.setdefault(final.coarse_id, []).append(final.content)
    assert all("".join(words[chunk.coarse_id]) == chunk.content for chunk in made.coarse)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_little_of_it(name: str, tokenizer: str) -> None:
    """EL-03, S2-02, EX-07: every contract, recounted, in both kinds of tokens."""
    _holds(TEXTS[name](SHORT), tokenizer)


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("name", LARGE)
def test_much_of_it(name: str, tokenizer: str) -> None:
    """TK-04, EL-04: megabytes of it, contracts and all, end within the suite's limits; a square would not."""
    _holds(TEXTS[name](LARGE[name]), tokenizer)


def test_what_they_become() -> None:
    """EL-02: shapes that look like structure are read as it, the others as the text that they are."""
    kinds = {
        name: {e.kind for e in chunk_text(TEXTS[name](SHORT), tokenizer=CL100K).elements} for name in TEXTS
    }
    assert kinds["one table"] == kinds["one row"] == {"table"}
    assert kinds["an open fence"] == {"code"}
    assert kinds["headings"] == kinds["one heading"] == {"heading"}
    assert kinds["definitions"] == kinds["equal definitions"] == {"definition"}
    assert kinds["markers on one line"] == kinds["items two deep"] == {"list"}
    assert kinds["quote marks on one line"] == kinds["quotes and lists"] == {"blockquote"}
    assert kinds["front matter"] == {"front_matter"}
    for name in (
        "one emoji",
        "combining marks",
        "opening brackets",
        "stars",
        "less-than signs",
        "backslashes",
    ):
        assert kinds[name] == {"paragraph"}


MEMORY = """
import resource, sys
from linkrag_dagster.chunking import chunk_text
from tests.chunking.worst_cases import TEXTS
chunk_text(TEXTS[sys.argv[1]](1000), tokenizer="cl100k_base")
text = TEXTS[sys.argv[1]](int(sys.argv[2]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
made = chunk_text(text, tokenizer="cl100k_base")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux alone")
@pytest.mark.parametrize("name", ["a document", "prose on one line", "one emoji", "base64", "one table"])
def test_memory_is_bounded(name: str) -> None:
    """TK-04: at most 400 bytes a code point, all stages' records included, however long the text."""
    for size in (1_000_000, 3_000_000):
        assert _peak([name, str(size)]) <= 400 * size


def _peak(arguments: Sequence[str]) -> int:
    """Bytes that chunking adds to what a fresh process held at most before."""
    command = [sys.executable, "-c", MEMORY, *arguments]
    return 1024 * int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("name", ["base64", "one letter", "Thai on one line", "combining marks", "one emoji"])
def test_overlap_in_a_run_without_end(name: str, tokenizer: str) -> None:
    """TK-04, EX-03: the words beside each piece are found near it, however long the run that it was cut from."""
    text = TEXTS[name](40_000)
    counted = Counting(CL100K if tokenizer == "cl100k_base" else default_encoder().tokenizer)
    chunk_text(
        text, tokenizer=counted, settings={"max_tokens": 100, "hard_max_tokens": 200, "overlap_tokens": 64}
    )
    assert counted.read < 40 * len(text)
