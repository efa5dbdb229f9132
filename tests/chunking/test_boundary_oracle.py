"""What LinkRag's own `candidate_boundary` gave on documents made for it, and where the rules differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from linkrag_dagster.chunking import ChunkSet, CoarseChunk, chunk_text
from linkrag_dagster.chunking.lines import Lines
from linkrag_dagster.tokens import load_tokenizer


@pytest.fixture(scope="module")
def documents(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "oracles" / "candidate_boundary.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_every_document_is_cut_as_the_rules_say(documents: Sequence[dict[str, Any]]) -> None:
    """CB-01 to CB-13, EL-02, EL-04: elements, partition, trails, kinds, buffer tokens, protected lines."""
    wrong: dict[str, list[str]] = {}
    for document in documents:
        made = chunk_text(
            document["text"],
            tokenizer="cl100k_base",
            settings={"adjacent_context": "physical", "header": False},
        )
        differences = list(_differences(document.get("ours", document), made, document["text"]))
        if differences:
            wrong[document["id"]] = differences
    assert len(documents) == 63
    assert wrong == {}


def test_adjacent_context_is_bounded(documents: Sequence[dict[str, Any]]) -> None:
    """CB-14: at most 64 tokens a side, none of it white space outside."""
    tokenizer = load_tokenizer("cl100k_base")
    seen = 0
    for document in documents:
        text = document["text"]
        made = chunk_text(text, tokenizer="cl100k_base", settings={"adjacent_context": "physical"})
        for chunk in made.coarse:
            for span in (chunk.context_before, chunk.context_after):
                if span is not None:
                    words = text[span.start_char : span.end_char]
                    assert words == words.strip() != ""
                    assert tokenizer.count(words) <= 64
                    seen += 1
    assert seen > 10


def _differences(wanted: dict[str, Any], made: ChunkSet, text: str) -> list[str]:
    found: list[str] = []
    elements = [[e.kind, e.start_line, e.end_line] for e in made.elements]
    if elements != wanted["elements"]:
        found.append(f"elements: {elements}")
    if len(made.coarse) != len(wanted["chunks"]):
        return [*found, f"{len(made.coarse)} chunks, not {len(wanted['chunks'])}"]
    for chunk, want in zip(made.coarse, wanted["chunks"], strict=True):
        got = _as_oracle(chunk, made.coarse, Lines(text))
        found += [
            f"{chunk.coarse_id}.{name}: {value!r}, not {want[name]!r}"
            for name, value in got.items()
            if name in want and value != want[name] and not (name == "table_inline" and want[name] is None)
        ]
    return found


def _as_oracle(chunk: CoarseChunk, coarse: Sequence[CoarseChunk], lines: Lines) -> dict[str, Any]:
    got: dict[str, Any] = {
        "role": chunk.role,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "source_element_indexes": list(chunk.element_indexes),
        "element_kinds": sorted(set(chunk.kinds)),
        "heading_trail": list(chunk.heading_trail),
        "heading_trails": [list(t) for t in chunk.heading_trails],
        "buffer_tokens": chunk.buffer_tokens,
        "element_id": chunk.element_id,
    }
    if chunk.role == "derived":
        source = next(c for c in coarse if c.coarse_id == chunk.source_coarse_id)
        got["source_index"] = source.coarse_index
        view = next(v for v in source.views if v.element_index == chunk.element_indexes[0])
        if chunk.kinds == ("table",):
            got["table_inline"] = not view.rendered
    elif chunk.verbatim:
        got["protected"] = [
            {
                "kind": r.kind,
                "start_line": lines.of(chunk.start_char + r.start_char),
                "end_line": lines.of(chunk.start_char + r.end_char - 1),
            }
            for r in chunk.protected
        ]
    return got
