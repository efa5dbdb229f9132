"""What a vector must be, wherever it comes from (DE-01)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNIT_TOLERANCE = 1e-3
"""Largest difference of a vector's length from 1."""


def bad_vectors(vectors: NDArray[np.float32]) -> dict[int, str]:
    """What is wrong with rows of `vectors`, shape (texts, dimensions), by row: NaN, infinity, zero, other lengths."""
    # Rows may be too large for float32 to square; einsum makes no float64 copy of the whole matrix.
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE))
    return {int(row): _words(float(lengths[row])) for row in wrong}


def _words(length: float) -> str:
    if not np.isfinite(length):
        return "its vector holds NaN or infinity"
    if length == 0.0:
        return "its vector is zero"
    return f"its vector has length {length:.6f}, not 1"
