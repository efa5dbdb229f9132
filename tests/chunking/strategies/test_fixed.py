"""ST-01: blind windows."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chunking.strategies.support import CL100K, chunks, pieces, words


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(1, 40), st.data())
def test_windows_of_characters(text: str, size: int, data: st.DataObject) -> None:
    """ST-01: window k is `text[k*step : k*step+size]`; the first that reaches the end is the last."""
    overlap = data.draw(st.integers(0, size - 1))
    step = max(1, size - overlap)
    expected: list[tuple[int, int]] = []
    for start in range(0, len(text), step):
        expected.append((start, min(start + size, len(text))))
        if start + size >= len(text):
            break
    made = [(p.start_char, p.end_char) for p in pieces("fixed", text, size=size, overlap=overlap)]
    assert made == [(a, b) for a, b in expected if text[a:b].strip()]


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(1, 30), st.data())
def test_windows_of_tokens(text: str, size: int, data: st.DataObject) -> None:
    """ST-01, TK-03: at most `size` tokens, counted again; starts and ends grow; nothing visible is left out."""
    overlap = data.draw(st.integers(0, size - 1))
    made = pieces("fixed", text, size=size, overlap=overlap, unit="tokens")
    for piece in made:
        content = text[piece.start_char : piece.end_char]
        assert CL100K.count(content) <= size or len(content) == 1
    for left, right in pairwise(made):
        assert left.start_char < right.start_char
        assert left.end_char < right.end_char
        assert not text[left.end_char : right.start_char].strip()
    assert not text[: made[0].start_char if made else len(text)].strip()
    if made:
        assert not text[made[-1].end_char :].strip()


def test_steps_in_tokens() -> None:
    """ST-01: in tokens, too, each window begins `size - overlap` after the one before."""
    text = "one two three four five six seven eight nine ten"
    assert words("fixed", text, size=4, overlap=2, unit="tokens") == [
        "one two three four",
        " three four five six",
        " five six seven eight",
        " seven eight nine ten",
    ]


@pytest.mark.parametrize("case", ["case-030", "case-034", "case-035"])
def test_cases_in_characters(shared: Path, case: str) -> None:
    """ST-01, EX-07: the reported kinds of defects of windows in characters."""
    lines = (shared / "cases" / "markdown.jsonl").read_text(encoding="utf-8").splitlines()
    found = next(c for c in map(json.loads, lines) if c["id"] == case)
    text, expect = found["input"], found["expect"]
    size, overlap = expect["config"]["max_chars"], expect["config"]["overlap"]
    if expect.get("config_error"):
        with pytest.raises(ValueError, match="overlap"):
            pieces("fixed", text, size=size, overlap=overlap, unit="chars")
        return
    begun = time.perf_counter()
    _, made, _ = chunks("fixed", text, header=False, size=size, overlap=overlap, unit="chars")
    assert time.perf_counter() - begun < expect.get("time_limit_s", 5)
    starts = [c.start_char for c in made]
    assert starts == sorted(set(starts))
    assert all(text[c.start_char : c.end_char] == c.content and len(c.content) <= size for c in made)
    held = {k for c in made for k in range(c.start_char, c.end_char)}
    assert all(character.isspace() for k, character in enumerate(text) if k not in held)


def test_seed_example() -> None:
    """ST-01: seed 001 cuts every 100 characters with an overlap of 20."""
    text = "".join(chr(0x4E00 + k) for k in range(230))
    made = words("fixed", text, size=100, overlap=20)
    assert [len(w) for w in made] == [100, 100, 70]
    assert made[0][-20:] == made[1][:20]


def test_wrong_sizes_are_refused() -> None:
    """ST-01: before any work, with the name of the setting and what would do."""
    with pytest.raises(ValueError, match=r"overlap: 9 is not smaller than the size \(9\); give at most 8"):
        pieces("fixed", "text", size=9, overlap=9)
    with pytest.raises(ValueError, match="unit: 'words' is not available; there are chars, tokens"):
        pieces("fixed", "text", size=9, unit="words")
