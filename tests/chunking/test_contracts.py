"""The contracts refuse what was changed: each mutation is found, by the rule that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from linkrag_dagster.chunking import (
    Chunk,
    CoarseChunk,
    FinalChunk,
    Span,
    check_chunks,
    check_coarse,
    check_final,
    chunk_text,
    resolve_settings,
)
from linkrag_dagster.tokens import load_tokenizer

CL100K = load_tokenizer("cl100k_base")
SETTINGS = resolve_settings(
    {"tokenizer": "cl100k_base", "min_candidate_tokens": 8, "max_tokens": 40, "hard_max_tokens": 40},
    window=None,
)
SENTENCE = "The harbour office keeps a ledger of every boat that enters before dawn. "
TEXT = (
    f"# Ledger\n\n{SENTENCE * 2}\n\n![the quay](quay.png)\n\n## Entries\n\n{SENTENCE * 4}\n\n"
    "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n## Checks\n\nShort.\n\n---\n\nAfter the rule.\n"
)
MADE = chunk_text(TEXT, settings=SETTINGS, tokenizer="cl100k_base")


def _source(coarse: Sequence[CoarseChunk]) -> CoarseChunk:
    return next(c for c in coarse if c.role == "source")


def _edited(coarse: Sequence[CoarseChunk], **changes: object) -> list[CoarseChunk]:
    chunk = _source(coarse)
    return [replace(c, **changes) if c is chunk else c for c in coarse]  # pyright: ignore[reportArgumentType]


COARSE: dict[str, Callable[[Sequence[CoarseChunk]], Sequence[CoarseChunk]]] = {
    "a duplicated chunk": lambda c: [c[0], *c],
    "a duplicated chunk under a new id": lambda c: [
        *c,
        replace(c[0], coarse_id="c9999", coarse_index=len(c)),
    ],
    "the reversed order": lambda c: c[::-1],
    "the reversed order, numbered again": lambda c: [
        replace(x, coarse_index=i) for i, x in enumerate(c[::-1])
    ],
    "an invented tail": lambda c: _edited(
        c, content=_source(c).content + " And more.", tokens=_source(c).tokens + 3
    ),
    "an invented beginning": lambda c: _edited(c, content="So: " + _source(c).content),
    "a lost chunk": lambda c: [x for x in c if x.role == "derived" or x is not _source(c)],
    "a lost derived chunk": lambda c: [x for x in c if x.element_id != "image_001"],
    "a derived chunk without source": lambda c: [
        replace(x, source_coarse_id="c9999") if x.element_id else x for x in c
    ],
    "a shifted span": lambda c: _edited(c, spans=(Span(1, 9),)),
    "a lost protected range": lambda c: _edited(c, protected=()),
    "a wrong count": lambda c: _edited(c, tokens=1),
    "other lines": lambda c: _edited(c, start_line=2),
    "verbatim where it is rendered": lambda c: _edited(c, verbatim=True),
}


@pytest.mark.parametrize("mutation", COARSE)
def test_coarse_contract_refuses(mutation: str) -> None:
    """CB-16: the reference accepts the first ones."""
    assert check_coarse(MADE.coarse, MADE.elements, TEXT, SETTINGS, CL100K) == []
    assert check_coarse(COARSE[mutation](MADE.coarse), MADE.elements, TEXT, SETTINGS, CL100K)


FINAL: dict[str, Callable[[Sequence[FinalChunk]], Sequence[FinalChunk]]] = {
    "a lost piece": lambda f: [x for x in f if x.final_id != _cut(f).final_id],
    "a duplicated piece": lambda f: [*f, f[-1]],
    "a shortened piece": lambda f: [replace(x, content=x.content[:-1]) if x is _cut(f) else x for x in f],
    "a longer maximum than promised": lambda f: [replace(x, tokens=41) if x is _cut(f) else x for x in f],
    "a truncation without a row that says so": lambda f: [
        replace(x, content=x.content[:20], coarse_end=x.coarse_start + 20) if x is _cut(f) else x for x in f
    ],
    "an anchor to nowhere": lambda f: [
        replace(x, source_final_id="c9999.f000") if x.element_id else x for x in f
    ],
    "the reversed order": lambda f: f[::-1],
}


def _cut(final: Sequence[FinalChunk]) -> FinalChunk:
    """A piece of a coarse chunk that was cut, not its last."""
    return next(f for f in final if f.cut_reason != "end")


@pytest.mark.parametrize("mutation", FINAL)
def test_final_contract_refuses(mutation: str) -> None:
    """S2-02, SD-13, SD-14."""
    assert check_final(MADE.final, MADE.coarse, TEXT, SETTINGS, CL100K) == []
    assert check_final(FINAL[mutation](MADE.final), MADE.coarse, TEXT, SETTINGS, CL100K)


def test_hard_max_is_recounted() -> None:
    """S2-02: a limit that was not kept is found, whatever the rows say."""
    smaller = replace(SETTINGS, min_candidate_tokens=4, max_tokens=20, hard_max_tokens=20)
    rules = {v.rule for v in check_final(MADE.final, MADE.coarse, TEXT, smaller, CL100K)}
    assert "S2-02" in rules


CHUNKS: dict[str, Callable[[Sequence[Chunk]], Sequence[Chunk]]] = {
    "equal ids": lambda c: [replace(x, chunk_id="same") for x in c],
    "moved offsets": lambda c: [replace(x, start_char=x.start_char + 1, end_char=x.end_char + 1) for x in c],
    "text without the words": lambda c: [replace(x, text=x.header) for x in c],
    "a span of other words": lambda c: [replace(x, spans=(Span(0, 30),)) for x in c],
    "a lost chunk": lambda c: c[:-1],
    "words that the encoder does not see": lambda c: [replace(x, truncated_tokens=1) for x in c],
    "a context that is not there": lambda c: [
        replace(x, context_spans=(Span(len(TEXT) - 9, len(TEXT)),)) for x in c
    ],
}


@pytest.mark.parametrize("mutation", CHUNKS)
def test_chunk_contract_refuses(mutation: str) -> None:
    """EX-01, EX-04 to EX-07."""
    assert check_chunks(MADE.chunks, MADE.final, TEXT, SETTINGS, CL100K, CL100K, None) == []
    assert check_chunks(CHUNKS[mutation](MADE.chunks), MADE.final, TEXT, SETTINGS, CL100K, CL100K, None)


def test_window_is_recounted() -> None:
    """EX-05: a text above the window is found."""
    rules = {v.rule for v in check_chunks(MADE.chunks, MADE.final, TEXT, SETTINGS, CL100K, CL100K, 30)}
    assert rules == {"EX-05"}
