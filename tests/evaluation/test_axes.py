"""Cuts in the text on one axis of units (ME-04)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.axes import SourceTokens, cuts_of_spans, map_cuts
from linkrag_dagster.evaluation.segmentation import boundary_gaps

UNITS = [(0, 4), (6, 10), (10, 13), (15, 20)]


@pytest.mark.parametrize(
    ("cut", "gap"),
    [(4, 0), (5, 0), (6, 0), (10, 1), (13, 2), (14, 2), (15, 2)],
)
def test_a_cut_between_units_is_their_gap(cut: int, gap: int) -> None:
    """ME-04: white space beside a cut changes nothing."""
    mapped = map_cuts([cut], UNITS)
    assert (boundary_gaps(mapped.masses), mapped.moved, mapped.outside) == ([gap], 0, 0)


@pytest.mark.parametrize(("cut", "gaps"), [(3, [0]), (7, [0]), (8, [0]), (9, [1]), (11, [1]), (12, [2])])
def test_a_cut_inside_a_unit_goes_to_the_nearer_edge(cut: int, gaps: list[int]) -> None:
    """ME-04: to the start where both are equally near."""
    mapped = map_cuts([cut], UNITS)
    assert (boundary_gaps(mapped.masses), mapped.moved) == (gaps, 1)


def test_cuts_that_are_no_boundaries_are_counted() -> None:
    """ME-04: at both ends, near them, or in a gap that has one."""
    mapped = map_cuts([0, 1, 4, 5, 6, 19, 20, 99], UNITS)
    assert mapped == map_cuts([99, 20, 19, 6, 5, 4, 1, 0], UNITS)
    assert (mapped.masses, mapped.moved, mapped.merged, mapped.outside) == ((1, 3), 2, 2, 5)
    assert map_cuts([1], []).masses == ()
    assert map_cuts([], UNITS).masses == (4,)


def test_units_of_one_character() -> None:
    """ME-04: byte tokens share a character; a cut beside it falls beside all of them."""
    units = [(0, 5), (5, 6), (5, 6), (5, 6), (6, 8)]
    assert map_cuts([5], units).masses == (1, 4)
    assert map_cuts([6], units).masses == (4, 1)


def test_falling_units_are_refused() -> None:
    """ME-04: an axis runs one way."""
    with pytest.raises(ValueError, match="unit 1 starts at 0, before unit 0 at 4"):
        map_cuts([3], [(4, 6), (0, 4)])


def test_cuts_of_chunks() -> None:
    """ME-04: starts of all but the first, overlap or not."""
    assert cuts_of_spans([(0, 10), (10, 20), (20, 25)]) == [10, 20]
    assert cuts_of_spans([(16, 25), (8, 18), (0, 10)]) == [8, 16]
    assert cuts_of_spans([]) == []


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.lists(st.integers(-2, 150), max_size=30))
def test_mapping_against_a_search_of_all_gaps(lengths: list[int], cuts: list[int]) -> None:
    """ME-04: on contiguous units each cut is at the nearest edge, the earlier one of two."""
    edges = [0]
    for length in lengths:
        edges.append(edges[-1] + length)
    units = list(pairwise(edges))
    nearest = {min(edges, key=lambda edge: (abs(edge - cut), edge)) for cut in cuts}
    gaps = [edges.index(edge) - 1 for edge in sorted(nearest - {edges[0], edges[-1]})]
    mapped = map_cuts(cuts, units)
    assert boundary_gaps(mapped.masses) == gaps
    assert len(gaps) + mapped.merged + mapped.outside == len(cuts)


@given(st.lists(st.integers(0, 50), max_size=30), st.tuples(*[st.integers(0, 60)] * 3))
def test_source_tokens_add_up(starts: list[int], places: tuple[int, int, int]) -> None:
    """ME-03: counts of adjacent ranges are the count of both."""
    tokens = SourceTokens.from_units([(start, start + 1) for start in sorted(starts)])
    first, middle, last = sorted(places)
    whole = tokens.count(first, last)
    assert whole == tokens.count(first, middle) + tokens.count(middle, last)
    assert whole == sum(first <= start < last for start in starts)
