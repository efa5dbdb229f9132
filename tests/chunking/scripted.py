"""Scorers for tests: by script, by hash, and ones that fail."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


class Script:
    """Gives each text the vector of the first word of the script that it holds; keeps what it was asked.

    Args:
        vectors: by word.
    """

    name = "script"
    fingerprint = "script-1"

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors
        self.calls: list[list[str]] = []

    @property
    def asked(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.calls.append(list(texts))
        return np.array([next(v for word, v in self.vectors.items() if word in text) for text in texts])


class Hashed:
    """Random unit vectors that depend on seed and text alone."""

    name = "hashed"

    def __init__(self, seed: int = 0, dimensions: int = 5) -> None:
        self.seed = seed
        self.dimensions = dimensions
        self.fingerprint = f"hashed-{seed}-{dimensions}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        rows: list[NDArray[np.float64]] = []
        for text in texts:
            key = hashlib.sha256(f"{self.seed}:".encode() + text.encode("utf-8", "surrogatepass")).digest()
            row = np.random.default_rng(list(key)).normal(size=self.dimensions)
            rows.append(row / np.linalg.norm(row))
        return np.array(rows)


class Failing(Script):
    """Raises the next of its errors, if one is left, else answers.

    Args:
        vectors: as for `Script`.
        errors: in order of the calls; None for a call that succeeds.
    """

    def __init__(self, vectors: Mapping[str, Sequence[float]], errors: Sequence[Exception | None]) -> None:
        super().__init__(vectors)
        self.errors = list(errors)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        made = super().embed(texts)
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return made
