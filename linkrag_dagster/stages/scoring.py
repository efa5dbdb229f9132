"""The scorer of `semantic_depth_window` in a build: one model, through the memo of its vectors (SD-00, SD-15, SD-17).

The memo is the index's own: what a chunk's text was embedded for is not embedded again to compare it, nor the other way
round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.chunking import (
    ENCODER,
    FinalPlan,
    Retries,
    Scorer,
    ScoringError,
    WindowScorer,
    text_vectors,
)
from linkrag_dagster.chunking.atom_vectors import Vectors
from linkrag_dagster.chunking.default_encoder import MODEL
from linkrag_dagster.embedding.embed_missing import embed_missing
from linkrag_dagster.embedding.encoder import Encoder
from linkrag_dagster.embedding.errors import TextsRefused
from linkrag_dagster.embedding.memo import Memo, text_hash
from linkrag_dagster.embedding.model import ModelIdentity, resolve_model
from linkrag_dagster.stages.stage import DocumentFailure, Progress
from linkrag_dagster.tokens import load_tokenizer

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road


class MemoScorer:
    """A scorer that gives its model only texts that the memo lacks.

    Args:
        encoder: the model.
        memo_folder: the folder of its vectors.
        batch: texts that the model is given at a time.
        retries: how a failing batch is tried again.
        progress: told how far the model is.

    Attributes:
        name, fingerprint: of the model.
        texts, tokens: given to the model so far.
    """

    def __init__(
        self, encoder: Encoder, memo_folder: Path, *, batch: int, retries: Retries, progress: Progress
    ) -> None:
        self.name = encoder.name
        self.fingerprint = encoder.fingerprint
        self.texts = 0
        self.tokens = 0
        self._encoder = encoder
        self._memo_folder = memo_folder
        self._batch = batch
        self._retries = retries
        self._progress = progress

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of the texts, shape (texts, dimensions), in order.

        Raises:
            ScoringError: the model failed, or gave a text no usable vector.
            ModelError: the model can't be loaded.
            OSError: the memo can't be written.
        """
        hashes = [text_hash(text) for text in texts]
        done = embed_missing(
            dict(zip(hashes, texts, strict=True)),
            Memo(self._memo_folder),
            self._in_batches,
            dimensions=self._encoder.dimensions,
            on_progress=lambda p: self._progress(f"comparing: {p.line()}"),
        )
        self.texts += done.embedded_texts
        self.tokens += done.embedded_tokens
        for problem in done.problems.values():
            raise ScoringError(f"a text can't be scored by {self.name}: {problem}", retryable=True)
        place = {mark: row for row, mark in enumerate(done.hashes)}
        return done.vectors[[place[mark] for mark in hashes]]

    def _in_batches(
        self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """What `Encoder.embed` promises, so many texts at a time, each batch with tries of its own."""
        vectors = np.zeros((len(texts), self._encoder.dimensions), dtype=np.float32)
        problems: dict[int, str] = {}
        read = 0
        for start in range(0, len(texts), self._batch):
            part = texts[start : start + self._batch]
            counted = [0]

            def within(
                done: int, tokens: int, start: int = start, counted: list[int] = counted, read: int = read
            ) -> None:
                counted[0] = tokens
                if on_progress is not None:
                    on_progress(start + done, read + tokens)

            try:
                made = self._retries.run(
                    lambda part=part, within=within: self._encoder.embed(part, on_progress=within),
                    f"scoring texts {start + 1} to {start + len(part)} of {len(texts)} by {self.name}",
                )
            except TextsRefused as error:
                found = {start + position: words for position, words in error.problems.items()}
                if error.vectors is None:
                    raise TextsRefused(found) from error
                problems |= found
                made = error.vectors
            vectors[start : start + len(part)] = made
            read += counted[0]
        if problems:
            raise TextsRefused(problems, vectors)
        return vectors


class Scores:
    """Scores the texts of many documents of a corpus together, and says which documents failed for them.

    Args:
        road: the corpus; its scorer is asked for only where there are texts.
        progress: told how far the model is.

    Attributes:
        texts, tokens: given to the model so far.
    """

    def __init__(self, road: Road, progress: Progress) -> None:
        self._road = road
        self._progress = progress
        self._counted: MemoScorer | None = None

    @property
    def texts(self) -> int:
        """Texts given to the model so far."""
        return self._counted.texts if self._counted else 0

    @property
    def tokens(self) -> int:
        """Tokens given to the model so far."""
        return self._counted.tokens if self._counted else 0

    def of(self, plans: Mapping[str, FinalPlan]) -> tuple[dict[str, Vectors], list[DocumentFailure]]:
        """The vectors of each document's texts; a document without any has none, one that failed is left out.

        Args:
            plans: by document.

        Raises:
            ModelError: the model can't be loaded.
            OSError: the memo can't be written.
        """
        wanted = {text: None for plan in plans.values() for text in plan.texts}
        if not wanted:
            return {key: {} for key in plans}, []
        try:
            found = self._vectors(list(wanted))
            return {key: {text: found[text] for text in plan.texts} for key, plan in plans.items()}, []
        except ScoringError:
            return self._one_by_one(plans)

    def _one_by_one(self, plans: Mapping[str, FinalPlan]) -> tuple[dict[str, Vectors], list[DocumentFailure]]:
        """Each document by itself, so that only those fail whose own texts do; what was scored is remembered."""
        vectors: dict[str, Vectors] = {}
        failures: list[DocumentFailure] = []
        for key, plan in plans.items():
            try:
                vectors[key] = self._vectors(plan.texts)
            except ScoringError as error:
                failures.append(DocumentFailure(key, "embedding", str(error), error.retryable))
        return vectors, failures

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        # The memo scorer makes the batches, of what the memo lacks.
        return text_vectors(texts, self._scorer, batch=max(1, len(texts)), retries=Retries(more=0))

    @cached_property
    def _scorer(self) -> Scorer:
        road, settings = self._road, self._road.settings
        model = road.scorer_model
        encoder = road.encoder if model is road.model else Encoder(model)
        self._counted = MemoScorer(
            encoder,
            road.lake_root / "memo" / model.fingerprint,
            batch=settings.scorer_batch,
            retries=Retries(settings.scorer_retries, settings.scorer_backoff),
            progress=self._progress,
        )
        return _windowed(self._counted, model)


def plain_scorer(model: ModelIdentity) -> Scorer:
    """A model as a scorer without a memo, for single texts; its weights are loaded at the first of them."""
    return _windowed(Encoder(model), model)


def named_scorer(name: str = ENCODER) -> Scorer:
    """The scorer that `chunking.scorer` names, for single texts outside a corpus; `encoder` is the packaged model.

    Raises:
        ModelError: there is no such model, or it can't be used.
    """
    return plain_scorer(resolve_model(MODEL if name == ENCODER else name))


def _windowed(scorer: Scorer, model: ModelIdentity) -> Scorer:
    """Longer texts than the model's window are parted, never cut."""
    return WindowScorer(scorer, load_tokenizer(model.name, path=model.tokenizer), model.window)
