"""ST-06: the header chunker of seed 000, to the letter and mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chunking.strategies.support import chunks, pieces, words


@pytest.fixture(scope="module")
def golden(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "oracles" / "header_chunker.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_compat_is_the_seeds_program(golden: list[dict[str, Any]]) -> None:
    """ST-06: texts, contents, sections and offsets of every golden chunk."""
    assert len(golden) > 20
    for case in golden:
        _, made, _ = chunks("header", case["doc"], title=case["title"], compat=True, target=case["target"])
        assert [(c.text, c.content, c.start_char, c.end_char) for c in made] == [
            (c["text"], c["content"], c["from_codepoint"], c["to_codepoint"]) for c in case["chunks"]
        ], case["id"]
        assert [c.heading_trail for c in made] == [
            (c["section"],) if c["section"] else () for c in case["chunks"]
        ]


def test_the_default_mends_what_compat_keeps() -> None:
    """ST-06: text before the first `##`, `##` in a fence, CRLF, CJK sentences, and a target in code points."""
    text = "Before.\r\n\r\n## One\r\n\r\n```\r\n## no heading\r\n```\r\n\r\nAfter.\r\n"
    made = pieces("header", text)
    assert [p.trail for p in made] == [(), ("One",)]
    assert words("header", text) == ["Before.", "```\r\n## no heading\r\n```\r\n\r\nAfter."]
    assert words("header", "## S\n\n天气很好。我们出门了。路上人很多！", target=7) == [
        "天气很好。",
        "我们出门了。",
        "路上人很多！",
    ]
    assert words("header", "## S\n\n" + "🚀" * 8, target=8) == ["🚀" * 8]


def test_headings_are_never_lost() -> None:
    """ST-06: a section's heading is in the trail; one that nothing follows is a piece."""
    text = "# A\n\n## B\n\nbody\n\n## C\n\n# D\n"
    made = pieces("header", text)
    assert [(text[p.start_char : p.end_char], p.trail) for p in made] == [
        ("body", ("A", "B")),
        ("## C", ("A", "C")),
        ("# D", ("D",)),
    ]
    _, exported, _ = chunks("header", text, title="A")
    assert exported[0].text == "A > B\n\nbody"


@settings(deadline=None)
@given(st.text(alphabet="ab.#\n `。\r", max_size=200), st.integers(1, 60))
def test_target_holds(text: str, target: int) -> None:
    """ST-06: without `compat` no piece is longer than the target, in code points."""
    assert all(p.end_char - p.start_char <= target for p in pieces("header", text, target=target))
