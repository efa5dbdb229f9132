"""Texts to unit vectors by a local sentence-transformers model (EM-01 to EM-05, EM-07, EM-08, DE-01).

| step | why |
| --- | --- |
| equal texts are one | nothing is computed twice |
| tokenise once, by the model's own vocabulary | counts, window fit and the model's input are the same tokens |
| refuse what exceeds the window | a cut text would be found by its beginning alone |
| batches of like length, about 1,024 tokens | large padded batches are slower on a CPU |
| check each vector | one NaN in an index spoils every search |
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import tokenizers
from numpy.typing import NDArray

from linkrag_dagster.embedding.batches import batches
from linkrag_dagster.embedding.errors import BadVectors, TextTooLong
from linkrag_dagster.embedding.loading import load_model
from linkrag_dagster.embedding.model import ModelIdentity
from linkrag_dagster.embedding.vectors import bad_vectors

__all__ = ["BadVectors", "Encoder", "TextTooLong", "threads_for"]

TOKENISED_AT_ONCE = 256
"""Texts whose full encodings are in memory at once; of the others there are the ids alone."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def threads_for(concurrent: int = 1) -> int:
    """Threads of one of `concurrent` steps that share this machine's cores (EM-04)."""
    return max(1, (os.cpu_count() or 1) // concurrent)


class Encoder:
    """A model ready to embed; its weights are loaded at the first text, once a process.

    Args:
        identity: the model.
        threads: threads to compute with, set before each call; None: those of `threads_for(concurrent)`.
        concurrent: steps that compute at the same time on this machine.
        device: `cpu`, or what PyTorch calls another one.
        overlong: what happens to texts over the window: `refuse`, or `truncate` where the caller says so.
    """

    def __init__(
        self,
        identity: ModelIdentity,
        *,
        threads: int | None = None,
        concurrent: int = 1,
        device: str = "cpu",
        overlong: Literal["refuse", "truncate"] = "refuse",
    ) -> None:
        self.identity = identity
        self.name = identity.name
        self.fingerprint = identity.fingerprint
        self.dimensions = identity.dimensions
        self.threads = threads_for(concurrent) if threads is None else threads
        self.device = device
        self._overlong = overlong
        if self.threads < 1:
            raise ValueError(f"threads must be at least 1, got {self.threads}")

    def embed(
        self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """Unit vectors of document texts, shape (texts, dimensions), in order.

        Args:
            texts: any strings; equal ones are computed once, a lone surrogate is read as U+FFFD.
            on_progress: called after each batch with the texts and the tokens done so far in this call: different
                texts, and the tokens that the model read, special tokens and prompt included, padding not.

        Raises:
            TextTooLong: texts exceed the window; raised before anything is computed.
            BadVectors: the model gave some texts no unit vector; the exception carries the others.
            ModelError: the model can't be loaded.
        """
        return self._embed(texts, self.identity.document_prompt, on_progress)

    def embed_query(self, query: str) -> NDArray[np.float32]:
        """The unit vector of a query, shape (dimensions,); raises as `embed` does."""
        return self._embed([query], self.identity.query_prompt, None)[0]

    def embed_queries(
        self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """Unit vectors of queries, shape (queries, dimensions), in order; as `embed`, with the prompt of queries."""
        return self._embed(texts, self.identity.query_prompt, on_progress)

    def _embed(
        self, texts: Sequence[str], prompt: str, on_progress: Callable[[int, int], None] | None
    ) -> NDArray[np.float32]:
        place = {text: position for position, text in enumerate(dict.fromkeys(texts))}
        rows = np.array([place[text] for text in texts], dtype=np.int64)
        ids = self._tokenise(list(place), prompt)
        limit = self.identity.max_length
        long = {p: len(one) for p, one in enumerate(ids) if len(one) > limit}
        if long:
            raise TextTooLong(
                {
                    position: f"it has {long[row]} tokens with special tokens and prompt, the window of {self.name} "
                    f"{limit}; split it, or embed with overlong='truncate'"
                    for position, row in enumerate(rows.tolist())
                    if row in long
                }
            )
        vectors = np.empty((len(ids), self.dimensions), dtype=np.float32)
        done_texts = done_tokens = 0
        for batch in batches([len(one) for one in ids]):
            vectors[batch] = self._forward([ids[position] for position in batch])
            done_texts += len(batch)
            done_tokens += sum(len(ids[position]) for position in batch)
            if on_progress is not None:
                on_progress(done_texts, done_tokens)
        found = bad_vectors(vectors)
        if found:
            problems = {position: found[row] for position, row in enumerate(rows.tolist()) if row in found}
            raise BadVectors(problems, vectors[rows])
        return vectors[rows]

    def _tokenise(self, texts: Sequence[str], prompt: str) -> list[NDArray[np.int32]]:
        ids: list[NDArray[np.int32]] = []
        for start in range(0, len(texts), TOKENISED_AT_ONCE):
            block = [prompt + self._clean(text) for text in texts[start : start + TOKENISED_AT_ONCE]]
            ids += [np.array(e.ids, dtype=np.int32) for e in self._tokenizer.encode_batch_fast(block)]
        return ids

    def _clean(self, text: str) -> str:
        # No vocabulary holds a lone surrogate; counts elsewhere read it as U+FFFD, too.
        text = text if text.isascii() else _SURROGATE.sub("\ufffd", text)
        return text.lower() if self.identity.lowercase else text

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        # Threads of its own would contend with other steps (EM-04), and warn at each later fork.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        tokenizer = tokenizers.Tokenizer.from_file(str(self.identity.tokenizer))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if self._overlong == "truncate":
            tokenizer.enable_truncation(self.identity.max_length)  # pyright: ignore[reportUnknownMemberType]
        # A document that spells [SEP] holds text, not the end of a sequence.
        tokenizer.encode_special_tokens = True
        return tokenizer

    def _forward(self, ids: Sequence[NDArray[np.int32]]) -> NDArray[np.float32]:
        import torch

        model: Any = load_model(self.identity, self.device)
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        shape = (len(ids), max(len(one) for one in ids))
        padded = np.full(shape, self.identity.padding, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = one
            mask[row, : len(one)] = 1
        with torch.inference_mode():
            features = {
                "input_ids": torch.asarray(padded, device=self.device),
                "attention_mask": torch.asarray(mask, device=self.device),
            }
            vectors: NDArray[np.float32] = model(features)["sentence_embedding"].float().cpu().numpy()
        if self.identity.normalisation == "after":
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            # A zero vector stays zero, and is refused by name.
            vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)
        return vectors
