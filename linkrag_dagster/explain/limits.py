"""The limits that a document was cut under: with them an explanation can count what a cut was weighed against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linkrag_dagster.chunking import ENCODER, ChunkSettings
from linkrag_dagster.chunking.default_encoder import MODEL
from linkrag_dagster.chunking.requested import requested
from linkrag_dagster.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class Limits:
    """The complete settings of a call and the tokenizer that its numbers are counted in.

    Attributes:
        settings: sizes, strategy, header.
        tokenizer: the budget's.
    """

    settings: ChunkSettings
    tokenizer: Tokenizer

    @property
    def tokenizer_name(self) -> str:
        """What people call the tokenizer."""
        return MODEL if self.settings.tokenizer == ENCODER else self.settings.tokenizer


def limits_of(strategy: str, settings: Mapping[str, Any]) -> Limits:
    """The limits of `chunk_text(..., strategy=strategy, settings=settings)`; nothing is cut.

    Raises:
        SettingsError: a setting or a strategy that does not exist or cannot be.
        TokenizerNotFound: no such tokenizer is installed.
    """
    asked = requested(strategy, settings)
    return Limits(asked.settings, asked.tokenizer)
