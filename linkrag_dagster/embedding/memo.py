"""Vectors that one model has made, by the hash of their text: no text is embedded twice (EM-02, EM-06, VE-06).

A folder of immutable block files for one model's fingerprint; `text hash x fingerprint` is the key. Writers add files
and change none, so any number of them may work at once; a text that two embed at the same time lies there twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.embedding.blocks import BadBlock, read_hashes, read_vectors, write_block
from linkrag_dagster.embedding.vectors import bad_vectors


def text_hash(text: str) -> str:
    """SHA-256 of a text, in hexadecimal: the key of its vector. Texts that differ in anything differ here."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Memo:
    """The vectors of one model.

    Args:
        folder: one folder a model fingerprint; made by the first `append`.

    Attributes:
        problems: files that could not be used, and why; what they held counts as absent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []

    def known(self, hashes: Iterable[str]) -> set[str]:
        """Those of `hashes` that have a vector; reads the hashes of the blocks alone."""
        wanted, found = set(hashes), set[str]()
        for path in self._files(wanted):
            found.update(wanted.intersection(self._hashes(path)))
            if len(found) == len(wanted):
                break
        return found

    def lookup(
        self, hashes: Sequence[str], *, dimensions: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """The vectors of some texts.

        Memory: the result, the hashes of one block, and the vectors of one block that holds some of the texts.

        Args:
            hashes: of the texts; different ones.
            dimensions: length of the model's vectors.

        Returns:
            `(found, vectors)`: shapes (texts,) and (texts, dimensions), in order; zeros where nothing was found.
        """
        vectors = np.zeros((len(hashes), dimensions), dtype=np.float32)
        missing = {mark: position for position, mark in enumerate(hashes)}
        found = np.zeros(len(hashes), dtype=np.bool_)
        for path in self._files(missing):
            rows = {mark: row for row, mark in enumerate(self._hashes(path)) if mark in missing}
            for mark, vector in self._vectors(path, rows, dimensions):
                position = missing.pop(mark)
                vectors[position] = vector
                found[position] = True
            if not missing:
                break
        return found, vectors

    def append(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Commit vectors as one block; when this returns they survive a crash.

        Args:
            hashes: of the texts; different ones.
            vectors: unit-norm, shape (texts, dimensions).

        Raises:
            ValueError: not one vector a hash, a hash twice, or a vector that is not finite and of unit length (DE-01).
            OSError: disk full or read-only; nothing is added.
        """
        if vectors.ndim != 2 or len(vectors) != len(hashes) or len(set(hashes)) != len(hashes):
            raise ValueError(
                f"{len(hashes)} hashes ({len(set(hashes))} different) do not fit vectors {vectors.shape}"
            )
        for row, words in bad_vectors(vectors).items():
            raise ValueError(f"text {hashes[row]}: {words}; it is not remembered")
        if hashes:
            write_block(self.folder, hashes, vectors)

    def _files(self, wanted: Iterable[str]) -> list[Path]:
        return sorted(self.folder.glob("[!.]*.parquet")) if any(True for _ in wanted) else []

    def _hashes(self, path: Path) -> list[str]:
        try:
            return read_hashes(path)
        except FileNotFoundError:
            return []  # removed since it was listed: that is what gc does
        except BadBlock as error:
            self._report(path, str(error))
            return []

    def _vectors(
        self, path: Path, rows: dict[str, int], dimensions: int
    ) -> Iterator[tuple[str, NDArray[np.float32]]]:
        """Hash and vector of the usable ones of `rows` of a block."""
        if not rows:
            return
        try:
            vectors = read_vectors(path, list(rows.values()))
        except FileNotFoundError:
            return
        except BadBlock as error:
            self._report(path, str(error))
            return
        if vectors.shape[1] != dimensions:
            self._report(path, f"its vectors have {vectors.shape[1]} dimensions, the model's {dimensions}")
            return
        bad = bad_vectors(vectors)
        if bad:
            self._report(path, f"{len(bad)} of its vectors are not finite and of unit length")
        yield from ((mark, vectors[row]) for row, mark in enumerate(rows) if row not in bad)

    def _report(self, path: Path, words: str) -> None:
        problem = f"{path} is passed over: {words}; remove it, its texts are embedded again"
        if problem not in self.problems:
            self.problems.append(problem)
