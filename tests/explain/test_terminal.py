"""The same in a terminal: complete, within its width, and without control sequences from the document."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from linkrag_dagster.choices.strategies import STRATEGIES
from linkrag_dagster.explain import terminal
from tests.explain.documents import MIXED, TWO_TOPICS, chunked


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_chunks_cuts_reasons_tokens_and_trails(strategy: str) -> None:
    """SD-16, EX-01: a line for each chunk with tokens and place; a reason for each cut."""
    made, limits = chunked(MIXED, strategy)
    lines = terminal(made, MIXED, name="log.md", limits=limits).splitlines()
    heads = [line for line in lines if line.startswith("── ")]
    assert len(heads) == len(made.chunks)
    for chunk in made.chunks:
        head = next(line for line in heads if f"chunk {chunk.ordinal} ·" in line)
        assert f"[{chunk.start_char}, {chunk.end_char})" in head
        assert re.search(rf"· {chunk.tokens}(/\d+)? tokens? ·", head)
        assert ("derived" in head) == (chunk.role == "derived")
    sources = [c for c in made.chunks if c.role == "source"]
    cuts = [line for line in lines if line.startswith("✂ ")]
    assert [re.search(r"at (\d+): Cut", line) is not None for line in cuts] == [True] * (len(sources) - 1)
    for chunk in sources:
        if chunk.heading_trail:
            assert any(line == f"  trail: {' › '.join(chunk.heading_trail)}" for line in lines)


def test_gaps_stand_between_the_words() -> None:
    """SD-16: cohesion, depth, whether it may be cut, and what became of it."""
    made, limits = chunked(TWO_TOPICS)
    shown = terminal(made, TWO_TOPICS, limits=limits)
    for row in made.trace:
        if not row.chosen:
            legal = "legal" if row.legal else "illegal"
            scores = (
                "not scored"
                if row.cohesion is None
                else f"cohesion {row.cohesion:.3f}, depth {row.depth:.3f}"
            )
            assert f"gap {row.gap_index} · {scores} · {legal}: " in shown
    assert "▁ to █: depth of a gap" in shown
    assert "deepest of the" in shown and "the maximum is 90." in " ".join(shown.split())


def test_controls_of_the_document_are_named() -> None:
    """A document can't colour, clear or retitle a terminal, nor turn its lines round."""
    text = "# \x1b]0;title\x07\n\nharbour \x1b[2J\x9b31m \u202eevil \x00 \r\n"
    made, limits = chunked(text)
    shown = terminal(made, text, name="\x1b[31m.md", limits=limits)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    assert "⟨ESC⟩[2J" in shown and "⟨RLO⟩evil" in shown


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.integers(40, 120))
def test_lines_keep_the_width(text: str, width: int) -> None:
    """Chinese and Japanese count two cells a character."""
    made, limits = chunked(text)
    shown = terminal(made, text, limits=limits, width=width)
    words = [line for line in shown.splitlines() if line.startswith(("  │ ", "  ┊ "))]
    assert all(cell_len(line) <= width for line in words)
    assert "\x1b" not in shown


def test_colours_on_demand() -> None:
    """None unless asked for."""
    made, limits = chunked(TWO_TOPICS)
    assert "\x1b[" not in terminal(made, TWO_TOPICS, limits=limits)
    coloured = terminal(made, TWO_TOPICS, limits=limits, colour=True)
    assert re.sub("\x1b\\[\\d*m", "", coloured) == terminal(made, TWO_TOPICS, limits=limits)
