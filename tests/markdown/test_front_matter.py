"""Where front matter is, and where two rules only look like it (EL-02)."""

from __future__ import annotations

import pytest

from linkrag_dagster.markdown import parse
from linkrag_dagster.markdown.front_matter import SCAN_LIMIT, front_matter_end, read_front_matter


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("---\na: b\n---\ntext", "---\na: b\n---"),
        ("\ufeff---\r\na: b\r\n---  \r\n\r\ntext", "---\r\na: b\r\n---  "),
        ("---\ra: b\r...\rtext", "---\ra: b\r..."),
        ("+++\na = 1\n+++", "+++\na = 1\n+++"),
        ("---\n---", "---\n---"),
        ("---\n# comment\n---\n", "---\n# comment\n---"),
        ("---\na: [\n---\n", "---\na: [\n---"),
    ],
)
def test_front_matter(text: str, source: str) -> None:
    """EL-02: at the very start, after an optional byte order mark, closed; what cannot be read is front matter too."""
    first = parse(text)[0]
    assert (first.kind, first.start_line, text[first.start_char : first.end_char]) == (
        "front_matter",
        1,
        source,
    )
    assert read_front_matter(text) is not None


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("\n---\na: b\n---\n", ["rule", "heading"]),
        ("---\na: b\n\n# H", ["rule", "paragraph", "heading"]),
        ("+++\na = 1", ["paragraph"]),
        ("---\n\nwords between rules\n\n---\n", ["rule", "paragraph", "rule"]),
        ("---\n# Title\n\nwords\n\n---\n", ["rule", "heading", "paragraph", "rule"]),
        ("---\n- a\n- b\n---\n", ["rule", "list", "rule"]),
        (" ---\na: b\n---\n", ["rule", "heading"]),
    ],
)
def test_no_front_matter(text: str, kinds: list[str]) -> None:
    """EL-02: unclosed, late or indented marks, and prose between two rules, are read as Markdown; no text is lost."""
    assert [element.kind for element in parse(text)] == kinds
    assert read_front_matter(text) is None and front_matter_end(text) is None


def test_front_matter_must_close_within_its_limit() -> None:
    """TK-04: the search for the closing mark is bounded."""
    long = "---\na: " + "x" * SCAN_LIMIT + "\n---\n"
    assert [element.kind for element in parse(long)] == ["rule", "heading"]
