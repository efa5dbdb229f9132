"""Texts modulo white space."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.gold.white_space import collapse, collapsed

TEXTS = st.text(st.sampled_from("ab灯。 \n\t\u3000\u00a0が한"), max_size=30)


@given(TEXTS)
def test_every_span_leads_back_to_its_own_characters(text: str) -> None:
    """GO-01: offsets are found in the text: what is no white space is the same character on both sides."""
    found = collapse(text)
    for at, character in enumerate(found.text):
        start, end = found.source_span(at, at + 1)
        if character == " ":
            assert text[start:end].isspace()
        else:
            assert text[start:end] == character
    assert [c for c in found.text if c != " "] == [c for c in text if not c.isspace()]


@given(TEXTS)
def test_collapsing_twice_is_collapsing_once(text: str) -> None:
    """Nothing is left to collapse; no white space at the ends, no two spaces in a row."""
    once = collapsed(text)
    assert collapsed(once) == once == once.strip()
    assert "  " not in once


@given(TEXTS, TEXTS, TEXTS)
def test_a_slice_is_found_however_its_lines_are_broken(before: str, words: str, after: str) -> None:
    """A needle taken from a text and broken anew is the same needle."""
    broken = "\n".join(words.split(" "))
    assert collapsed(words) == collapsed(broken)
    assert collapsed(words) in collapsed(f"{before} {broken} {after}")


def test_line_ends_inside_unspaced_scripts_count_as_nothing() -> None:
    """Chinese and Japanese write no spaces; Korean and Latin do."""
    assert collapsed("每九秒\n转一圈") == "每九秒转一圈"
    assert collapsed("用\nBM25\n检索") == "用BM25检索"
    assert collapsed("두 단어\n입니다") == "두 단어 입니다"
    assert collapsed(" two \r\n\t words ") == "two words"
