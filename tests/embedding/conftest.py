"""Models for the tests of embedding: the default one and a tiny one, each resolved once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkrag_dagster.embedding.model import ModelIdentity, resolve_model
from tests.embedding.tiny_model import build_tiny_model


@pytest.fixture(scope="session")
def minilm() -> ModelIdentity:
    """The default model, from its package."""
    return resolve_model("all-MiniLM-L6-v2")


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 32 dimensions and a window of 16 tokens that makes unit vectors. Not to be changed."""
    return build_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path) -> ModelIdentity:
    """The tiny model's identity."""
    return resolve_model(str(tiny_folder))


@pytest.fixture(scope="session")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> ModelIdentity:
    """A tiny model with prompts, whose own vectors are not of unit length."""
    prompts = {"query": "query : ", "document": "passage : "}
    folder = build_tiny_model(
        tmp_path_factory.mktemp("models") / "prompted", normalise=False, prompts=prompts
    )
    return resolve_model(str(folder))
