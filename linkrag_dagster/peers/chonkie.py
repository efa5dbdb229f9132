"""chonkie: recursive, by sentences, and by meaning with the experiment's own encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.peers.peer import PeerTools, Size, Split, library

PACKAGE = "chonkie"


def recursive(size: Size, tools: PeerTools) -> Split:
    """`RecursiveChunker` with its own rules."""
    return _texts(library("chonkie", PACKAGE).RecursiveChunker(_tokenizer(size, tools), size.amount))


def sentence(size: Size, tools: PeerTools) -> Split:
    """`SentenceChunker` with its own delimiters, without overlap."""
    return _texts(library("chonkie", PACKAGE).SentenceChunker(_tokenizer(size, tools), size.amount, 0))


def semantic(size: Size, tools: PeerTools) -> Split:
    """`SemanticChunker` with its own threshold and filter."""
    base: Any = library("chonkie.embeddings", PACKAGE).BaseEmbeddings

    class Lent(base):
        """The experiment's encoder, as the library wants one."""

        dimension = tools.dimensions

        def embed(self, text: str) -> NDArray[np.float32]:
            return tools.embed([text])[0]

        def embed_batch(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
            return list(tools.embed(texts))

        def get_tokenizer(self) -> Any:
            return _tokenizer(size, tools)

        def __repr__(self) -> str:
            return "Lent()"

    return _texts(library("chonkie", PACKAGE).SemanticChunker(Lent(), chunk_size=size.amount))


def _texts(chunker: Any) -> Split:
    def split(text: str) -> list[str]:
        return [chunk.text for chunk in chunker.chunk(text)]

    return split


def _tokenizer(size: Size, tools: PeerTools) -> Any:
    """Tokens that are slices of the text, so that what is put together again from tokens is the text.

    Decoding word pieces would give other letters than the source has, and those chunks would be found nowhere.
    """
    if not size.in_tokens:
        return "character"
    base: Any = library("chonkie.tokenizer", PACKAGE).Tokenizer

    class Slices(base):
        """The budget's tokenizer, as the library wants one."""

        def __init__(self) -> None:
            self._numbers: dict[str, int] = {}
            self._slices: list[str] = []

        def tokenize(self, text: str) -> list[str]:
            return tools.pieces(text)

        def encode(self, text: str) -> list[int]:
            made: list[int] = []
            for piece in tools.pieces(text):
                number = self._numbers.setdefault(piece, len(self._slices))
                if number == len(self._slices):
                    self._slices.append(piece)
                made.append(number)
            return made

        def decode(self, tokens: Sequence[int]) -> str:
            return "".join(self._slices[token] for token in tokens)

        def count_tokens(self, text: str) -> int:
            return tools.count(text)

        def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
            return [self.encode(text) for text in texts]

        def decode_batch(self, token_sequences: Sequence[Sequence[int]]) -> list[str]:
            return [self.decode(tokens) for tokens in token_sequences]

        def count_tokens_batch(self, texts: Sequence[str]) -> list[int]:
            return [tools.count(text) for text in texts]

        def __repr__(self) -> str:
            return "Slices()"

    return Slices()
