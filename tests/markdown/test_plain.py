"""Paragraphs of plain text (EL-03 for what is no Markdown)."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.markdown.plain import parse_plain


def test_paragraphs_and_nothing_else() -> None:
    """Markdown's marks mean nothing; offsets and lines are exact."""
    text = "# not a heading\n\n  > not\n    a quote\n \t\n\n---\n"
    assert [
        (e.kind, text[e.start_char : e.end_char], e.start_line, e.end_line) for e in parse_plain(text)
    ] == [
        ("paragraph", "# not a heading", 1, 1),
        ("paragraph", "  > not\n    a quote", 3, 4),
        ("paragraph", "---", 7, 7),
    ]


def test_line_breaks_of_all_three_kinds_and_a_byte_order_mark() -> None:
    """The mark belongs to no element."""
    text = "\ufeffa\r\nb\r\rc\r\n\r\nd"
    assert [(text[e.start_char : e.end_char], e.start_line, e.end_line) for e in parse_plain(text)] == [
        ("a\r\nb", 1, 2),
        ("c", 4, 4),
        ("d", 6, 6),
    ]


def test_text_without_words_has_no_elements() -> None:
    """Neither nothing nor white space is a paragraph."""
    assert parse_plain("") == parse_plain("\ufeff") == parse_plain(" \n\t\n\u3000") == []


@given(st.text(st.sampled_from("a\n\r \t\ufeff\u3000\u2028é")))
def test_elements_cover_all_but_white_space(text: str) -> None:
    """They never overlap, start and end on lines, and only white space (or the mark) lies between them."""
    at = 0
    for index, element in enumerate(parse_plain(text)):
        assert element.element_index == index
        assert not text[at : element.start_char].removeprefix("\ufeff" if at == 0 else "").strip()
        assert text[element.start_char : element.end_char].strip()
        lines = text[: element.end_char].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert len(lines) == element.end_line
        at = element.end_char
    assert not text[at:].removeprefix("\ufeff" if at == 0 else "").strip()


def test_linear_time() -> None:
    """Ten times the lines take about ten times as long (bound: forty)."""

    def seconds(lines: int) -> float:
        text = "word\n\n" * lines
        best = 9e9
        for _ in range(3):
            start = time.perf_counter()
            assert len(parse_plain(text)) == lines
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(20_000) < 40 * seconds(2_000)
