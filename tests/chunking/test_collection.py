"""Garbage collection is put off while a document is cut, and comes back whatever happens."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from linkrag_dagster.chunking import chunk_text
from linkrag_dagster.chunking.collection import collection_put_off


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Each test leaves the collector as it found it."""
    on = gc.isenabled()
    yield
    (gc.enable if on else gc.disable)()


@pytest.mark.parametrize("on", [True, False])
def test_it_is_left_as_it_was(on: bool) -> None:
    """After a result and after an error alike; one that is off stays off."""
    (gc.enable if on else gc.disable)()
    with collection_put_off():
        assert not gc.isenabled()
    assert gc.isenabled() == on
    with pytest.raises(ZeroDivisionError), collection_put_off():
        raise ZeroDivisionError
    assert gc.isenabled() == on
    chunk_text("# A\n\nwords", tokenizer="cl100k_base")
    assert gc.isenabled() == on


def test_a_scorer_runs_with_it() -> None:
    """What may take long, and is not ours, is not kept from being collected."""
    gc.enable()
    seen: list[bool] = []

    def embed(texts: list[str]) -> list[list[float]]:
        seen.append(gc.isenabled())
        return [[1.0, float(len(text))] for text in texts]

    text = "\n\n".join(f"Paragraph {n} says something of its own." for n in range(40))
    settings = {"min_candidate_tokens": 16, "max_tokens": 64, "hard_max_tokens": 128}
    chunk_text(
        text, strategy="semantic_depth_window", settings=settings, tokenizer="cl100k_base", scorer=embed
    )
    assert seen
    assert all(seen)
