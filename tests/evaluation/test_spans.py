"""Sets of code points as spans, against Python's sets."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.spans import difference, holds, intersection, union

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)


def _points(spans: list[tuple[int, int]]) -> set[int]:
    return {point for start, end in spans for point in range(start, end)}


@given(SPANS, SPANS)
def test_operations(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    """Each result holds the right points, in order, and no two of its spans touch."""
    a, b = union(left), union(right)
    for got, want in (
        (a, _points(left)),
        (union([*left, *right]), _points(left) | _points(right)),
        (union(intersection(a, b)), _points(left) & _points(right)),
        (union(difference(a, b)), _points(left) - _points(right)),
    ):
        assert _points(got) == want
        assert all(end < start for (_, end), (start, _) in pairwise(got))


@given(SPANS, st.integers(0, 30), st.integers(1, 10))
def test_holds(spans: list[tuple[int, int]], start: int, length: int) -> None:
    """A span is held where each of its points is."""
    merged = union(spans)
    assert holds(merged, start, start + length) == (set(range(start, start + length)) <= _points(spans))
