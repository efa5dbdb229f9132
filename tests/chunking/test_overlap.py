"""Neighbour overlap: where it comes from, how much, and who has none (EX-03, EX-04); `overflow: error` (EX-05)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linkrag_dagster.chunking import (
    Chunk,
    ChunkSettings,
    WindowOverflow,
    check_chunks,
    chunk_text,
    export_chunks,
    resolve_settings,
)
from linkrag_dagster.chunking.default_encoder import default_encoder
from linkrag_dagster.tokens import load_tokenizer

CL100K = load_tokenizer("cl100k_base")
ENCODER = default_encoder()
WORDS = "The harbour office keeps a ledger of every boat that enters before dawn. " * 11
PROTECTED = "```\ncode = 1\n```"


def _settings(**settings: Any) -> ChunkSettings:
    given = {"header": False, "overlap_tokens": 64, **settings}
    return resolve_settings({"tokenizer": "cl100k_base", **given}, window=None)


def _chunks(text: str, **settings: Any) -> list[Chunk]:
    return list(chunk_text(text, tokenizer="cl100k_base", settings=_settings(**settings)).chunks)


def _borrowed(text: str, chunk: Chunk) -> tuple[str, str]:
    """Words before and after a source chunk's own."""
    spans = [text[s.start_char : s.end_char] for s in chunk.context_spans if s.end_char <= chunk.start_char]
    later = [text[s.start_char : s.end_char] for s in chunk.context_spans if s.start_char >= chunk.end_char]
    assert len(spans) + len(later) == len(chunk.context_spans)
    return "".join(spans), "".join(later)


def _sections(*bodies: str) -> str:
    return "\n\n".join(
        f"## {name}\n\n{WORDS}{body}".rstrip() for name, body in zip("ABCDEF", bodies, strict=False)
    )


def test_equal_to_the_oracle(shared: Path) -> None:
    """EX-03, EX-04: who borrows on which side in every case, and how much at most."""
    lines = (shared / "oracles" / "overlap.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 15
    for case in map(json.loads, lines):
        text, limit = case["text"], case["overlap_tokens"]
        chunks = [
            c for c in _chunks(text, overlap_tokens=limit, strategy="noop") if c.kinds != ("front_matter",)
        ]
        exported = case["exported"]
        assert [(c.role, c.start_line) for c in chunks] == [(e["role"], e["start_line"]) for e in exported], (
            case
        )
        by_id = {c.chunk_id: number for number, c in enumerate(chunks)}
        for number, (chunk, expected) in enumerate(zip(chunks, exported, strict=True)):
            if chunk.role == "derived":
                continue
            sides = {"prev": (_borrowed(text, chunk)[0], -1), "next": (_borrowed(text, chunk)[1], 1)}
            neighbours: list[int] = []
            for side, (words, step) in sides.items():
                name = f"{case['id']} chunk {number} {side}"
                assert bool(words) == bool(expected.get(f"{side}_truly_adjacent")), name
                if words:
                    # A cut falls between words or graphemes: a little less than the limit, never more.
                    assert expected[f"{side}_tokens"] - 16 <= CL100K.count(words) <= limit, name
                    others = [n for n, c in enumerate(chunks) if c.role == "source"]
                    neighbours.append(others[others.index(number) + step])
            assert [by_id[i] for i in chunk.context_chunk_ids] == neighbours
            assert "\ufffd" not in chunk.text


def test_core_context_and_header_separate_exactly() -> None:
    """EX-01, EX-04: the text is header, words before, own words, words after; each is known by its span."""
    text = _sections("", "", "")
    for chunk in _chunks(text, header=True):
        before, after = _borrowed(text, chunk)
        assert chunk.text == "\n\n".join(p for p in (chunk.header, before, chunk.content, after) if p)
        assert chunk.content == text[chunk.start_char : chunk.end_char]
        assert chunk.header


def test_a_short_neighbour_is_taken_whole() -> None:
    """EX-03."""
    text = f"{WORDS}\n\n# Short\n\nnote\n\n# Next\n\n{WORDS}"
    first, second, _ = _chunks(text, min_candidate_tokens=2)
    assert _borrowed(text, first) == ("", "# Short\n\nnote")
    assert all(40 < CL100K.count(words) <= 64 for words in _borrowed(text, second))


@pytest.mark.parametrize("between", ["---", "***"])
def test_what_a_rule_parts_is_not_adjacent(between: str) -> None:
    """EX-04: nothing but white space may stand between neighbours."""
    text = f"# A\n\n{WORDS}\n\n{between}\n\n# B\n\n{WORDS}"
    assert [c.context_spans for c in _chunks(text)] == [(), ()]


def test_protected_chunks_on_demand() -> None:
    """EX-03: neither give nor take, unless `protected_overlap`; a rendered image is never borrowed."""
    text = _sections("", f"\n\n{PROTECTED}", "")
    assert [len(c.context_spans) for c in _chunks(text)] == [0, 0, 0]
    first, middle, last = _chunks(text, protected_overlap=True)
    assert [len(c.context_spans) for c in (first, middle, last)] == [1, 2, 1]
    assert PROTECTED in _borrowed(text, last)[0]
    text = _sections("", "\n\n![quay](x.png)", "")
    sources = [c for c in _chunks(text, protected_overlap=True) if c.role == "source"]
    assert [bool(words) for c in sources for words in _borrowed(text, c)] == [
        False, True, True, True, False, False,
    ]  # fmt: skip


def test_front_matter_and_derived_chunks_have_none() -> None:
    """EX-03: not even with `protected_overlap`; a derived chunk keeps its adjacent context (CB-14)."""
    text = f"---\ntitle: Quay\n---\n\n{WORDS}\n\n![quay](x.png)\n"
    front, body, image = _chunks(text, protected_overlap=True)
    assert front.context_spans == body.context_spans == ()
    assert image.role == "derived"
    assert [CL100K.count(text[s.start_char : s.end_char]) <= 64 for s in image.context_spans] == [True]


def test_context_gives_way_before_the_header() -> None:
    """EX-05: less of it, then none, then the header's outer end; own words never."""
    text = _sections("", "", "")
    chosen = _settings(header=True)
    final = chunk_text(text, tokenizer="cl100k_base", settings=chosen).final
    alone = export_chunks(
        final, text, replace(chosen, overlap_tokens=0), CL100K, ENCODER.tokenizer, None, "Title"
    )
    bare = max(c.encoder_tokens for c in alone)
    sizes: list[int] = []
    for window in (bare + 200, bare + 90, bare + 40, bare):
        chunks = export_chunks(final, text, chosen, CL100K, ENCODER.tokenizer, window, "Title")
        assert check_chunks(chunks, final, text, chosen, CL100K, ENCODER.tokenizer, window) == []
        assert all(c.header and c.overflow is None for c in chunks)
        sizes.append(sum(len(words) for words in _borrowed(text, chunks[1])))
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 0


def test_borrowing_changes_no_id_and_no_quote() -> None:
    """EX-01, EX-06: content, ids and spans are those without overlap."""
    text = _sections("", "", "")
    plain, more = _chunks(text, overlap_tokens=0), _chunks(text)
    bare = [replace(c, text="", context_spans=(), context_chunk_ids=(), encoder_tokens=0) for c in more]
    assert bare == [replace(c, text="", encoder_tokens=0) for c in plain]


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("EX-03", {"overlap_tokens": 32}),
        ("EX-04", {"context_chunk_ids": ()}),
        ("EX-04", {"context_chunk_ids": ("nobody",)}),
        ("EX-04", {"shift": -40}),
    ],
)
def test_the_contract_sees_what_is_not_beside(rule: str, change: dict[str, Any]) -> None:
    """EX-03, EX-04: mutations are refused."""
    text = _sections("", "")
    settings = _settings(overlap_tokens=change.get("overlap_tokens", 64))
    made = chunk_text(text, tokenizer="cl100k_base", settings=_settings())
    chunk = made.chunks[1]
    fields = {k: v for k, v in change.items() if k == "context_chunk_ids"}
    if "shift" in change:
        span = chunk.context_spans[0]
        moved = replace(span, start_char=span.start_char - 40, end_char=span.end_char - 40)
        fields = {"context_spans": (moved,)}
    chunks = [made.chunks[0], replace(chunk, **fields)]
    broken = {v.rule for v in check_chunks(chunks, made.final, text, settings, CL100K, CL100K, None)}
    assert rule in broken


def test_overflow_error_names_the_chunk() -> None:
    """EX-05: `overflow: error` cuts nothing and says which chunk does not fit, and what to do."""
    text = _sections("", "")
    chosen = _settings(overflow="error")
    final = chunk_text(text, tokenizer="cl100k_base", settings=chosen).final
    with pytest.raises(WindowOverflow, match=r"lines 1 to 3.*lower hard_max_tokens") as caught:
        export_chunks(final, text, chosen, CL100K, ENCODER.tokenizer, 100)
    assert caught.value.final_id == final[0].final_id
    whole = export_chunks(final, text, chosen, CL100K, ENCODER.tokenizer, 300)
    assert len(whole) == len(final)
