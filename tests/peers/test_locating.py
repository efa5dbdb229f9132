"""Chunk texts of others are found in the source, or what could be found of them is said (GO-02, ME-05)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.peers import locate
from linkrag_dagster.peers.locating import LINE_REACH, REACH


@given(st.text(alphabet="ab \n灯🜚", max_size=80), st.lists(st.integers(1, 9), max_size=20))
def test_pieces_of_a_text_are_where_they_were_cut(source: str, lengths: list[int]) -> None:
    """Pieces that tile the source are found at their own places, repeated words or not."""
    places: list[tuple[int, int]] = []
    at = 0
    for length in lengths:
        if at < len(source):
            places.append((at, min(at + length, len(source))))
            at = places[-1][1]
    found = locate([source[start:end] for start, end in places], source)
    assert [chunk.spans for chunk in found] == [(place,) for place in places]
    assert all(chunk.exact for chunk in found)


@given(
    st.text(alphabet="ab \n灯", max_size=60), st.lists(st.text(alphabet="ab \n灯x", max_size=12), max_size=12)
)
def test_any_texts(source: str, chunks: list[str]) -> None:
    """Whatever is asked: spans lie in the source, in order, not empty; what is exact is its slice."""
    for chunk in locate(chunks, source):
        ends = [place for span in chunk.spans for place in span]
        assert ends == sorted(ends) and all(0 <= start < end <= len(source) for start, end in chunk.spans)
        if chunk.exact:
            ((start, end),) = chunk.spans
            assert source[start:end] == chunk.text


def test_stripped_and_overlapping_chunks() -> None:
    """White space between chunks is passed over; a chunk may begin inside the one before."""
    source = "one two.  \n\n three four. five"
    found = locate(["one two.", "three four.", "four. five"], source)
    assert [chunk.spans for chunk in found] == [((0, 8),), ((13, 24),), ((19, 29),)]


def test_a_changed_chunk_has_the_lines_that_stand_there() -> None:
    """Joined lines are one span, a line that is not there parts them, and the next chunk goes on after them."""
    source = "# Head\n\nfirst line\nsecond line\nthird\n\nrest"
    found = locate(["# Head  \nfirst line", "second line\nnot there\nthird", "rest"], source)
    assert found[0].spans == ((0, 18),) and not found[0].exact
    assert found[1].spans == ((19, 36),)
    assert found[2].spans == ((38, 42),) and found[2].exact
    assert locate(["一 二 三"], "一二三")[0].spans == ()


def test_nothing_is_looked_for_without_end() -> None:
    """A text beyond the reach is not there: that keeps the time linear, and short lines out of far places."""
    far = "x" * (REACH + 1)
    assert locate(["needle"], far + "needle")[0].spans == ()
    assert locate(["needle"], far[1:] + "needle")[0].exact
    assert locate(["needle \nneedle"], "y" * LINE_REACH + "needle needle")[0].spans == (
        (LINE_REACH, LINE_REACH + 13),
    )
