"""One vector of several (EX-05)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.embedding.pooling import pooled


def _unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def test_the_mean_counts_tokens_and_has_length_one() -> None:
    """EX-05: token-weighted mean, renormalised, by hand."""
    made = pooled(np.array([_unit(1, 0), _unit(0, 1)]), [3, 1])
    assert made == pytest.approx([3 / 10**0.5, 1 / 10**0.5], abs=1e-6)
    assert made.dtype == np.float32


def test_one_window_is_its_own_vector() -> None:
    """EX-05: nothing is computed where nothing is pooled."""
    vector = _unit(1, 2, 3)
    assert np.array_equal(pooled(vector[None], [7]), vector)


def test_what_cancels_out_has_no_mean() -> None:
    """DE-01: no zero vector; the message says what else there is."""
    with pytest.raises(ValueError, match="declare overflow: vectors or split"):
        pooled(np.array([_unit(1, 0), _unit(-1, 0)]), [5, 5])


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.1, 1), st.integers(1, 300)), min_size=1, max_size=9))
def test_every_mean_has_length_one(rows: list[tuple[float, float, int]]) -> None:
    """DE-01: unit norm within the tolerance, whatever the windows."""
    made = pooled(np.array([_unit(x, y) for x, y, _ in rows]), [tokens for _, _, tokens in rows])
    assert np.linalg.norm(made) == pytest.approx(1.0, abs=1e-5)
