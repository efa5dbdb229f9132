"""Tokenizers by name and path: identity, plain text, overlong words (TK-01, TK-06)."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from linkrag_dagster.tokens import Tokenizer, TokenizerNotFound, load_tokenizer


def test_a_tokenizer_is_named_with_version_and_hash(
    cl100k: Tokenizer, o200k: Tokenizer, word_pieces: Tokenizer, model_folder: Path
) -> None:
    """TK-01. The byte-pair hashes are those that OpenAI published for its rank files."""
    assert (cl100k.name, o200k.name, word_pieces.name) == ("cl100k_base", "o200k_base", "minilm")
    assert cl100k.vocabulary_hash == "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
    assert o200k.vocabulary_hash == "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
    file = model_folder / "tokenizer.json"
    assert word_pieces.vocabulary_hash == hashlib.sha256(file.read_bytes()).hexdigest()
    assert cl100k.version.startswith("quicktok-v1 ")
    assert word_pieces.version.startswith("tokenizers ")


def test_special_tokens_are_told_but_not_counted(cl100k: Tokenizer, word_pieces: Tokenizer) -> None:
    """TK-05: what an encoder adds to each sequence is subtracted from its window."""
    assert cl100k.special_tokens == 0
    assert word_pieces.special_tokens == 2
    assert word_pieces.count("hello") == 1


@pytest.mark.parametrize("name", ["p50k_base", "no/such/folder"])
def test_a_missing_tokenizer_is_an_error_that_says_what_to_do(name: str) -> None:
    """TK-01: there is no estimate to fall back on."""
    with pytest.raises(TokenizerNotFound, match=r"cl100k_base or o200k_base.*tokenizer\.json"):
        load_tokenizer(name)


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path: Path) -> None:
    """TK-01."""
    with pytest.raises(TokenizerNotFound, match=r"tokenizer\.json is not a file"):
        load_tokenizer("encoder", path=str(tmp_path))


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json is no tokenizer description"):
        load_tokenizer("encoder", path=str(tmp_path))


def test_without_a_name_of_its_own_a_tokenizer_has_its_folders(model_folder: Path) -> None:
    assert load_tokenizer(str(model_folder)).name == model_folder.name
    assert load_tokenizer(str(model_folder / "tokenizer.json")).name == model_folder.name


def test_loading_imports_no_library_of_neural_networks(model_folder: Path) -> None:
    """TK-01: budgets need neither torch nor transformers."""
    code = (
        "import sys; from linkrag_dagster.tokens import load_tokenizer; "
        f"load_tokenizer('cl100k_base').count('a'); load_tokenizer({str(model_folder)!r}).count('a'); "
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    repository = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=repository, check=False).returncode == 0


@pytest.mark.parametrize("spelling", ["<|endoftext|>", "<|fim_prefix|>", "[SEP]", "[CLS]", "[UNK]"])
def test_spellings_of_special_tokens_are_plain_text(tokenizer: Tokenizer, spelling: str) -> None:
    """TK-01: a text about tokenizers costs what its characters cost."""
    assert tokenizer.count(spelling) >= 3
    assert tokenizer.count(f"a {spelling} b") >= 5


def test_a_lone_surrogate_counts_as_the_replacement_character(tokenizer: Tokenizer) -> None:
    """TK-01: quicktok rejects lone surrogates; no document fails for one."""
    for text in ("a\ud800b", "\udfff", "天\ud83d气", "\ud800\ud800"):
        plain = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
        assert tokenizer.count(text) == tokenizer.count(plain)
        assert tokenizer.encode_offsets(text).ends.tolist() == tokenizer.encode_offsets(plain).ends.tolist()
    assert tokenizer.count_many(["a\ud800", "b"]) == [tokenizer.count("a\ufffd"), tokenizer.count("b")]


def test_offsets_are_code_points(cl100k: Tokenizer) -> None:
    """An emoji of two tokens gives two that cover it: no boundary lies between them (TK-03)."""
    text = "é, 天气😀 ok"
    offsets = cl100k.encode_offsets(text)
    assert len(offsets) == cl100k.count(text)
    assert offsets.starts[0] == 0
    assert offsets.ends[-1] == len(text)
    inside = [k for k in range(len(offsets) - 1) if offsets.starts[k + 1] < offsets.ends[k]]
    assert inside
    assert all(text[offsets.starts[k + 1]] in "天气😀" for k in inside)


def test_truncation_and_padding_of_the_file_are_off(word_pieces: Tokenizer, model_folder: Path) -> None:
    """The model's file asks for both: 128 tokens for every text."""
    settings = json.loads((model_folder / "tokenizer.json").read_text(encoding="utf-8"))
    assert settings["truncation"] and settings["padding"]
    assert word_pieces.count("word " * 1000) == 1000
    assert word_pieces.count("") == 0


@pytest.mark.parametrize(("length", "tokens"), [(101, 26), (104, 26), (105, 27), (100_000, 25_000)])
def test_an_overlong_word_counts_by_characters(word_pieces: Tokenizer, length: int, tokens: int) -> None:
    """TK-06: the model makes one [UNK] of it, whatever its length."""
    text = "before " + "x" * length + " after"
    assert word_pieces.count(text) == tokens + 2
    offsets = word_pieces.encode_offsets(text)
    assert len(offsets) == tokens + 2
    assert offsets.starts[1] == 7 and offsets.ends[-2] == 7 + length
    assert (offsets.starts[2:-1] == offsets.ends[1:-2]).all()


def test_words_of_a_hundred_and_unknown_characters_count_as_the_model_does(word_pieces: Tokenizer) -> None:
    """TK-06 changes nothing else: an unknown short word is one token."""
    assert word_pieces.count("😀") == 1
    assert word_pieces.count("𝔞𝔟𝔠𝔡𝔢𝔣𝔤𝔥") == 1
    assert word_pieces.count("é" * 100) > 26


def test_length_is_that_of_the_normal_form(word_pieces: Tokenizer) -> None:
    """TK-06: fifty Hangul syllables decompose to more than a hundred letters, one [UNK] to the model."""
    assert word_pieces.count("한" * 50) == 13


def test_no_code_point_has_more_tokens_than_the_densest(tokenizer: Tokenizer) -> None:
    """TK-02: what bounds the tokens of a short slice without counting it."""
    codes = (*range(0xD800), *range(0xE000, 0x10000, 5), *range(0x10000, 0x110000, 997))
    counts = tokenizer.count_many([chr(code) for code in codes])
    assert max(counts) <= tokenizer.densest
    assert tokenizer.count("\ufdfa" * 50) <= 50 * tokenizer.densest
