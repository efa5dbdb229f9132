"""What can be wrong with a model or with what it is given; each message says what to do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


class ModelError(Exception):
    """A model's folder lacks something, or asks for something that is not supported."""


class ModelNotFound(ModelError):
    """No installed package and no folder holds the declared model."""


class ModelCorrupt(ModelError):
    """The weights of a known model are not the published ones."""


class TextsRefused(Exception):
    """Some texts of a call have no usable vector.

    Attributes:
        problems: what is wrong, by position in the call.
        vectors: float32, shape (texts, dimensions), the vectors of all texts of the call, where the bad ones were
            found after the work was done; None where they were found before, and nothing was computed.
    """

    def __init__(self, problems: Mapping[int, str], vectors: NDArray[np.float32] | None = None) -> None:
        first = min(problems)
        super().__init__(
            f"{len(problems)} text(s) can't be embedded; the first, at position {first}: {problems[first]}"
        )
        self.problems = problems
        self.vectors = vectors


class TextTooLong(TextsRefused):
    """Some texts exceed the model's window; nothing was computed and nothing was cut (EM-05)."""


class BadVectors(TextsRefused):
    """The model gave some texts a vector that is not finite or not of unit length (DE-01)."""
