"""The tokenizers that budgets are counted in, each with a name, a version and a vocabulary hash (TK-01).

Two families: byte-pair encodings of tiktoken (through `quicktok`, which carries their ranks), and the word pieces of an
encoder (through `tokenizers`, from the model's own file). Neither needs a network or a library of neural networks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]

BYTE_PAIR_ENCODINGS = ("cl100k_base", "o200k_base")
UNKNOWN_RUN_CHARACTERS = 100
"""A word of more characters is one [UNK] to a word-piece model (TK-06)."""
CHARACTERS_A_TOKEN = 4
"""What such a run counts as instead."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SAFE_IN_BYTE_PAIRS = re.compile(
    # before a line's first word: no piece goes on after a line break, but o200k's punctuation with slashes
    r"(?<=[\r\n])(?=[^\s/])"
    # before a single space between two words: the space begins a piece
    r"|(?<=\S)(?= \S)"
    # before Chinese and Japanese punctuation: a run of letters ends there
    r"|(?<=[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff])(?=[。，！？；：、）」』】》])"
)


class TokenizerNotFound(Exception):
    """A tokenizer that is not installed: says what to do. There is no estimate in its place (SD-16)."""


@dataclass(frozen=True, slots=True)
class TokenOffsets:
    """Where the tokens of a text stand.

    Attributes:
        starts: code point at which each token begins (for a token inside a character, that character); ascending.
        weights: what each token counts as: 1, but for a word piece that stands for a long unknown run (TK-06).
    """

    starts: Offsets
    weights: Offsets


class Tokenizer(Protocol):
    """A named way of counting."""

    name: str
    version: str
    vocabulary_hash: str
    special_tokens: int

    def count(self, text: str) -> int:
        """Tokens of a text, special tokens not included."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        ...

    def encode_offsets(self, text: str) -> TokenOffsets:
        """Where its tokens stand."""
        ...

    def safe_points(self, text: str, offsets: TokenOffsets) -> Offsets:
        """Positions at which cutting changes no count: the counts of both sides add up to that of the whole."""
        ...


class BytePairTokenizer:
    """`cl100k_base` or `o200k_base`, with ids identical to tiktoken's.

    Spellings of special tokens are plain text. A lone surrogate, which has no bytes, counts as U+FFFD does.
    """

    special_tokens = 0

    def __init__(self, name: str) -> None:
        import quicktok  # pyright: ignore[reportMissingTypeStubs]

        self.name = name
        self.version = f"quicktok {version('quicktok-v1')}"
        self._encoding: Any = quicktok.get_encoding(name)
        ranks: list[bytes] = self._encoding.token_byte_values()
        state = hashlib.sha256()
        for token in ranks:
            state.update(len(token).to_bytes(2, "big") + token)
        self.vocabulary_hash = state.hexdigest()
        self._sizes = np.array([len(token) for token in ranks], dtype=np.int64)

    def count(self, text: str) -> int:
        return self._encoding.count(_encodable(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def ids(self, text: str) -> list[int]:
        """Token ids, as tiktoken's `encode_ordinary`."""
        return self._encoding.encode_ordinary(_encodable(text))

    def encode_offsets(self, text: str) -> TokenOffsets:
        clean = _encodable(text)
        ids = np.array(self._encoding.encode_ordinary(clean), dtype=np.int64)
        ends = np.cumsum(self._sizes[ids]) if len(ids) else np.zeros(0, dtype=np.int64)
        begins = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]]) if len(ids) else ends
        octets = np.frombuffer(clean.encode("utf-8"), dtype=np.uint8)
        # The character that a byte belongs to: one less than the number of bytes so far that begin one.
        character = np.cumsum((octets & 0xC0) != 0x80) - 1
        starts = character[begins].astype(np.int64) if len(ids) else begins
        return TokenOffsets(starts, np.ones(len(starts), dtype=np.int64))

    def safe_points(self, text: str, offsets: TokenOffsets) -> Offsets:
        del offsets
        found = [match.start() for match in _SAFE_IN_BYTE_PAIRS.finditer(text)]
        return np.array([0, *(p for p in found if p), len(text)], dtype=np.int64)


class WordPieceTokenizer:
    """An encoder's own tokenizer, from the `tokenizer.json` beside its weights."""

    def __init__(self, file: Path, name: str) -> None:
        from tokenizers import Tokenizer as Pieces

        if not file.is_file():
            raise TokenizerNotFound(
                f"no tokenizer at {file}: name cl100k_base, o200k_base, or the folder of a model with a tokenizer.json"
            )
        data = file.read_bytes()
        try:
            self._pieces = Pieces.from_str(data.decode("utf-8"))
        except Exception as error:  # the library raises Exception itself
            raise TokenizerNotFound(f"{file} is not a tokenizer.json that `tokenizers` reads ({error})") from error
        # The file may ask for padding and truncation: both would count what is not there.
        self._pieces.no_padding()
        self._pieces.no_truncation()
        self.name = name
        self.version = f"tokenizers {version('tokenizers')}"
        self.vocabulary_hash = hashlib.sha256(data).hexdigest()
        self.special_tokens = self._pieces.num_special_tokens_to_add(False)
        unknown: int | None = self._pieces.token_to_id("[UNK]")
        self._unknown = -1 if unknown is None else unknown

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self._weigh(found)[1] for found in self._encode(texts)]

    def encode_offsets(self, text: str) -> TokenOffsets:
        found = self._encode([text])[0]
        places = np.array(found.offsets, dtype=np.int64).reshape(-1, 2)
        return TokenOffsets(places[:, 0].copy(), self._weigh(found)[0])

    def safe_points(self, text: str, offsets: TokenOffsets) -> Offsets:
        # Words are told apart by the characters beside them alone, so the start of a word is safe.
        words = self._encode([text])[0].word_ids
        starts = [int(s) for s, w, b in zip(offsets.starts, words, [None, *words], strict=False) if w != b]
        return np.array(sorted({0, *starts, len(text)}), dtype=np.int64)

    def _encode(self, texts: Sequence[str]) -> list[Any]:
        clean = [_encodable(text) for text in texts]
        return self._pieces.encode_batch(clean, add_special_tokens=False)

    def _weigh(self, found: Any) -> tuple[Offsets, int]:
        ids = np.array(found.ids, dtype=np.int64)
        weights = np.ones(len(ids), dtype=np.int64)
        for at in np.flatnonzero(ids == self._unknown).tolist():
            start, end = found.offsets[at]
            if end - start > UNKNOWN_RUN_CHARACTERS:
                weights[at] = -(-(end - start) // CHARACTERS_A_TOKEN)
        return weights, int(weights.sum())


def _encodable(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def load_tokenizer(name: str, *, path: str | None = None) -> Tokenizer:
    """Load a tokenizer.

    Args:
        name: `cl100k_base`, `o200k_base`, a path to a model's folder or its `tokenizer.json`, or any name with `path`.
        path: where the tokenizer of that name lies.

    Raises:
        TokenizerNotFound: there is none of that name.
    """
    if path is None and name in BYTE_PAIR_ENCODINGS:
        return BytePairTokenizer(name)
    file = Path(path or name)
    return WordPieceTokenizer(file / "tokenizer.json" if file.is_dir() else file, name)
