"""Chunks above the encoder's window that stay whole, and the windows that they are read in (EX-05)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.chunking import (
    Chunk,
    SettingsError,
    TextWindow,
    WindowOverflow,
    broken_windows,
    check_chunks,
    chunk_text,
    encoder_windows,
    resolve_settings,
)
from linkrag_dagster.chunking.default_encoder import default_encoder
from linkrag_dagster.tokens import load_tokenizer

ENCODER = default_encoder()
CL100K = load_tokenizer("cl100k_base")
WORDS = "The harbour office keeps a ledger of every boat that enters. "
SECTION = "# Ledger\n\n" + "\n\n".join((WORDS * 20).strip() for _ in range(3)) + "\n"
LARGE = {"max_tokens": 900, "hard_max_tokens": 900}


def _chunks(text: str, overflow: str, **changes: Any) -> list[Chunk]:
    return list(chunk_text(text, settings={**LARGE, "overflow": overflow, **changes}).chunks)


@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_a_core_above_the_window_stays_whole(overflow: str) -> None:
    """EX-05: one chunk with all of its words and its header, marked; nothing of it is truncated."""
    split = _chunks(SECTION, "split")
    (whole,) = _chunks(SECTION, overflow)
    assert len(split) > 1 and "".join(c.content for c in split) == whole.content == SECTION.rstrip()
    assert whole.overflow == overflow and whole.truncated_tokens == 0
    assert whole.encoder_tokens > ENCODER.window
    assert whole.text == f"Ledger\n\n{whole.content}" and whole.header == "Ledger"
    windows = encoder_windows(whole.text, ENCODER.tokenizer, ENCODER.window)
    assert len(windows) > 1 and all(w.tokens <= ENCODER.window for w in windows)
    # Cut at sentences: none is torn.
    assert all(whole.text[w.end - 1] == "." for w in windows)


def test_what_fits_is_handled_as_ever() -> None:
    """EX-05: context is trimmed first, then the header; a core that fits has one vector whatever `overflow` says."""
    text = "\n\n".join(f"# Part {n}\n\n{WORDS * 15}" for n in range(4))
    made = [
        [
            replace(c, overflow=None)
            for c in _chunks(text, overflow, max_tokens=222, hard_max_tokens=222, overlap_tokens=64)
        ]
        for overflow in ("split", "vectors", "pool", "error")
    ]
    assert made[0] == made[1] == made[2] == made[3]
    fitting = _chunks(text, "vectors", max_tokens=222, hard_max_tokens=222, overlap_tokens=64)
    assert len(fitting) == 4 and all(c.overflow is None for c in fitting)


@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_a_table_above_the_window_stays_whole(overflow: str) -> None:
    """EX-05, CB-13: within the hard maximum no row group is needed; above it each group may have several windows."""
    rows = "\n".join(
        f"| boat {n} | quay {n} | lantern {n} and a long remark on its mooring |" for n in range(30)
    )
    text = f"# Boats\n\n| boat | quay | remark |\n| --- | --- | --- |\n{rows}\n"
    derived = [c for c in _chunks(text, overflow) if c.role == "derived"]
    assert [c.overflow for c in derived] == [overflow]
    groups = [c for c in _chunks(text, overflow, max_tokens=300, hard_max_tokens=300) if c.role == "derived"]
    assert len(groups) > 1 and overflow in {c.overflow for c in groups}
    assert "".join(c.content for c in groups) == derived[0].content
    assert all(c.truncated_tokens == 0 for c in groups)


def test_error_still_names_the_chunk() -> None:
    """EX-05: `error` refuses the document, and says what else there is."""
    with pytest.raises(WindowOverflow, match="split, vectors or pool"):
        _chunks(SECTION, "error")


def test_a_large_maximum_needs_a_declared_overflow() -> None:
    """TK-05: a hard maximum above the window is refused with a suggestion, unless `overflow` says what happens."""
    window = {"window": ENCODER.window, "special_tokens": ENCODER.tokenizer.special_tokens}
    with pytest.raises(SettingsError, match="at most 222, or declare overflow: split, vectors or pool"):
        resolve_settings({"hard_max_tokens": 900}, **window)
    for overflow in ("split", "vectors", "pool"):
        assert resolve_settings({"hard_max_tokens": 900, "overflow": overflow}, **window).overflow == overflow


@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_the_contract_recounts_windows(overflow: str) -> None:
    """EX-05, TK-02: a chunk that says it is read in windows, and fits, is refused; so is one above without a word."""
    chosen = resolve_settings(
        {**LARGE, "overflow": overflow},
        window=ENCODER.window,
        special_tokens=ENCODER.tokenizer.special_tokens,
    )
    made = chunk_text(SECTION, settings=chosen)

    def broken(chunks: list[Chunk]) -> list[str]:
        tokenizer = ENCODER.tokenizer
        found = check_chunks(chunks, made.final, SECTION, chosen, tokenizer, tokenizer, ENCODER.window)
        return [v.rule for v in found]

    (whole,) = made.chunks
    assert broken([whole]) == []
    assert broken([replace(whole, overflow=None)]) == ["EX-05"]
    short = chunk_text(WORDS, settings=chosen)
    small = replace(short.chunks[0], overflow=overflow)
    found = check_chunks(
        [small], short.final, WORDS, chosen, ENCODER.tokenizer, ENCODER.tokenizer, ENCODER.window
    )
    assert [v.rule for v in found] == ["EX-05"]


def test_broken_windows_are_named() -> None:
    """EX-05: a lost word, a word read twice, a wrong count and a window too long are all told."""
    text = WORDS * 6
    windows = list(encoder_windows(text, ENCODER.tokenizer, 30))
    assert len(windows) > 2

    def said(changed: list[TextWindow]) -> str:
        return broken_windows(text, changed, ENCODER.tokenizer, 30)

    assert said(windows) == ""
    assert "no window holds" in said(windows[:-1])
    assert "does not follow" in said(windows[1:])
    assert "does not follow" in said([windows[0], *windows])
    assert "tokens" in said([replace(windows[0], tokens=1), *windows[1:]])
    assert broken_windows(text, windows, ENCODER.tokenizer, 20)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([*"ab \n。，中文é", "👩‍👩‍👧", "word ", "\n\n", "| a | b |\n"]),
        min_size=1,
        max_size=200,
    ),
    st.integers(24, 60),
    st.sampled_from([CL100K, ENCODER.tokenizer]),
)
def test_windows_hold_every_word_once(parts: list[str], window: int, tokenizer: Any) -> None:
    """EX-05, TK-03: windows follow each other, lose white space alone, fit, and split no grapheme that fits."""
    text = "".join(parts)
    if not text.strip():
        return
    windows = encoder_windows(text, tokenizer, window)
    assert broken_windows(text, windows, tokenizer, window) == ""
    torn = [w for w in windows[1:] if text[w.start] in "\u200d。，" and not text[w.start - 1].isspace()]
    assert torn == []
