"""Vectors of scored texts: each text once, in batches, a failing batch tried again by itself (SD-00, SD-15)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.chunking.scorer import Scorer
from linkrag_dagster.chunking.scoring_failures import ScoringError, is_transient

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Retries:
    """How a batch is tried again.

    Attributes:
        more: tries after the first.
        backoff: seconds before the second try; each further wait is twice as long.
        sleep: waits that many seconds.
    """

    more: int = 2
    backoff: float = 0.5
    sleep: Callable[[float], None] = time.sleep

    def run(self, call: Callable[[], Made], what: str) -> Made:
        """The call's result.

        Args:
            call: what is tried.
            what: its name in messages.

        Raises:
            ScoringError: a service's failure; retryable where all tries met one that may pass.
            Exception: what no service explains, at once and as it is.
        """
        attempt = 0
        while True:
            try:
                return call()
            except Exception as error:
                transient = is_transient(error)
                if transient is None:
                    raise
                if transient and attempt < self.more:
                    self.sleep(self.backoff * 2**attempt)
                    attempt += 1
                    continue
                if isinstance(error, ScoringError):
                    raise
                again = (
                    "build again later" if transient else "see the scorer's model, its access and its limits"
                )
                tries = f"after {attempt + 1} tries" if attempt else "at the first try"
                raise ScoringError(
                    f"{what} failed {tries}: {type(error).__name__}: {error}; {again}",
                    retryable=transient,
                ) from error


def text_vectors(
    texts: Sequence[str], scorer: Scorer, *, batch: int = 10, retries: Retries | None = None
) -> dict[str, NDArray[np.float64]]:
    """The vector, shape (dimensions,), of each different text.

    Args:
        texts: any number; none calls nothing.
        scorer: embeds them.
        batch: texts of a call.
        retries: how a failing batch is tried again.

    Raises:
        ScoringError: a batch failed, or came back as another number of vectors, or as no numbers.
    """
    retries = retries or Retries()
    different = list(dict.fromkeys(texts))
    vectors: dict[str, NDArray[np.float64]] = {}
    dimensions: int | None = None
    for start in range(0, len(different), batch):
        part = different[start : start + batch]
        what = f"scoring texts {start + 1} to {start + len(part)} of {len(different)} by {scorer.name}"

        def ask(part: Sequence[str] = part) -> Any:
            return scorer.embed(part)

        made = _checked(retries.run(ask, what), len(part), dimensions, what)
        dimensions = made.shape[1]
        vectors.update(zip(part, made, strict=True))
    return vectors


def _checked(made: Any, texts: int, dimensions: int | None, what: str) -> NDArray[np.float64]:
    """What the scorer gave as numbers, shape (texts, dimensions)."""
    try:
        vectors = np.asarray(made, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ScoringError(
            f"{what} gave no table of numbers ({error}); give one vector of one length for each text",
            retryable=False,
        ) from error
    if vectors.ndim != 2 or vectors.shape[0] != texts or vectors.shape[1] != (dimensions or vectors.shape[1]):
        raise ScoringError(
            f"{what} gave vectors of shape {vectors.shape}; "
            f"({texts}, {dimensions or 'dimensions'}) was asked for: give one vector of one length for each text",
            retryable=False,
        )
    if not np.isfinite(vectors).all():
        raise ScoringError(
            f"{what} gave a vector with NaN or infinity; see the scorer's model", retryable=False
        )
    return vectors


Vectors = Mapping[str, NDArray[np.float64]]
