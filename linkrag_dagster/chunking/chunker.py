"""All stages in a row, for a text or for elements that another parser made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise

from linkrag_dagster.chunking.coarse import coarse_chunks
from linkrag_dagster.chunking.collection import collection_put_off
from linkrag_dagster.chunking.export import export_chunks
from linkrag_dagster.chunking.final import final_chunks
from linkrag_dagster.chunking.header import title_of
from linkrag_dagster.chunking.records import ChunkSet
from linkrag_dagster.chunking.requested import Settings, requested
from linkrag_dagster.chunking.scorer import as_scorer
from linkrag_dagster.chunking.settings import DEFAULT_STRATEGY, SettingsError
from linkrag_dagster.chunking.strategies import Source, strategy_chunks
from linkrag_dagster.markdown import parse
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.tokens import TokenCounter, Tokenizer


def chunk_text(
    text: str,
    *,
    title: str = "",
    strategy: str = DEFAULT_STRATEGY,
    settings: Settings = None,
    tokenizer: str | Tokenizer | None = None,
    scorer: object | None = None,
    doc_id: str = "",
    version: str | None = None,
) -> ChunkSet:
    """Chunk a Markdown text.

    Args:
        text: any text; offsets of the result are its code points.
        title: the document's title; "" takes the first level-1 heading (EX-02).
        strategy: how coarse chunks become final ones, or a strategy for comparison, which has no coarse ones; one in
            the settings stands unless another than `pack` is given.
        settings: names and values, or complete settings.
        tokenizer: the budget's: `encoder` (the installed encoder's own, whose window the texts then fit), a byte-pair
            vocabulary, a path, or a tokenizer; None: what the settings say, else `encoder`.
        scorer: what compares texts for `semantic_depth_window`: a `Scorer`, such as
            `linkrag_dagster.embedding.encoder.Encoder`, or a function from texts to vectors; other strategies pass it
            over.
        doc_id: a part of every chunk's id.
        version: the document's declared version, likewise.

    Returns:
        Elements, coarse, final and exported chunks, and the trace of every gap considered.

    Raises:
        ValueError: a setting or a strategy that does not exist or cannot be; the message names it.
        TypeError: something that is no scorer.
        ScoringError: the scorer failed.
        WindowOverflow: a chunk does not fit the encoder's window, under `overflow: error`.
        TokenizerNotFound: no such tokenizer is installed.
    """
    plan = _Plan(strategy, settings, tokenizer, scorer)
    with plan.undisturbed():
        return plan.run(parse(text), text, title, doc_id, version)


def chunk_elements(
    elements: Sequence[Element],
    text: str,
    *,
    title: str = "",
    strategy: str = DEFAULT_STRATEGY,
    settings: Settings = None,
    tokenizer: str | Tokenizer | None = None,
    scorer: object | None = None,
    doc_id: str = "",
    version: str | None = None,
) -> ChunkSet:
    """The same as `chunk_text`, for elements that another parser made.

    Args:
        elements: in document order, without overlap; images and tables with their ids.
        text, title, strategy, settings, tokenizer, scorer, doc_id, version: as for `chunk_text`.

    Raises:
        ValueError: as for `chunk_text`; or elements that overlap, or lie outside the text.
    """
    plan = _Plan(strategy, settings, tokenizer, scorer)
    _check_elements(elements, text)
    with plan.undisturbed():
        return plan.run(elements, text, title, doc_id, version)


class _Plan:
    """Settings and tokenizers of one call: whatever is wrong with them is known before any work."""

    def __init__(
        self, strategy: str, settings: Settings, tokenizer: str | Tokenizer | None, scorer: object | None
    ) -> None:
        self.scorer = None if scorer is None else as_scorer(scorer)
        asked = requested(strategy, settings, tokenizer)
        self.settings, self.tokenizer, self.window = asked.settings, asked.tokenizer, asked.window
        if self.settings.needs_scorer and self.scorer is None:
            raise SettingsError(
                "scorer",
                f"strategy {self.settings.strategy} compares texts; give chunk_text(..., scorer=...) something with "
                "embed(texts), such as an Encoder, or a function from texts to vectors",
            )

    def undisturbed(self) -> AbstractContextManager[None]:
        """Without garbage collection, unless a scorer may take its time."""
        return collection_put_off() if self.scorer is None else nullcontext()

    def run(
        self, elements: Sequence[Element], text: str, title: str, doc_id: str, version: str | None
    ) -> ChunkSet:
        title = title or title_of(elements)
        if self.settings.compares:
            source = Source(text, elements, self.settings.comparison, self.tokenizer, self.scorer)
            pieces, chunks, cuts = strategy_chunks(
                self.settings.strategy, source, self.settings, self.window, title, doc_id, version
            )
            return ChunkSet(tuple(elements), (), tuple(pieces), tuple(chunks), tuple(cuts))
        counter = TokenCounter(self.tokenizer, text)
        coarse = coarse_chunks(elements, text, self.settings, self.tokenizer, counter=counter)
        final, trace = final_chunks(
            coarse, text, self.settings, self.tokenizer, elements, counter=counter, scorer=self.scorer
        )
        chunks = export_chunks(
            final,
            text,
            self.settings,
            self.tokenizer,
            self.tokenizer,
            self.window,
            title,
            doc_id,
            version,
            counter=counter,
        )
        return ChunkSet(tuple(elements), tuple(coarse), tuple(final), tuple(chunks), tuple(trace))


def _check_elements(elements: Sequence[Element], text: str) -> None:
    for element in elements:
        if not 0 <= element.start_char <= element.end_char <= len(text):
            raise ValueError(
                f"element {element.element_index} lies at [{element.start_char}, {element.end_char}) "
                f"of a text of {len(text)} code points; parse the text that is given"
            )
    for left, right in pairwise(elements):
        if right.start_char < left.end_char or right.element_index <= left.element_index:
            raise ValueError(
                f"elements {left.element_index} and {right.element_index} overlap or are out of order; "
                "give them in document order"
            )
