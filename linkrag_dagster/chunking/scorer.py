"""Scorers: whatever maps texts to vectors that can be compared (SD-00)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.overflow import by_words
from linkrag_dagster.tokens import Tokenizer

Vectors = NDArray[np.floating[Any]]


class Scorer(Protocol):
    """Embeds texts; `linkrag_dagster.embedding.encoder.Encoder` is one.

    Attributes:
        name: what people call it.
        fingerprint: what decides its vectors, as a hash.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (texts, dimensions), in order.

        Raises:
            Exception: one that names an HTTP status, a time-out or a broken connection, or that has an attribute
                `retryable`, fails the document (see `scoring_failures`); any other one is the caller's.
        """
        ...


@dataclass(frozen=True, slots=True)
class FunctionScorer:
    """A plain function as a scorer.

    Attributes:
        function: maps texts to vectors, shape (texts, dimensions).
        name: what people call it.
        fingerprint: what decides its vectors.
    """

    function: Callable[[Sequence[str]], Any]
    name: str
    fingerprint: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (texts, dimensions), in order."""
        return self.function(texts)


def as_scorer(given: object) -> Scorer:
    """A scorer as it is; a plain function made one, known by its module and name.

    Raises:
        TypeError: it is neither.
    """
    if callable(getattr(given, "embed", None)):
        return cast("Scorer", given)
    if callable(given):
        name = getattr(given, "__qualname__", type(given).__qualname__)
        return FunctionScorer(given, str(name), f"{getattr(given, '__module__', '')}.{name}")
    raise TypeError(
        f"{type(given).__name__} is no scorer: give an object with embed(texts), or a function from texts to vectors"
    )


class WindowScorer:
    """A scorer that sees only so many tokens: longer texts are parted, the vector is the mean of the parts' vectors.

    Parts are whole lines or sentences where they fit; each counts by its tokens. Nothing is cut away.

    Args:
        scorer: scores the parts.
        tokenizer: its own tokenizer.
        window: most tokens that it sees, special ones included.
    """

    def __init__(self, scorer: Scorer, tokenizer: Tokenizer, window: int) -> None:
        self.name = scorer.name
        self.fingerprint = scorer.fingerprint
        self._scorer = scorer
        self._tokenizer = tokenizer
        self._room = max(1, window - tokenizer.special_tokens)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (texts, dimensions), in order; raises what the scorer raises."""
        sizes = self._tokenizer.count_many(texts)
        if all(size <= self._room for size in sizes):
            return self._scorer.embed(texts)
        parts = [
            self._parts(text) if size > self._room else [text]
            for text, size in zip(texts, sizes, strict=True)
        ]
        different = list(dict.fromkeys(part for text in parts for part in text))
        vectors = dict(
            zip(different, np.asarray(self._scorer.embed(different), dtype=np.float64), strict=True)
        )
        weights = dict(zip(different, self._tokenizer.count_many(different), strict=True))
        return np.array([_pooled([vectors[p] for p in text], [weights[p] for p in text]) for text in parts])

    def _parts(self, text: str) -> list[str]:
        cuttings = by_words(text, Measure.of(self._tokenizer, text), self._room, "end")
        return [part for c in cuttings if (part := text[c.start : c.end].strip())]


def _pooled(vectors: Sequence[NDArray[np.float64]], weights: Sequence[int]) -> NDArray[np.float64]:
    """Weighted mean, as long as its parts are: a window's mean shall not count a parted text less."""
    if len(vectors) == 1:
        return vectors[0]
    mean = np.average(np.array(vectors), axis=0, weights=weights)
    length = float(np.linalg.norm(mean))
    usual = float(np.average(np.linalg.norm(np.array(vectors), axis=1), weights=weights))
    return mean * (usual / length) if length else mean
