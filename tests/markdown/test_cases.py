"""Cases and oracles from outside the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from linkrag_dagster.markdown import parse
from tests.markdown.support import assert_tiles


def records(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_cases_of_defects(shared: Path) -> None:
    """EL-02 to EL-06: headings with place and trail, and protected spans, of every reported defect."""
    wrong: list[tuple[Any, ...]] = []
    cases = records(shared / "cases" / "markdown.jsonl")
    for case in cases:
        text, expect = case["input"], case["expect"]
        elements = parse(text)
        assert_tiles(text, elements)
        found = [
            {
                "level": e.level,
                "text": e.title,
                "start": e.start_char,
                "end": e.end_char,
                "trail": list(e.heading_trail),
            }
            for e in elements
            if e.kind == "heading"
        ]
        if expect.get("headings", found) != found:
            wrong.append((case["id"], found))
        spans = {(e.kind, e.start_char, e.end_char) for e in elements}
        spans |= {(r.kind, r.start_char, r.end_char) for e in elements for r in e.protected}
        for item in expect.get("protected", []):
            if (item["type"], item["start"], item["end"]) not in spans:
                wrong.append((case["id"], item))
    assert len(cases) >= 50
    assert wrong == []


def test_elements_of_the_reference(shared: Path) -> None:
    """EL-02, EL-03: kinds and lines equal LinkRag's, or what the rules say where it errs."""
    texts = records(shared / "oracles" / "candidate_boundary.jsonl")
    wrong: list[tuple[Any, ...]] = []
    for record in texts:
        expected = record.get("ours", {}).get("elements", record.get("elements"))
        found = [[e.kind, e.start_line, e.end_line] for e in parse(record["text"])]
        if found != expected:
            wrong.append((record["id"], found, expected))
    assert len(texts) >= 63
    assert wrong == []
