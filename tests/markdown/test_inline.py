"""Titles of headings and paragraphs of images."""

from __future__ import annotations

import pytest

from linkrag_dagster.markdown import parse
from linkrag_dagster.markdown.inline import MAX_BRACKETS


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# plain  words ##", "plain words"),
        ("#\tA `b*c*` **d** _e_ ~~f~~", "A b*c* d e f"),
        ("# [a](/u 't') ![b *c*](/u) <http://x.y>", "a b c http://x.y"),
        ("# A&amp;B &copy; \\* \\#", "A&B © * #"),
        ("# a <b>c</b><br>d<!-- e -->", "a c d"),
        ("# $a*b*c$ and $5*x*6", "$a*b*c$ and $5x6"),
        ("# snake_case_name", "snake_case_name"),
        ("Two\n *lines*\n===", "Two lines"),
        ("#", ""),
        ("## ##", ""),
        ("# foo#", "foo#"),
        ("# foo \\##", "foo ##"),
        ("# [x][r] [y] [z]\n\n[r]: /u\n[Z]: /v", "x [y] z"),
        ("## [1.2.0] - `2026`", "[1.2.0] - 2026"),
        ("# 中文 **标题**", "中文 标题"),
    ],
)
def test_title_is_what_a_reader_sees(text: str, title: str) -> None:
    """EL-03: visible text without marks; links may refer to definitions further down."""
    heading = parse(text)[0]
    assert (heading.title, heading.heading_trail) == (title, (title,))


def test_a_title_of_brackets_is_taken_as_it_stands() -> None:
    """EL-04: nested brackets cost their square, so beyond a number of them marks stay."""
    assert parse("# *a*" + "[" * (MAX_BRACKETS + 1))[0].title == "*a*" + "[" * (MAX_BRACKETS + 1)
    assert parse("# *a*" + "[" * MAX_BRACKETS)[0].title == "a" + "[" * MAX_BRACKETS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" ![a](u)\t", [(" ![a](u)\t", "a")]),
        ("![a](u) ![b](v)\n![c](w)", [("![a](u)", "a"), ("![b](v)", "b"), ("![c](w)", "c")]),
        ("![a\nb](u\n 't')![](v)", [("![a\nb](u\n 't')", "a b"), ("![](v)", None)]),
        ("![ ](u)", [("![ ](u)", None)]),
        ("![*a* `b` [c](d)](u)", [("![*a* `b` [c](d)](u)", "a b c")]),
        ("![a [b] \\] c](<u v> (t))", [("![a [b] \\] c](<u v> (t))", "a [b] ] c")]),
        ("![a](data:image/svg+xml;base64,AA==)", [("![a](data:image/svg+xml;base64,AA==)", "a")]),
        ("![\ud800](\ud800)", [("![\ud800](\ud800)", "\ud800")]),
    ],
)
def test_paragraph_of_images(text: str, expected: list[tuple[str, str | None]]) -> None:
    """EL-02, EL-05: one element an image; alone on its lines it takes the blanks around it; alt text describes it."""
    elements = parse(text)
    assert [(text[e.start_char : e.end_char], e.description) for e in elements] == expected
    assert {e.kind for e in elements} == {"image"}


def test_images_by_reference() -> None:
    """EL-02: a definition anywhere in the document makes an image of its label."""
    text = "![a][r]\r\n![R] ![r][]\r\n\r\n> [r]: /u\r\n"
    assert [(text[e.start_char : e.end_char], e.start_line) for e in parse(text)[:3]] == [
        ("![a][r]", 1),
        ("![R]", 2),
        ("![r][]", 2),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[![a](u)](v)",
        "![a](u) b",
        "![a](u){w=1}",
        "![a][r]",
        "![a](u",
        "!a",
        "![a](u)\\\n![b](v)",
        "\\![a](u)",
    ],
)
def test_other_paragraphs_stay_paragraphs(text: str) -> None:
    """EL-02: an image in a link, beside text, or without a target is part of its paragraph."""
    (element,) = parse(text)
    assert (element.kind, element.end_char) == ("paragraph", len(text))
