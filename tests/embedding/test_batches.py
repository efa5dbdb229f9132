"""Batches hold every text once and stay within their tokens: EM-02."""

from __future__ import annotations

from itertools import zip_longest

from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.embedding.batches import batches


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 600))
def test_each_position_once_in_order_of_length_within_the_limit(lengths: list[int], tokens: int) -> None:
    """EM-02."""
    made = list(batches(lengths, tokens=tokens))
    flat = [position for batch in made for position in batch]
    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[p] for p in flat] == sorted(lengths)
    for batch, following in zip_longest(made, made[1:]):
        assert len(batch) == 1 or len(batch) * max(lengths[p] for p in batch) <= tokens
        # No batch could have taken the next text as well.
        assert following is None or (len(batch) + 1) * lengths[following[0]] > tokens
