"""Definitions of a source code, and headings of a markup: what `document_aware` cuts by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition, from the comment or decorator above it to the end of its last line.

    Attributes:
        name: as the code calls it.
        start, end: code points, half-open.
        members: definitions inside it, in order.
    """

    name: str
    start: int
    end: int
    members: Sequence[Symbol] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a markup.

    Attributes:
        level: 1 and deeper.
        title: its visible words.
        start, end: code points of the heading itself, half-open.
    """

    level: int
    title: str
    start: int
    end: int
