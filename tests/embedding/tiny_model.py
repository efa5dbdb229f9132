"""Builds a small, real sentence-transformers model offline: another dimension, another window, no download."""
# PyTorch and transformers annotate only parts of what is used here.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

WORDS = (
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "red",
    "blue",
    "query",
    "passage",
    ":",
    ".",
    "one",
    "seven",
)
DIMENSIONS = 32
WINDOW = 16


def build_tiny_model(
    folder: Path,
    *,
    seed: int = 0,
    dimensions: int = DIMENSIONS,
    normalise: bool = True,
    prompts: Mapping[str, str] | None = None,
) -> Path:
    """Save a BERT of one layer with random weights and a word-level tokenizer in `folder`, and return it.

    Vectors have 32 dimensions, or another even number; sequences have at most 16 tokens, two of them special.
    """
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=WINDOW,
    ).save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = BertModel(
            BertConfig(
                vocab_size=len(vocabulary),
                hidden_size=dimensions,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=64,
                max_position_embeddings=64,
            )
        )
    network.save_pretrained(folder)
    steps = [("", "Transformer"), ("1_Pooling", "Pooling")] + (
        [("2_Normalize", "Normalize")] if normalise else []
    )
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(steps)
    ]
    _write(folder / "modules.json", modules)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": WINDOW, "do_lower_case": False})
    _write(
        folder / "config_sentence_transformers.json",
        {"prompts": dict(prompts or {}), "default_prompt_name": None},
    )
    _write(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": dimensions, "pooling_mode_mean_tokens": True},
    )
    return folder


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
