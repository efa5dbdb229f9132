"""Kinds of defects that were reported against other chunkers, under `noop`, `pack` and `semantic_depth_window`."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from linkrag_dagster.chunking import (
    ChunkSet,
    check_chunks,
    check_coarse,
    check_final,
    chunk_text,
    resolve_settings,
)
from linkrag_dagster.tokens import load_tokenizer
from tests.chunking.scripted import Hashed

CL100K = load_tokenizer("cl100k_base")
# Sizes in characters are those of the fixed strategy.
OTHER_STRATEGIES = "max_chars"


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, dict[str, Any]]:
    lines = (shared / "cases" / "markdown.jsonl").read_text(encoding="utf-8").splitlines()
    found = {case["id"]: case for case in map(json.loads, lines)}
    return {
        name: case for name, case in found.items() if OTHER_STRATEGIES not in case["expect"].get("config", {})
    }


def _settings(expect: dict[str, Any]) -> dict[str, Any]:
    limit = expect.get("config", {}).get("max_tokens")
    settings: dict[str, Any] = {"header": False}
    if limit is not None:
        settings |= {"max_tokens": limit, "hard_max_tokens": limit, "min_candidate_tokens": min(8, limit)}
    return settings


@pytest.mark.parametrize("strategy", ["noop", "pack", "semantic_depth_window"])
def test_expectations_hold(cases: dict[str, dict[str, Any]], strategy: str) -> None:
    """CB-16, S2-01, S2-02, SD-13, TK-03, EX-07: what each case expects, and every contract."""
    wrong = {
        name: problems
        for name, case in cases.items()
        if (problems := _problems(case["input"], case["expect"], strategy))
    }
    assert len(cases) > 40
    assert wrong == {}


def _problems(text: str, expect: dict[str, Any], strategy: str) -> list[str]:
    settings = _settings(expect)
    begun = time.perf_counter()
    made = chunk_text(text, tokenizer="cl100k_base", strategy=strategy, settings=settings, scorer=Hashed())
    seconds = time.perf_counter() - begun
    complete = resolve_settings({**settings, "strategy": strategy, "tokenizer": "cl100k_base"}, window=None)
    found = [
        violation.message
        for violation in (
            *check_coarse(made.coarse, made.elements, text, complete, CL100K),
            *check_final(made.final, made.coarse, text, complete, CL100K),
            *check_chunks(made.chunks, made.final, text, complete, CL100K, CL100K, None),
        )
    ]
    if seconds > expect.get("time_limit_s", 5):
        found.append(f"{seconds:.1f} s")
    source = [c for c in made.chunks if c.role == "source"]
    found += _cover(text, made)
    found += _words(expect, [c.content for c in made.chunks])
    if strategy != "noop":
        limit = expect.get("max_tokens_each")
        found += [
            f"{c.tokens} tokens" for c in source if limit is not None and CL100K.count(c.content) > limit
        ]
        found += _ends(expect, [c.content for c in source])
        found += [
            f"cut inside {inside}"
            for inside in expect.get("no_cut_inside", [])
            for c in source
            # TK-03: what alone exceeds the hard maximum is cut between code points.
            if CL100K.count(text[inside["start"] : inside["end"]]) <= complete.hard_max_tokens
            if inside["start"] < c.start_char < inside["end"] or inside["start"] < c.end_char < inside["end"]
        ]
    if len(made.chunks) != expect.get("n_chunks", len(made.chunks)):
        found.append(f"{len(made.chunks)} chunks")
    images = [c for c in made.chunks if c.role == "derived" and c.kinds == ("image",)]
    if len(images) != expect.get("derived_images", len(images)):
        found.append(f"{len(images)} derived images")
    return found


def _cover(text: str, made: ChunkSet) -> list[str]:
    """Source chunks and the white space between them, and the marks that make no element, give back the text."""
    if any(not c.verbatim for c in made.chunks if c.role == "source"):
        return []  # a rendered image: its derived chunk holds it, which the contract checks
    at = 0
    found: list[str] = []
    for chunk in (c for c in made.chunks if c.role == "source"):
        gap = text[at : chunk.start_char]
        if gap.strip("\ufeff \t\r\n-*_"):
            found.append(f"lost {gap!r}")
        if chunk.start_char < at:
            found.append(f"{chunk.start_char} comes again")
        at = chunk.end_char
    if text[at:].strip("\ufeff \t\r\n-*_"):
        found.append(f"lost {text[at:]!r}")
    return found


def _words(expect: dict[str, Any], contents: list[str]) -> list[str]:
    found = [
        f"no chunk holds {want!r}"
        for want in expect.get("must_contain", [])
        if not any(want in c for c in contents)
    ]
    found += [f"{bad!r} in a chunk" for bad in expect.get("forbid", []) if any(bad in c for c in contents)]
    if expect.get("no_blank_chunks"):
        found += ["a blank chunk" for c in contents if not c.strip()]
    return found


def _ends(expect: dict[str, Any], contents: list[str]) -> list[str]:
    found: list[str] = []
    ends = tuple(expect.get("chunk_must_end_with_any", []))
    if ends:
        found += [f"ends with {c[-5:]!r}" for c in contents if not c.rstrip().endswith(ends)]
    starts = tuple(expect.get("forbid_chunk_prefix", []))
    if starts:
        found += [f"begins with {c[:5]!r}" for c in contents if c.startswith(starts)]
    last_line = expect.get("forbid_chunk_last_line_regex")
    if last_line:
        found += [
            f"ends with {c[-20:]!r}" for c in contents if re.search(last_line, c.rstrip().splitlines()[-1])
        ]
    return found


def test_ids_are_unique(cases: dict[str, dict[str, Any]]) -> None:
    """EX-06: equal contents in one document have different ids, the same ones each time."""
    for case in cases.values():
        ids = [c.chunk_id for c in chunk_text(case["input"], tokenizer="cl100k_base").chunks]
        again = [c.chunk_id for c in chunk_text(case["input"], tokenizer="cl100k_base").chunks]
        assert len(set(ids)) == len(ids)
        assert ids == again
