"""Hugging Face vocabularies from a `tokenizer.json`, through `tokenizers` alone (TK-01, TK-06)."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import unicodedata
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray

from linkrag_dagster.tokens.tokenizer import TokenOffsets, code_points, well_formed

CHARACTERS_PER_TOKEN = 4
"""What a run that the model sees as one [UNK] costs in our budget: one token for each four code points."""

# A code point grows to at most four in BERT's normal form, so shorter words cannot pass the limit.
_GROWTH = 4
# No code point has more tokens: U+FDFA, the longest when normalised, has 33 bytes.
_DENSEST = 64
# Counts of words kept between calls; far more than the distinct words of one block of text.
_REMEMBERED_WORDS = 1 << 18
# Code points of what comes again and again where words meet, such as a full stop before an empty line.
_SHORT = 16


class WordPieceTokenizer:
    """A `tokenizer.json` that counts as its model does, save for overlong words (TK-06).

    A word-piece model turns a word of more than `max_input_chars_per_word` characters (100) into one
    [UNK], whatever its length. Here such a word counts as one token for each four code points, in
    `count` and `encode_offsets` alike, so that a budget bounds it and a cut may enter it. All other
    counts are the model's own. Truncation and padding of the file are off.

    Args:
        name: the name that rows record.
        file: path of a `tokenizer.json`.

    Raises:
        ValueError: the file is no tokenizer description.
    """

    def __init__(self, name: str, file: Path) -> None:
        data = file.read_bytes()
        try:
            description: dict[str, Any] = json.loads(data)
            model = tokenizers.Tokenizer.from_str(data.decode("utf-8"))
        except Exception as error:  # tokenizers raises bare Exception for a description it cannot read
            raise ValueError(
                f"{file} is no tokenizer description ({error}); give a Hugging Face tokenizer.json"
            ) from error
        model.no_truncation()
        model.no_padding()
        model.encode_special_tokens = True
        self.name = name
        self.version = f"tokenizers {importlib.metadata.version('tokenizers')}"
        self.vocabulary_hash = hashlib.sha256(data).hexdigest()
        self.special_tokens: int = model.num_special_tokens_to_add(False)
        self.densest = _DENSEST
        self._model = model
        self._words: dict[str, int] = {}
        parts: dict[str, Any] = description["model"]
        pieces = parts.get("type") == "WordPiece"
        self._longest_word: int | None = parts.get("max_input_chars_per_word", 100) if pieces else None
        self._unknown: int | None = model.token_to_id(parts.get("unk_token", "[UNK]")) if pieces else None
        normalizer: dict[str, Any] = description.get("normalizer") or {}
        splitter: dict[str, Any] = description.get("pre_tokenizer") or {}
        added: list[dict[str, Any]] = description.get("added_tokens") or []
        self._splits_words = (
            pieces
            and normalizer.get("type") == "BertNormalizer"
            and splitter.get("type") == "BertPreTokenizer"
            and all(token["special"] for token in added)
        )
        self._splits_ideographs = bool(normalizer.get("handle_chinese_chars"))

    @cached_property
    def _breaks(self) -> NDArray[np.bool_]:
        return _word_breaks(ideographs=self._splits_ideographs)

    def count(self, text: str) -> int:
        """Number of tokens of `text` encoded alone, without special tokens; overlong words by TK-06."""
        known = self._words.get(text)
        if known is not None:
            return known
        if len(text) > _SHORT and self._splits_words:  # most of its words are known
            inner = self.safe_cuts(text)
            if len(inner):
                return int(self.count_between(text, np.concatenate(((0,), inner, (len(text),)))).sum())
        (found,) = self._counted([text])
        if len(text) <= _SHORT and len(self._words) < _REMEMBERED_WORDS:
            self._words[text] = found
        return found

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each text, in order."""
        return [self.count(text) for text in texts] if self._splits_words else self._counted(texts)

    def _counted(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model encodes it, but for overlong words."""
        clean = [well_formed(text) for text in texts]
        if len(clean) == 1:
            encodings = [self._encode(clean[0])]
        else:
            encodings = self._model.encode_batch(clean, add_special_tokens=False)
        return [
            len(encoding) + sum(extra for _, extra in self._overlong(encoding, text))
            for encoding, text in zip(encodings, clean, strict=True)
        ]

    def encode_offsets(self, text: str) -> TokenOffsets:
        """Offsets of the tokens of `text`, in code points; an overlong word in steps of four."""
        text = well_formed(text)
        encoding = self._encode(text)
        spans = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        starts, ends = spans[:, 0], spans[:, 1]
        overlong = list(self._overlong(encoding, text))
        if not overlong:
            return TokenOffsets(starts, ends)
        firsts: list[NDArray[np.int64]] = []
        lasts: list[NDArray[np.int64]] = []
        done = 0
        for index, _ in overlong:
            steps = np.arange(starts[index], ends[index], CHARACTERS_PER_TOKEN, dtype=np.int64)
            firsts += [starts[done:index], steps]
            lasts += [ends[done:index], np.append(steps[1:], ends[index])]
            done = index + 1
        firsts.append(starts[done:])
        lasts.append(ends[done:])
        return TokenOffsets(np.concatenate(firsts), np.concatenate(lasts))

    def safe_cuts(self, text: str) -> NDArray[np.int64]:
        """Positions beside a character that always ends a word: blank, punctuation, ideograph.

        BERT encodes word by word and looks at one character at a time, so counts add up there. Nothing is
        promised for vocabularies that split otherwise.
        """
        if not self._splits_words or len(text) < 2:
            return np.empty(0, dtype=np.int64)
        breaks = self._breaks[code_points(well_formed(text))]
        return np.flatnonzero(breaks[:-1] | breaks[1:]).astype(np.int64) + 1

    def count_between(self, text: str, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens between consecutive cuts: each different word is encoded once."""
        text = well_formed(text)
        places: list[int] = cuts.tolist()
        words = [text[start:end] for start, end in pairwise(places)]
        fresh = [word for word in dict.fromkeys(words) if word not in self._words]
        if len(self._words) + len(fresh) > _REMEMBERED_WORDS:
            self._words.clear()
            fresh = list(dict.fromkeys(words))
        self._words.update(zip(fresh, self._counted(fresh), strict=True))
        return np.fromiter(map(self._words.__getitem__, words), dtype=np.int64, count=len(words))

    def _encode(self, text: str) -> tokenizers.Encoding:
        return self._model.encode(text, add_special_tokens=False)

    def _overlong(self, encoding: tokenizers.Encoding, text: str) -> list[tuple[int, int]]:
        """Index of each overlong word's token, and the tokens that it costs beyond the one."""
        ids = encoding.ids
        if self._unknown is None or self._longest_word is None or self._unknown not in ids:
            return []
        offsets = encoding.offsets
        found: list[tuple[int, int]] = []
        for index, token in enumerate(ids):
            if token != self._unknown:
                continue
            start, end = offsets[index]
            if (end - start) * _GROWTH > self._longest_word and self._too_long(text[start:end]):
                found.append((index, -(-(end - start) // CHARACTERS_PER_TOKEN) - 1))
        return found

    def _too_long(self, word: str) -> bool:
        normalizer = self._model.normalizer
        plain = word if normalizer is None else normalizer.normalize_str(well_formed(word))
        return self._longest_word is not None and len(plain) > self._longest_word


@cache
def _word_breaks(*, ideographs: bool) -> NDArray[np.bool_]:
    """Whether each code point surely is a word of its own or a blank to BERT, shape (0x110000,).

    Left out, though BERT may split there: controls (deleted before words are found), characters that
    decompose, and those whose category libraries of different ages disagree on.
    """
    table = np.zeros(0x110000, dtype=np.bool_)
    table[[ord(blank) for blank in "\t\n\r \u00a0\u3000"]] = True
    for code in range(0x21, 0x10000):
        character = chr(code)
        if character.isascii():
            table[code] = not character.isalnum() and character != "\x7f"
        elif (
            unicodedata.category(character)[0] == "P"
            and unicodedata.ucd_3_2_0.category(character)[0] == "P"
            and not unicodedata.decomposition(character)
        ):
            table[code] = True
    if ideographs:
        table[0x3400:0x4DB6] = True
        table[0x4E00:0x9FA6] = True
    table.setflags(write=False)
    return table
