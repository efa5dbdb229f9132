"""Only what is missing is embedded, and what was embedded is kept: EM-02, EM-06, DE-01, VE-06, CO-03."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from linkrag_dagster.embedding.embed_missing import EmbeddingProgress, embed_missing
from linkrag_dagster.embedding.encoder import Encoder
from linkrag_dagster.embedding.errors import BadVectors, TextTooLong
from linkrag_dagster.embedding.memo import Memo, text_hash
from linkrag_dagster.embedding.model import ModelIdentity

DIMENSIONS = 8


def vector_of(text: str) -> NDArray[np.float32]:
    """A unit vector that only this text has."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class Fake:
    """Embeds by hash; records what it is asked for; stops or fails where it is told to."""

    def __init__(self, *, stop_at: int | None = None, tick: Callable[[], None] | None = None) -> None:
        self.calls: list[list[str]] = []
        self._stop_at = stop_at
        self._tick = tick

    @property
    def asked(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def __call__(
        self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        if len(self.calls) == self._stop_at:
            raise KeyboardInterrupt
        long = {place: "too long" for place, text in enumerate(texts) if text.startswith("long")}
        if long:
            raise TextTooLong(long)
        vectors = np.stack([vector_of(text) for text in texts])
        for number in range(1, len(texts) + 1):
            if self._tick:
                self._tick()
            if on_progress:
                on_progress(number, number * 10)
        raised = {place: "broken" for place, text in enumerate(texts) if text.startswith("broken")}
        for place, text in enumerate(texts):
            if text.startswith(("broken", "nan")):
                vectors[place] = np.nan
        if raised:
            raise BadVectors(raised, vectors)
        return vectors


def hashed(*texts: str) -> dict[str, str]:
    return {text_hash(text): text for text in texts}


def test_each_text_is_embedded_once_in_its_life(tmp_path: Path) -> None:
    """EM-02, VE-06: the second time nothing is asked for; a changed text alone is embedded anew."""
    texts = hashed(*(f"text {n}" * (7 - n) for n in range(7)))
    fake = Fake()
    first = embed_missing(texts, Memo(tmp_path), fake, dimensions=DIMENSIONS, block=3)
    assert [len(call) for call in fake.calls] == [3, 3, 1]
    assert sorted(fake.asked) == sorted(texts.values())
    assert (first.embedded_texts, first.embedded_tokens, first.memo_hits) == (7, 70, 0)
    assert first.hashes == tuple(texts)
    np.testing.assert_array_equal(first.vectors, np.stack([vector_of(text) for text in texts.values()]))

    files = sorted(tmp_path.iterdir())
    again = Fake()
    second = embed_missing(texts, Memo(tmp_path), again, dimensions=DIMENSIONS)
    assert again.calls == []
    assert (second.embedded_texts, second.embedded_tokens, second.memo_hits) == (0, 0, 7)
    np.testing.assert_array_equal(second.vectors, first.vectors)
    assert sorted(tmp_path.iterdir()) == files

    changed = embed_missing({**texts, **hashed("new")}, Memo(tmp_path), again, dimensions=DIMENSIONS)
    assert again.asked == ["new"]
    assert (changed.embedded_texts, changed.memo_hits) == (1, 7)


def test_texts_of_like_length_share_a_block(tmp_path: Path) -> None:
    """EM-02."""
    fake = Fake()
    embed_missing(
        hashed("x" * 9, "y", "z" * 5, "w" * 2), Memo(tmp_path), fake, dimensions=DIMENSIONS, block=2
    )
    assert fake.calls == [["y", "w" * 2], ["z" * 5, "x" * 9]]


def test_interrupted_at_most_one_block_is_repeated(tmp_path: Path) -> None:
    """EM-06."""
    texts = hashed(*(f"text {n:02}" for n in range(20)))
    stopped = Fake(stop_at=3)
    with pytest.raises(KeyboardInterrupt):
        embed_missing(texts, Memo(tmp_path), stopped, dimensions=DIMENSIONS, block=4)
    resumed = Fake()
    done = embed_missing(texts, Memo(tmp_path), resumed, dimensions=DIMENSIONS, block=4)
    assert set(stopped.asked) & set(resumed.asked) == set(stopped.calls[2])
    assert (done.memo_hits, done.embedded_texts) == (8, 12)


def test_killed_the_blocks_before_survive(tmp_path: Path) -> None:
    """EM-06, FA-04: SIGKILL in the third block."""
    code = (
        "import os, pathlib, signal, sys\n"
        "from linkrag_dagster.embedding.embed_missing import embed_missing\n"
        "from linkrag_dagster.embedding.memo import Memo\n"
        "from tests.embedding.test_embed_missing import DIMENSIONS, Fake, hashed\n"
        "fake = Fake(tick=lambda: os.kill(os.getpid(), signal.SIGKILL) if len(fake.calls) == 3 else None)\n"
        "texts = hashed(*(f'text {n:02}' for n in range(20)))\n"
        "embed_missing(texts, Memo(pathlib.Path(sys.argv[1])), fake, dimensions=DIMENSIONS, block=4)\n"
    )
    root = Path(__file__).resolve().parents[2]
    killed = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=root, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    memo = Memo(tmp_path)
    assert len(memo.known(text_hash(f"text {n:02}") for n in range(20))) == 8
    assert memo.problems == []


def test_a_text_without_a_vector_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    """DE-01, CO-03: refused before, refused after, or given NaN by an encoder that does not look."""
    texts = hashed("good one", "long a", "broken b", "nan c", "good two", "long d")
    done = embed_missing(texts, Memo(tmp_path), Fake(), dimensions=DIMENSIONS)
    assert {texts[mark]: words for mark, words in done.problems.items()} == {
        "long a": "too long",
        "long d": "too long",
        "broken b": "broken",
        "nan c": "its vector holds NaN or infinity",
    }
    assert [texts[mark] for mark in done.hashes] == ["good one", "good two"]
    np.testing.assert_array_equal(done.vectors, np.stack([vector_of("good one"), vector_of("good two")]))
    assert done.embedded_texts == 2
    assert Memo(tmp_path).known(texts) == set(done.hashes)


def test_nothing_to_do_and_nothing_that_can_be_done(tmp_path: Path) -> None:
    """EM-06: no text, and only refused ones."""
    assert embed_missing({}, Memo(tmp_path), Fake(), dimensions=DIMENSIONS).vectors.shape == (0, DIMENSIONS)
    refused = embed_missing(hashed("long"), Memo(tmp_path), Fake(), dimensions=DIMENSIONS)
    assert (refused.hashes, refused.vectors.shape, refused.embedded_texts) == ((), (0, DIMENSIONS), 0)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_number_of_vectors_is_refused(tmp_path: Path) -> None:
    """EM-01: nothing is attributed to the wrong text."""

    def short(
        texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        return Fake()(texts, on_progress)[:-1]

    with pytest.raises(ValueError, match=r"shape \(1, 8\) for 2 texts of 8 dimensions"):
        embed_missing(hashed("a", "b"), Memo(tmp_path), short, dimensions=DIMENSIONS)
    with pytest.raises(ValueError, match="of 9 dimensions"):
        embed_missing(hashed("a", "b"), Memo(tmp_path), Fake(), dimensions=9)
    assert list(tmp_path.iterdir()) == []


def test_progress_shows_texts_tokens_a_second_and_time_left(tmp_path: Path) -> None:
    """EM-06: within a block once a second, and after each."""
    now = [100.0]

    def tick() -> None:
        now[0] += 0.5

    seen: list[EmbeddingProgress] = []
    texts = hashed(*(f"text {n}" for n in range(8)))
    embed_missing(
        texts,
        Memo(tmp_path),
        Fake(tick=tick),
        dimensions=DIMENSIONS,
        block=4,
        on_progress=seen.append,
        clock=lambda: now[0],
    )
    assert [(p.texts, p.tokens, p.seconds) for p in seen] == [
        (2, 20, 1.0),
        (4, 40, 2.0),
        (4, 40, 2.0),
        (6, 60, 3.0),
        (8, 80, 4.0),
        (8, 80, 4.0),
    ]
    assert seen[0].line() == "2/8 texts, 20 tokens/s, 3 s left"
    assert seen[-1].line() == "8/8 texts, 20 tokens/s"
    assert EmbeddingProgress(5, 4000, 900, 60.0, 0.1).line() == "5/4,000 texts, 15 tokens/s, 9 min left"
    assert EmbeddingProgress(0, 4, 0, 0.0, 0.0).line() == "0/4 texts, 0 tokens/s"


def test_with_the_encoder_itself(tiny: ModelIdentity, tmp_path: Path) -> None:
    """EM-02, EM-05: counts are the model's; a text over the window fails alone."""
    texts = hashed("the cat sat", "cat " * 15, "a dog ran on")
    done = embed_missing(texts, Memo(tmp_path), Encoder(tiny).embed, dimensions=tiny.dimensions)
    assert (done.embedded_texts, done.embedded_tokens) == (2, 3 + 4 + 2 * 2)
    assert list(done.problems) == [text_hash("cat " * 15)]
    np.testing.assert_array_equal(done.vectors, Encoder(tiny).embed(["the cat sat", "a dog ran on"]))
