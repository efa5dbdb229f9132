"""What a tokenizer is to this project: counts, offsets, and the places where counts add up (TK-01, TK-02)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_SURROGATE = re.compile("[\ud800-\udfff]")


class TokenizerNotFound(LookupError):
    """No tokenizer of that name or at that path. The message says which ones there are and what to do."""


@dataclass(frozen=True, slots=True)
class TokenOffsets:
    """Where each token of a text stands, in code points, half-open.

    A token that holds only some bytes of a code point covers that whole code point, so neighbours may
    overlap there: between tokens k and k + 1 lies a token boundary only if `starts[k + 1] >= ends[k]`.

    Attributes:
        starts: int64, shape (tokens,): first code point of each token.
        ends: int64, shape (tokens,): one past the last code point of each token.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends)


class Tokenizer(Protocol):
    """Counts text in the tokens of one named vocabulary.

    Every method takes any Python string. A lone surrogate, which no vocabulary can hold, counts as
    U+FFFD does; spellings of special tokens (`<|endoftext|>`, `[SEP]`) are plain text (TK-01).
    """

    @property
    def name(self) -> str:
        """The declared name, such as `cl100k_base`."""
        ...

    @property
    def version(self) -> str:
        """Library and version that encodes, such as `quicktok-v1 0.4.0`."""
        ...

    @property
    def vocabulary_hash(self) -> str:
        """SHA-256 of the vocabulary, in hexadecimal."""
        ...

    @property
    def special_tokens(self) -> int:
        """Tokens that an encoder adds to each sequence; no count here includes them."""
        ...

    @property
    def densest(self) -> int:
        """Tokens that no code point has more of, in any text: `count(text) <= densest * len(text)`."""
        ...

    def count(self, text: str) -> int:
        """Number of tokens of `text` encoded alone."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each text, in order."""
        ...

    def encode_offsets(self, text: str) -> TokenOffsets:
        """Offsets of the tokens of `text`; as many as `count(text)`."""
        ...

    def safe_cuts(self, text: str) -> NDArray[np.int64]:
        """Ascending positions p inside `text` at which counts add up, whatever surrounds them.

        For every slice that holds p: `count(text[a:b]) == count(text[a:p]) + count(text[p:b])`.
        Shape (cuts,), int64; empty where the vocabulary's rules promise nothing.
        """
        ...

    def count_between(self, text: str, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens between consecutive positions, all but the outermost of which are safe cuts of `text`.

        Args:
            text: any text.
            cuts: ascending, shape (n + 1,), n at least 1, from 0 to `len(text)`.

        Returns:
            int64, shape (n,).
        """
        ...


def well_formed(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD: same length, encodable. For counting only."""
    try:
        text.encode("utf-8")  # quicker than to look for one
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def code_points(text: str) -> NDArray[np.uint32]:
    """The code points of well-formed `text`, shape (len(text),)."""
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
