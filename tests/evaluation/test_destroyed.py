"""Answer-destroyed (ME-01)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.destroyed import destroyed
from linkrag_dagster.evaluation.evidence import recall
from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk, Question


def _length(span: EvidenceSpan) -> int:
    return span.end_char - span.start_char


def _question(
    name: str, *groups: tuple[EvidenceSpan, ...], needle: str = "", answerable: bool = True
) -> Question:
    return Question(name, "?", groups, answerable, needle_id=needle)


CHUNKS = [IndexedChunk(f"c{i}", "a", ((10 * i, 10 * i + 10),)) for i in range(5)]
WHOLE, CUT, LONG = EvidenceSpan("a", 2, 8), EvidenceSpan("a", 8, 12), EvidenceSpan("a", 20, 45)


def test_destroyed_and_overlong_are_counted_apart() -> None:
    """ME-01: a needle cut by a boundary is destroyed; one longer than any chunk could hold is another matter."""
    questions = [
        _question("q1", (WHOLE,)),
        _question("q2", (CUT,)),
        _question("q3", (LONG,)),
        _question("q4", (WHOLE, CUT)),
        _question("q5", (CUT,), (WHOLE,)),
        _question("q6", answerable=False),
    ]
    got = destroyed(CHUNKS, questions, limit=10, length=_length)
    assert (got.needles, got.destroyed, got.overlong, got.overlong_destroyed) == (4, 2, 1, 1)
    assert (got.destroyed_ids, got.overlong_ids) == (("q2", "q4"), ("q3",))
    assert (got.spans, got.spans_destroyed, got.share, got.span_share) == (2, 1, 0.5, 0.5)
    assert got.ceiling == pytest.approx((1 + 0 + 0 + 0.5 + 1) / 5)
    assert destroyed(CHUNKS, questions).overlong == 0
    assert destroyed(CHUNKS, questions[::-1], limit=10, length=_length) == got
    assert destroyed(CHUNKS[::-1], questions, limit=10, length=_length) == got


def test_phrasings_are_one_needle() -> None:
    """ME-01: needles count, not questions; the ceiling is that of the questions' mean recall."""
    questions = [
        _question("q1-doc", (CUT,), needle="n1"),
        _question("q1-ticket", (CUT,), needle="n1"),
        _question("q2", (WHOLE,), needle="n2"),
    ]
    got = destroyed(CHUNKS, questions)
    assert (got.needles, got.destroyed, got.destroyed_ids) == (2, 1, ("n1",))
    assert got.ceiling == pytest.approx(1 / 3)


def test_nothing_to_destroy() -> None:
    """ME-01, GO-04: without needles there is no share; an empty index destroys all."""
    empty = destroyed(CHUNKS, [_question("q", answerable=False)])
    assert (empty.share, empty.span_share, empty.ceiling) == (None, None, None)
    assert destroyed([], [_question("q", (WHOLE,))]).share == 1.0


def test_a_limit_needs_its_unit() -> None:
    """ME-01: tokens or characters, said by the measure."""
    with pytest.raises(ValueError, match="limit and length together"):
        destroyed(CHUNKS, [], limit=5)


@given(st.lists(st.tuples(st.integers(0, 45), st.integers(1, 12)), min_size=1, max_size=8))
def test_the_ceiling_is_the_recall_of_the_whole_index(places: list[tuple[int, int]]) -> None:
    """ME-01: no retriever over these chunks can have a higher contained recall."""
    questions = [
        _question(f"q{i}", (EvidenceSpan("a", start, start + n),)) for i, (start, n) in enumerate(places)
    ]
    values = [recall(CHUNKS, question.groups) for question in questions]
    got = destroyed(CHUNKS, questions)
    assert got.ceiling == pytest.approx(sum(value or 0 for value in values) / len(values))
    assert got.destroyed == values.count(0.0)
