"""Chunking of single files: settings checked before any file is read, and a scorer only where one is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from linkrag_dagster.cli.console import USAGE, stop

if TYPE_CHECKING:
    from linkrag_dagster.chunking import ChunkSet, Scorer
    from linkrag_dagster.extraction.records import Extraction
    from linkrag_dagster.markdown.elements import Element


class ChunkingFailure(Exception):
    """One file can't be chunked; the others can.

    Attributes:
        kind: as in the table `failures`: `scoring` or `overflow`.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class FileChunker:
    """Chunks files under the same settings.

    Args:
        strategy: how.
        settings: names and values, as given.

    Raises:
        SettingsError: a setting or a strategy that does not exist or cannot be.
        TokenizerNotFound: no such tokenizer is installed.
    """

    def __init__(self, strategy: str, settings: Mapping[str, Any]) -> None:
        from linkrag_dagster.explain.limits import limits_of

        self.limits = limits_of(strategy, settings)

    def chunks(self, elements: Sequence[Element], found: Extraction) -> ChunkSet:
        """All that chunking makes of one file.

        Raises:
            ChunkingFailure: its texts could not be scored, or a chunk does not fit the encoder's window.
            ModelError: the scorer's model can't be had or used.
        """
        from linkrag_dagster.chunking import ENCODER, ScoringError, WindowOverflow, chunk_elements

        settings = self.limits.settings
        try:
            return chunk_elements(
                elements,
                found.text,
                title=found.title or "",
                strategy=settings.strategy,
                settings=settings,
                tokenizer=ENCODER if settings.tokenizer == ENCODER else self.limits.tokenizer,
                scorer=self._scorer if settings.uses_scorer else None,
            )
        except ScoringError as error:
            again = "; try again later" if error.retryable else ""
            raise ChunkingFailure("scoring", f"{error}{again}") from error
        except WindowOverflow as error:
            raise ChunkingFailure("overflow", str(error)) from error
        except ValueError as error:
            stop(USAGE, str(error))

    @cached_property
    def _scorer(self) -> Scorer:
        from linkrag_dagster.stages.scoring import named_scorer

        return named_scorer(self.limits.settings.scorer)


def elements_of(found: Extraction) -> Sequence[Element]:
    """The elements of an extracted text, by its markup."""
    from linkrag_dagster.markdown.markup import parse_markup

    return parse_markup(found.text, found.markup)
