"""The encoder gives what the model's own library gives and refuses the rest: EM-02 to EM-05, EM-07, DE-01."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linkrag_dagster.embedding import encoder as module
from linkrag_dagster.embedding.encoder import BadVectors, Encoder, TextTooLong, threads_for
from linkrag_dagster.embedding.loading import load_model
from linkrag_dagster.embedding.model import ModelIdentity, resolve_model
from linkrag_dagster.tokens import load_tokenizer
from tests.embedding.tiny_model import build_tiny_model

TEXTS = [
    "A part number such as R-17 is found whole.",
    "",
    "短い文。中文也可以。",
    "word " * 200,
    "A part number such as R-17 is found whole.",
    "naïve café – ﬁne",
    *(f"Sentence {n} " + "goes on and on " * n for n in range(12)),
]


def test_vectors_equal_those_of_the_library_in_order(minilm: ModelIdentity) -> None:
    """EM-02, DE-01: deduplicated, sorted and packed, they come back in order, of unit length, in float32."""
    vectors = Encoder(minilm, threads=2).embed(TEXTS)
    expected = load_model(minilm, "cpu").encode(TEXTS, show_progress_bar=False)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(vectors[0], vectors[4])


def test_progress_counts_each_different_text_once_in_the_models_tokens(minilm: ModelIdentity) -> None:
    """EM-02, EM-05: the tokens are those that the tokenizer of the budget counts, with two special ones."""
    seen: list[tuple[int, int]] = []
    texts = [*TEXTS, "a document that spells [SEP] and [CLS]", "a lone \ud800 surrogate"]
    Encoder(minilm, threads=2).embed(texts, lambda done, tokens: seen.append((done, tokens)))
    tokenizer = load_tokenizer("encoder", path=minilm.folder)
    different = list(dict.fromkeys(texts))
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] == (len(different), sum(tokenizer.count(text) + 2 for text in different))


def test_a_text_over_the_window_is_refused_before_anything_is_loaded(
    tiny: ModelIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EM-05, EM-07: never cut in silence."""
    monkeypatch.setattr(module, "load_model", _no_load)
    fits, too_long = "cat " * 14, "cat " * 15
    with pytest.raises(TextTooLong, match=r"17 tokens .*window of .* 16") as caught:
        Encoder(tiny).embed([fits, too_long, "dog", too_long])
    assert sorted(caught.value.problems) == [1, 3]
    assert caught.value.vectors is None


def test_cutting_is_done_only_when_asked_for(tiny: ModelIdentity) -> None:
    """EM-05: the beginning of the text, as the library cuts it."""
    texts = ["cat dog " * 20, "dog"]
    vectors = Encoder(tiny, overlong="truncate").embed(texts)
    np.testing.assert_allclose(
        vectors, load_model(tiny, "cpu").encode(texts, show_progress_bar=False), atol=1e-6
    )
    np.testing.assert_allclose(vectors[0], Encoder(tiny).embed(["cat dog " * 7])[0], atol=1e-6)


def test_nothing_to_embed_loads_nothing_and_two_encoders_share_one_load(
    tiny: ModelIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EM-07."""
    assert load_model(tiny, "cpu") is load_model(tiny, "cpu")
    monkeypatch.setattr(module, "load_model", _no_load)
    assert Encoder(tiny).embed([]).shape == (0, 32)
    with pytest.raises(AssertionError, match="loaded"):
        Encoder(tiny).embed(["cat"])


def test_threads_are_set_explicitly(tiny: ModelIdentity) -> None:
    """EM-04: cores divided by concurrent steps, never fewer than one."""
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            Encoder(tiny, threads=threads).embed(["cat"])
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    cores = os.cpu_count() or 1
    assert Encoder(tiny).threads == threads_for() == cores
    assert threads_for(cores) == threads_for(10 * cores) == 1
    with pytest.raises(ValueError, match="at least 1"):
        Encoder(tiny, threads=0)


def test_prompts_are_put_before_texts_and_vectors_brought_to_unit_length(prompted: ModelIdentity) -> None:
    """EM-01, DE-01: as `encode_document` and `encode_query` do."""
    encoder, library = Encoder(prompted), load_model(prompted, "cpu")
    options: dict[str, Any] = {"show_progress_bar": False, "normalize_embeddings": True}
    document, query = encoder.embed(["the red cat"])[0], encoder.embed_query("the red cat")
    np.testing.assert_allclose(document, library.encode_document("the red cat", **options), atol=1e-6)
    np.testing.assert_allclose(query, library.encode_query("the red cat", **options), atol=1e-6)
    assert abs(float(document @ query)) < 0.9999
    assert abs(float(np.linalg.norm(document)) - 1) < 1e-5
    assert encoder.embed(["cat " * 12]).shape == (1, 32)
    with pytest.raises(TextTooLong):
        encoder.embed(["cat " * 13])


def test_a_text_whose_vector_is_not_finite_is_named_and_the_others_are_handed_over(tmp_path: Path) -> None:
    """DE-01: by a model whose word `seven` is broken."""
    identity = resolve_model(str(build_tiny_model(tmp_path / "broken", seed=7)))
    words = next(
        parameter
        for name, parameter in load_model(identity, "cpu").named_parameters()
        if name.endswith("word_embeddings.weight")
    )
    with torch.no_grad():
        words[-1] = float("nan")
    with pytest.raises(BadVectors, match="NaN") as caught:
        Encoder(identity).embed(["cat", "seven cat", "dog", "seven cat"])
    assert sorted(caught.value.problems) == [1, 3]
    assert caught.value.vectors is not None
    np.testing.assert_allclose(
        caught.value.vectors[[0, 2]], Encoder(identity).embed(["cat", "dog"]), atol=1e-6
    )


def _no_load(*_: object) -> None:
    raise AssertionError("loaded")
