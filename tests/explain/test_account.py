"""The account: records related to each other and to the text, for every strategy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.choices.strategies import STRATEGIES
from linkrag_dagster.explain import account_of
from tests.explain.documents import MIXED, SEMANTIC, TWO_TOPICS, chunked


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("text", [TWO_TOPICS, MIXED, "", "\n", "one"])
def test_rows_hold_each_chunk_and_cuts_part_the_source_chunks(strategy: str, text: str) -> None:
    """ST-01 to ST-10, SD-13: blocks tile the content; between two source chunks stands a cut, where the first ends."""
    made, limits = chunked(text, strategy, **({"header": False} if strategy == "noop" else {}))
    account = account_of(made, text, limits)
    assert sorted(s.chunk.ordinal for s in account.shown) == [c.ordinal for c in made.chunks]
    for shown in account.shown:
        blocks = [block for row in shown.rows for block in row.blocks]
        content = shown.chunk.content
        assert "".join(content[b.start : b.end] for b in blocks) == content
    sources = [s for s in account.shown if s.chunk.role == "source"]
    assert [None if s.cut is None else s.cut.position for s in sources] == [
        *(s.chunk.end_char for s in sources[:-1]),
        *([None] if sources else []),
    ]
    assert len(account.gaps) == sum(row.position > 0 for row in made.trace)


def test_every_chosen_gap_is_a_cut_and_no_other_gap_is() -> None:
    """SD-16: what the trace says was chosen ends a chunk, at that place; all other gaps lie inside chunks."""
    made, limits = chunked(MIXED)
    account = account_of(made, MIXED, limits)
    chosen = [g.trace for g in account.gaps if g.trace.chosen]
    assert chosen and [c.gap.trace for c in account.cuts if c.gap is not None] == chosen
    inside = [row.gap.trace for s in account.shown for row in s.rows if row.gap is not None]
    assert inside == [g.trace for g in account.gaps if not g.trace.chosen]


def test_positions_of_gaps_are_places_of_the_document() -> None:
    """SD-16: also in a chunk with rendered references, where the coarse content is no slice of the document."""
    made, limits = chunked(MIXED)
    assert not all(c.verbatim for c in made.coarse if c.role == "source")
    starts = {e.start_char for e in made.elements}
    for gap in account_of(made, MIXED, limits).gaps:
        following = gap.position + len(MIXED[gap.position :]) - len(MIXED[gap.position :].lstrip())
        assert following in starts or "weight_" in MIXED[gap.position : gap.position + 12]


def test_what_a_cut_was_weighed_against() -> None:
    """SD-07: the gaps within the maximum, each with the tokens that the chunk would have, and what overflowed."""
    made, limits = chunked(TWO_TOPICS)
    account = account_of(made, TWO_TOPICS, limits)
    count = limits.tokenizer.count
    cut = account.cuts[0]
    assert TWO_TOPICS[cut.position :].lstrip().startswith("In the kitchen of day 0")
    assert [g.tokens for g in cut.weighed] == [count(TWO_TOPICS[: g.position]) for g in cut.weighed]
    assert all(g.trace.legal and (g.tokens or 0) <= 90 for g in cut.weighed)
    assert cut.overflow is not None and cut.overflow > 90
    assert max(cut.weighed, key=lambda g: g.trace.depth or 0.0) == cut.gap


def test_without_limits_nothing_is_counted() -> None:
    """The account needs the records and the text alone."""
    made, _ = chunked(TWO_TOPICS)
    account = account_of(made, TWO_TOPICS)
    assert {g.tokens for g in account.gaps} == {None}
    assert [(c.weighed, c.overflow) for c in account.cuts] == [((), None)] * len(account.cuts)


@pytest.mark.parametrize("overlap", [0, 12])
def test_parts_hold_all_words_of_the_indexed_text(overlap: int) -> None:
    """EX-01 to EX-03: header, what is repeated, context, core, context: nothing of `text` is lost."""
    made, limits = chunked(MIXED, overlap_tokens=overlap)
    seen = ""
    for shown in account_of(made, MIXED, limits).shown:
        parts, chunk = shown.parts, shown.chunk
        pieces = [parts.header, parts.introduction, parts.before, parts.core, parts.after]
        assert "".join("".join(pieces).split()) == "".join(chunk.text.split())
        assert parts.core == chunk.content and parts.header == chunk.header
        seen += "b" * bool(parts.before) + "a" * bool(parts.after) + "i" * bool(parts.introduction)
    assert set(seen) == set("bai")  # derived chunks have context whatever the overlap


def test_words_in_no_chunk_are_named() -> None:
    """CB-01: a rule belongs to no chunk."""
    made, limits = chunked(MIXED)
    account = account_of(made, MIXED, limits)
    assert [MIXED[s.start_char : s.end_char].strip() for s in account.uncovered] == ["---"]


PIECES = [
    "harbour ", "kitchen. ", "\n\n", "# t\n\n", "---\n", "| a |\n|---|\n| b |\n", "`", "海。", "\ud800", "\x00"
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_text_has_an_account(pieces: list[str]) -> None:
    """SD-13: whatever the text, blocks tile contents and every cut stands where a chunk ends."""
    text = "".join(pieces)
    made, limits = chunked(text, SEMANTIC, min_candidate_tokens=3, max_tokens=12, hard_max_tokens=16)
    account = account_of(made, text, limits)
    for shown in account.shown:
        words = [shown.chunk.content[b.start : b.end] for row in shown.rows for b in row.blocks]
        assert "".join(words) == shown.chunk.content
    assert [c.number for c in account.cuts] == list(range(1, len(account.cuts) + 1))
