"""Embeds the texts that the memo lacks, block by block (EM-02, EM-06).

| a text | what happens |
| --- | --- |
| in the memo | its vector is read |
| not in the memo | embedded with texts of like length; its block is committed before the next begins |
| refused by the encoder, or given a bad vector | reported by its hash; the other texts go on |

Killed at any instant, what is lost is the block in work. Pure but for the memo: encoder and clock are handed in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.embedding.errors import TextsRefused
from linkrag_dagster.embedding.memo import Memo
from linkrag_dagster.embedding.vectors import bad_vectors

BLOCK_TEXTS = 512
"""Texts of a block: at most so many are embedded again after a crash."""
PROGRESS_SECONDS = 1.0
"""Least time between two reports within a block."""


class Embed(Protocol):
    """What embeds: `Encoder.embed`, or anything that keeps its promises."""

    def __call__(
        self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """Vectors, shape (texts, dimensions), in order; tells `on_progress` texts and tokens done in this call.

        Raises:
            TextsRefused: which texts have no vector, by position.
        """
        ...


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """How far the embedding is.

    Attributes:
        texts: texts given to the model so far.
        total: texts that the memo lacked.
        tokens: tokens that the model has read.
        seconds: since the first of them.
        share: part of the work that is done, by characters, from 0 to 1.
    """

    texts: int
    total: int
    tokens: int
    seconds: float
    share: float

    @property
    def tokens_per_second(self) -> float:
        """Tokens a second so far."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Time left at the speed so far; None before there is one."""
        return self.seconds * (1 - self.share) / self.share if self.share > 0 else None

    def line(self) -> str:
        """Texts, tokens a second and time left in one line."""
        words = [f"{self.texts:,}/{self.total:,} texts", f"{self.tokens_per_second:,.0f} tokens/s"]
        left = self.seconds_left
        if left is not None and self.texts < self.total:
            words.append(f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left")
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """The vectors of all texts that have one.

    Attributes:
        hashes: of the texts, in the order given, those with a problem left out.
        vectors: unit-norm float32, shape (hashes, dimensions).
        embedded_texts: texts that the model embedded now.
        embedded_tokens: tokens that it read for them.
        memo_hits: texts whose vector was remembered.
        problems: why a text has no vector, by its hash.
        memo_problems: files of the memo that could not be used.
    """

    hashes: tuple[str, ...]
    vectors: NDArray[np.float32]
    embedded_texts: int
    embedded_tokens: int
    memo_hits: int
    problems: Mapping[str, str] = field(default_factory=dict[str, str])
    memo_problems: tuple[str, ...] = ()


def embed_missing(
    texts: Mapping[str, str],
    memo: Memo,
    embed: Embed,
    *,
    dimensions: int,
    block: int = BLOCK_TEXTS,
    on_progress: Callable[[EmbeddingProgress], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> EmbeddedTexts:
    """The vectors of `texts`, each text given to the model at most once in the memo's life.

    Args:
        texts: texts by `text_hash`.
        memo: the memo of the very model that `embed` runs.
        embed: called only where a text is missing; not at all when the memo holds them all.
        dimensions: length of the model's vectors.
        block: texts of a block.
        on_progress: told after each block, and within one at most once a second.
        clock: seconds.

    Raises:
        ValueError: `embed` returns another number of vectors, or another length, than it was asked for.
        OSError: the memo can't be written; the blocks before are kept.
    """
    if block < 1:
        raise ValueError(f"a block holds at least one text, got {block}")
    hashes = list(texts)
    found, vectors = memo.lookup(hashes, dimensions=dimensions)
    hits = int(found.sum())
    # Texts of like length share a block, so that its batches are well filled.
    missing = sorted(np.flatnonzero(~found).tolist(), key=lambda row: len(texts[hashes[row]]))
    problems: dict[str, str] = {}
    track = _Track([len(texts[hashes[row]]) for row in missing], on_progress, clock)
    for start in range(0, len(missing), block):
        rows = missing[start : start + block]
        made, refused = _embed_block([texts[hashes[row]] for row in rows], embed, dimensions, track.within)
        problems |= {hashes[rows[position]]: words for position, words in refused.items()}
        good = [position for position in range(len(rows)) if position not in refused]
        memo.append([hashes[rows[position]] for position in good], made[good])
        kept = [rows[position] for position in good]
        vectors[kept] = made[good]
        found[kept] = True
        track.block_done(len(rows))
    return EmbeddedTexts(
        hashes=tuple(mark for mark, has in zip(hashes, found.tolist(), strict=True) if has),
        vectors=vectors if found.all() else vectors[found],
        embedded_texts=int(found.sum()) - hits,
        embedded_tokens=track.tokens,
        memo_hits=hits,
        problems=problems,
        memo_problems=tuple(memo.problems),
    )


def _embed_block(
    texts: Sequence[str], embed: Embed, dimensions: int, within: Callable[[int, int], None]
) -> tuple[NDArray[np.float32], dict[int, str]]:
    """Vectors of a block's texts, shape (texts, dimensions), and what is wrong with some, by position."""
    problems: dict[int, str] = {}
    asked = list(range(len(texts)))
    vectors = np.zeros((len(texts), dimensions), dtype=np.float32)
    while asked:
        try:
            made = embed([texts[position] for position in asked], on_progress=within)
        except TextsRefused as error:
            problems |= {asked[place]: words for place, words in error.problems.items()}
            if error.vectors is None:
                # Nothing was computed: ask again for the others. An error names at least one, so this ends.
                asked = [position for position in asked if position not in problems]
                continue
            made = error.vectors
        if made.shape != (len(asked), dimensions):
            raise ValueError(
                f"the encoder gave vectors of shape {made.shape} for {len(asked)} texts of {dimensions} dimensions; "
                "nothing of this block is kept, see the model's settings"
            )
        problems |= {
            asked[place]: words for place, words in bad_vectors(made).items() if asked[place] not in problems
        }
        vectors[asked] = made
        break
    return vectors, problems


class _Track:
    """Texts, tokens and characters done, told to whoever listens."""

    def __init__(
        self,
        lengths: Sequence[int],
        listener: Callable[[EmbeddingProgress], None] | None,
        clock: Callable[[], float],
    ) -> None:
        self._lengths = lengths
        self._characters = np.cumsum([0, *lengths])
        self._listener = listener
        self._clock = clock
        self._begin = self._last = clock()
        self._blocks_texts = self._blocks_tokens = self._now_tokens = 0

    @property
    def tokens(self) -> int:
        return self._blocks_tokens + self._now_tokens

    def within(self, texts: int, tokens: int) -> None:
        """Progress of the call that embeds the present block."""
        self._now_tokens = tokens
        if self._clock() - self._last >= PROGRESS_SECONDS:
            self._tell(self._blocks_texts + texts)

    def block_done(self, texts: int) -> None:
        self._blocks_texts += texts
        self._blocks_tokens, self._now_tokens = self.tokens, 0
        self._tell(self._blocks_texts)

    def _tell(self, texts: int) -> None:
        self._last = self._clock()
        if self._listener is not None:
            total = int(self._characters[-1])
            share = int(self._characters[texts]) / total if total else 1.0
            self._listener(
                EmbeddingProgress(texts, len(self._lengths), self.tokens, self._last - self._begin, share)
            )
