"""What a peer is: a named library with settings, that cuts a text into texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXTRA = "peers"
"""The extra that brings the libraries."""
_SIZE = re.compile(r"([1-9][0-9]{0,5})(c?)")

Split = Callable[[str], Sequence[str]]
"""From a text to the texts of its chunks, in order."""


class PeerMissing(Exception):
    """The library of a peer is not installed: says which one, and how to get it."""


class UnknownPeer(ValueError):
    """No peer, or no size, of that name."""


class PeerFailed(Exception):
    """A library raised an error of its own while it cut a text."""


@dataclass(frozen=True, slots=True)
class Size:
    """How long a chunk may be.

    Attributes:
        amount: tokens or code points.
        in_tokens: which of them.
    """

    amount: int
    in_tokens: bool = True

    @classmethod
    def of(cls, written: str) -> Size:
        """`128` is tokens, `512c` code points.

        Raises:
            UnknownPeer: neither.
        """
        found = _SIZE.fullmatch(written)
        if found is None:
            raise UnknownPeer(f"size {written!r}: write tokens, such as 128, or code points, such as 512c")
        return cls(int(found[1]), not found[2])

    def __str__(self) -> str:
        return f"{self.amount}{'' if self.in_tokens else 'c'}"


@dataclass(frozen=True, slots=True)
class PeerTools:
    """What peers are lent, so that they differ from others in their cuts alone.

    Attributes:
        count: tokens of a text, in the budget's tokenizer.
        pieces: a text's tokens as slices of it, in order; together they are the text.
        embed: unit vectors of texts, shape (texts, dimensions), by the index's own encoder.
        dimensions: their length.
    """

    count: Callable[[str], int]
    pieces: Callable[[str], list[str]]
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    dimensions: int

    def measure(self, size: Size) -> Callable[[str], int]:
        """What a length is under that size."""
        return self.count if size.in_tokens else len


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer, ready to cut.

    Attributes:
        name: as the registry has it.
        package, version: the distribution and its installed version.
        settings: all that was given to the library, as plain data.
        cut: the library's own function.
        embeds: whether it compares texts by the lent encoder.
    """

    name: str
    package: str
    version: str
    settings: Mapping[str, object]
    cut: Split
    embeds: bool = False

    def split(self, text: str, doc_id: str = "") -> list[str]:
        """The texts of a document's chunks, as the library gives them, blank ones left out.

        Raises:
            PeerFailed: the library failed, with its words and the document's name.
        """
        try:
            made = list(self.cut(text))
        except Exception as error:
            raise PeerFailed(
                f"{self.package} {self.version} ({self.name}) can't cut document {doc_id!r}: "
                f"{type(error).__name__}: {error}; leave the peer out, or give it another size"
            ) from error
        return [chunk for chunk in made if chunk.strip()]


def library(module: str, package: str) -> Any:
    """A peer's library.

    Raises:
        PeerMissing: it is not installed, or does not load.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise PeerMissing(
            f"{package} can't be loaded ({error}); run: pip install 'linkrag-dagster[{EXTRA}]'"
        ) from error


def installed(package: str) -> str:
    """The version of a distribution.

    Raises:
        PeerMissing: it is not installed.
    """
    try:
        return version(package)
    except PackageNotFoundError as error:
        raise PeerMissing(
            f"{package} is not installed; run: pip install 'linkrag-dagster[{EXTRA}]'"
        ) from error
