"""One vector of several: of the windows of a text that the encoder can't read at once (EX-05)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEAST_LENGTH = 1e-6
"""A shorter mean has no direction but that of rounding."""


def pooled(vectors: NDArray[np.float32], tokens: Sequence[int]) -> NDArray[np.float32]:
    """The mean of unit vectors, each by its tokens, of length one again; shape (dimensions,).

    Args:
        vectors: shape (windows, dimensions), at least one.
        tokens: of each window.

    Raises:
        ValueError: the vectors cancel out: their mean has no direction.
    """
    if len(vectors) == 1:
        return vectors[0]
    mean = np.average(vectors.astype(np.float64), axis=0, weights=tokens)
    length = float(np.linalg.norm(mean))
    if length < LEAST_LENGTH:
        raise ValueError(
            f"the vectors of its {len(vectors)} windows cancel out; declare overflow: vectors or split"
        )
    return (mean / length).astype(np.float32)
