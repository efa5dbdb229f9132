"""Evidence under a budget (ME-03, CS-01)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.axes import SourceTokens
from linkrag_dagster.evaluation.budget import CURVE, budget_curve, select, under_budget
from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk


def _chunk(
    start: int, end: int, *, tokens: int = 1, characters: int | None = None, doc: str = "a"
) -> IndexedChunk:
    size = end - start if characters is None else characters
    return IndexedChunk(f"{doc}{start}", doc, ((start, end),), tokens=tokens, characters=size)


RANKED = [_chunk(0, 50), _chunk(50, 150), _chunk(150, 180)]


def test_stop_and_skip() -> None:
    """ME-03: what does not fit ends the one and is passed over by the other."""
    assert select(RANKED, 100, unit="characters") == [0]
    assert select(RANKED, 100, policy="skip", unit="characters") == [0, 2]
    assert select(RANKED, 150, unit="characters") == [0, 1]
    assert select(RANKED, 49, policy="skip", unit="characters") == [2]
    assert select([], 100) == []


def test_evidence_and_repetition_in_characters() -> None:
    """ME-03: everything handed is paid, evidence counts once, and repeated source is reported."""
    ranked = [_chunk(0, 50, characters=60), _chunk(40, 90, characters=55), _chunk(0, 20, doc="b")]
    evidence = [EvidenceSpan("a", 30, 45), EvidenceSpan("a", 85, 95)]
    got = under_budget(ranked, evidence, 135, unit="characters")
    assert (got.used, got.selected) == (135, (1, 2, 3))
    assert (got.contained, got.covered) == (0.5, 0.5)
    assert (got.evidence, got.evidence_share) == (15 + 5, 20 / 135)
    assert (got.unique_source, got.duplicate_source, got.duplicate_share) == (110, 10, 10 / 135)


def test_tokens_of_the_source() -> None:
    """ME-03: a budget in tokens measures evidence and repetition in source tokens."""
    axis = SourceTokens(tuple(range(0, 100, 5)))
    ranked = [_chunk(0, 50, tokens=14), _chunk(40, 90, tokens=11)]
    got = under_budget(
        ranked,
        [EvidenceSpan("a", 30, 45)],
        30,
        source_length=lambda doc_id, version, start, end: axis.count(start, end),
    )
    assert (got.used, got.evidence, got.unique_source, got.duplicate_source) == (25, 3, 18, 2)
    assert got.evidence_share == 3 / 25


def test_joined_under_a_budget() -> None:
    """ME-03, GO-02: the covered notion joins what the budget admits, and nothing beyond it."""
    ranked = [_chunk(0, 50), _chunk(50, 100)]
    evidence = [EvidenceSpan("a", 45, 55)]
    assert under_budget(ranked, evidence, 100, unit="characters").covered == 1.0
    assert under_budget(ranked, evidence, 100, unit="characters").contained == 0.0
    assert under_budget(ranked, evidence, 99, unit="characters").covered == 0.0


def test_nothing_handed_and_nothing_asked() -> None:
    """GO-04: shares of nothing are undefined; a question without evidence has no evidence share."""
    small = under_budget(RANKED, [EvidenceSpan("a", 0, 5)], 10, unit="characters")
    assert (small.used, small.contained, small.evidence_share, small.duplicate_share) == (0, 0.0, None, None)
    bare = under_budget(RANKED, [], 500, unit="characters")
    assert (bare.contained, bare.covered, bare.evidence_share, bare.duplicate_share) == (
        None,
        None,
        None,
        0.0,
    )


def test_bad_input_is_refused() -> None:
    """ME-03: no budget, no unit, no length, no measure of tokens."""
    wrong: Any = "truncate"
    with pytest.raises(ValueError, match="budget is 0"):
        select(RANKED, 0)
    with pytest.raises(ValueError, match="policy 'truncate'"):
        select(RANKED, 5, policy=wrong)
    with pytest.raises(ValueError, match="unit 'truncate'"):
        select(RANKED, 5, unit=wrong)
    with pytest.raises(ValueError, match="chunk 'a0' has 0 tokens"):
        select([_chunk(0, 5, tokens=0)], 5)
    with pytest.raises(ValueError, match="needs source_length"):
        under_budget(RANKED, [])


LISTS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=10)


@given(LISTS, st.integers(1, 120), LISTS.filter(bool))
def test_against_sets_of_characters(
    parts: list[tuple[int, int]], budget: int, wanted: list[tuple[int, int]]
) -> None:
    """ME-03: lengths, character by character; `skip` admits all that `stop` does."""
    ranked = [_chunk(start, start + n, characters=n + 2) for start, n in parts]
    evidence = [EvidenceSpan("a", start, start + n) for start, n in wanted]
    got = under_budget(ranked, evidence, budget, policy="skip", unit="characters")
    returned = [set(range(*ranked[rank - 1].spans[0])) for rank in got.selected]
    gold = {i for span in evidence for i in range(span.start_char, span.end_char)}
    union = set[int]().union(*returned)
    assert got.used == sum(map(len, returned)) + 2 * len(returned) <= budget
    assert (got.evidence, got.unique_source) == (len(union & gold), len(union))
    assert got.duplicate_source == sum(map(len, returned)) - len(union)
    assert set(select(ranked, budget, unit="characters")) <= {rank - 1 for rank in got.selected}


@given(LISTS)
def test_a_curve_never_falls_under_stop(parts: list[tuple[int, int]]) -> None:
    """ME-03: a larger budget admits a longer beginning of the same ranking."""
    ranked = [_chunk(start, start + n, characters=100 * n) for start, n in parts]
    curve = budget_curve(ranked, [EvidenceSpan("a", 5, 30)], unit="characters")
    assert [scores.budget for scores in curve] == list(CURVE)
    values = [scores.covered or 0.0 for scores in curve]
    assert values == sorted(values)
