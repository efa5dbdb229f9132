"""The byte-pair vocabularies `cl100k_base` and `o200k_base`, offline through quicktok (TK-01, TK-02)."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import unicodedata
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
import quicktok  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray

from linkrag_dagster.tokens.tokenizer import TokenOffsets, code_points, well_formed

# Code points below which a list of ids is quicker made than an array of them.
_SHORT = 256
# Classes of code points, as the two vocabularies' splitting expressions tell them apart.
_UNKNOWN, _LETTER, _NUMBER, _BLANK, _NEWLINE, _OTHER, _APOSTROPHE, _SLASH, _MARK = range(9)
_CLASSES = 9
_OF_CATEGORY = {"L": _LETTER, "N": _NUMBER, "Z": _BLANK, "M": _MARK, "P": _OTHER, "S": _OTHER, "C": _OTHER}
# Ranges whose characters have kept their category since they were assigned; elsewhere nothing is promised.
_SETTLED = (range(0x0000, 0xD800), range(0xF900, 0x10000), range(0x1F000, 0x1FB00), range(0x20000, 0x2A6DE))
_BLANK_CONTROLS = frozenset("\t\x0b\x0c\x85")
_DOUBTFUL_CONTROLS = frozenset("\x1c\x1d\x1e\x1f")


class BytePairTokenizer:
    """A byte-pair vocabulary whose ids equal tiktoken's; nothing is read from the network.

    Args:
        name: `cl100k_base` or `o200k_base`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.version = f"quicktok-v1 {importlib.metadata.version('quicktok-v1')}"
        self.special_tokens = 0
        self.densest = 4  # bytes of a code point in UTF-8; a token has one at least
        self._encoding = cast(Any, quicktok).get_encoding(name)  # the library has no types
        self._counted: Callable[[str], int] = self._encoding.count
        # By id; the library's own list of values is sorted, not in the order of ids.
        ranks = range(len(self._encoding.token_byte_values()))
        values: list[bytes] = [self._encoding.decode_single_token_bytes(rank) for rank in ranks]
        self.vocabulary_hash = _hash(values)
        self._lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
        # Whether a pair of classes holds a safe cut, for bytes.translate: quicker than to look an array up.
        self._joins = _safe_pairs(name).tobytes().ljust(256, b"\0")

    @cached_property
    def _classes(self) -> NDArray[np.uint8]:
        return _class_table()

    @cached_property
    def _ascii_classes(self) -> bytes:
        return self._classes[:256].tobytes()

    def count(self, text: str) -> int:
        """Number of tokens of `text` encoded alone."""
        try:
            return self._counted(text)
        except TypeError:  # what quicktok answers to a lone surrogate
            return self._counted(well_formed(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each text, in order."""
        try:
            return list(map(self._counted, texts))
        except TypeError:  # as for `count`
            return [self.count(text) for text in texts]

    def encode_offsets(self, text: str) -> TokenOffsets:
        """Offsets of the tokens of `text`, in code points."""
        text = well_formed(text)
        if len(text) < _SHORT:
            ids = np.array(self._encoding.encode_ordinary(text), dtype=np.uint32)
        else:
            ids = self._encoding.encode_batch([text], 1)[0]
        lengths = self._lengths[ids]
        ends = lengths.cumsum()
        starts = ends - lengths
        if text.isascii():
            return TokenOffsets(starts, ends)
        data = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
        # Code points begun up to and including each byte.
        begun = np.cumsum((data & 0xC0) != 0x80, dtype=np.int64)
        return TokenOffsets(begun[starts] - 1, begun[ends - 1])

    def safe_cuts(self, text: str) -> NDArray[np.int64]:
        """Positions at which counts add up in every slice (see `_safe_pairs`)."""
        if len(text) < 2:
            return np.empty(0, dtype=np.int64)
        if text.isascii():
            kinds = np.frombuffer(text.encode("ascii").translate(self._ascii_classes), dtype=np.uint8)
        else:
            kinds = self._classes.take(code_points(well_formed(text)))
        pairs = kinds[:-1] * np.uint8(_CLASSES) + kinds[1:]
        return np.flatnonzero(np.frombuffer(pairs.tobytes().translate(self._joins), dtype=np.bool_)) + 1

    def count_between(self, text: str, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens between consecutive cuts: the text is encoded once, as a whole."""
        text = well_formed(text)
        ids: NDArray[np.uint32] = self._encoding.encode_batch([text], 1)[0]
        ends = self._lengths.take(ids).cumsum()
        size = int(ends[-1]) if len(ends) else 0
        if size > len(text):
            data = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
            cuts = np.append(np.flatnonzero((data & 0xC0) != 0x80), size)[cuts]
        wanted = np.zeros(size + 1, dtype=np.bool_)
        wanted[cuts] = True
        # A token ends at every safe cut: the numbers of those tokens are what is counted up to each.
        ended = np.flatnonzero(wanted[ends]) + 1
        return np.diff(ended, prepend=0)


def _hash(values: list[bytes]) -> str:
    """SHA-256 of the ranks, written as OpenAI's own `.tiktoken` file writes them."""
    lines = (b"%b %d\n" % (base64.b64encode(value), rank) for rank, value in enumerate(values))
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _class_table() -> NDArray[np.uint8]:
    """Class of every code point, shape (0x110000,)."""
    table = np.full(0x110000, _UNKNOWN, dtype=np.uint8)
    for settled in _SETTLED:
        for code in settled:
            table[code] = _class_of(chr(code))
    return table


def _class_of(character: str) -> int:
    if character in "\r\n":
        return _NEWLINE
    if character in _BLANK_CONTROLS:
        return _BLANK
    if character in _DOUBTFUL_CONTROLS:
        return _UNKNOWN
    if character == "'":
        return _APOSTROPHE
    if character == "/":
        return _SLASH
    category = unicodedata.category(character)
    if category == "Cn":
        return _UNKNOWN
    before = unicodedata.ucd_3_2_0.category(character)
    if before != "Cn" and before[0] != category[0] and _OF_CATEGORY[before[0]] != _OF_CATEGORY[category[0]]:
        return _UNKNOWN  # libraries of different ages disagree
    return _OF_CATEGORY[category[0]]


def _safe_pairs(name: str) -> NDArray[np.bool_]:
    r"""Whether a cut between two classes of code points is safe in every slice, shape (classes, classes).

    Both vocabularies split the text by an expression without look-behind and encode each match alone. So
    counts add up at p whenever no match can hold the characters on both sides of p and no match before
    p looks past it:

    - letter, then anything that cannot continue the word (o200k words also take marks and `'s`);
    - number, then anything else: numbers stand alone, in threes counted from their start;
    - other, then a number or a blank (not a line break, which joins punctuation, nor a letter, which
      takes one character before it along);
    - line break, then anything but white space: `\s*[\r\n]+` takes blanks up to the last break
      (o200k's punctuation also takes slashes after breaks).

    A blank before something is never safe: how a run of blanks splits depends on what follows it.
    """
    safe = np.zeros((_CLASSES, _CLASSES), dtype=np.bool_)
    others = [_OTHER, _APOSTROPHE, _SLASH, _MARK]
    safe[_LETTER, [_NUMBER, _BLANK, _NEWLINE, *others]] = True
    safe[_NUMBER, [_LETTER, _BLANK, _NEWLINE, *others]] = True
    for left in others:
        safe[left, [_NUMBER, _BLANK]] = True
    safe[_NEWLINE, [_LETTER, _NUMBER, *others]] = True
    if name == "o200k_base":
        safe[_LETTER, [_MARK, _APOSTROPHE]] = False
        safe[_NEWLINE, _SLASH] = False
    return safe
