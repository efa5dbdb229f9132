"""Who cuts the documents of a set: the road's own stages, or a peer; what comes out is alike (SX-02, ME-05).

A peer is a chunker only. Its chunks' texts are embedded and indexed as they are, without a header that it did not
write; where one exceeds the encoder's window the encoder sees its beginning, and it is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.chunking import WINDOWED, coarse_chunks, encoder_windows, export_chunks, plan_final
from linkrag_dagster.chunking.records import Chunk
from linkrag_dagster.embedding.embed_missing import embed_missing
from linkrag_dagster.embedding.memo import Memo, text_hash
from linkrag_dagster.evaluation.gates import GatedChunk
from linkrag_dagster.evaluation.gold import GoldDocument
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.markdown.markup import parse_markup
from linkrag_dagster.peers import Peer, PeerTools, Size, locate
from linkrag_dagster.stages.gates import Gates, declared_loss, gated, gates_of
from linkrag_dagster.stages.scoring import Scores
from linkrag_dagster.stages.stage import Progress
from linkrag_dagster.tokens import Tokenizer
from linkrag_dagster.versions.spec import StageSpec

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

PROGRESS_EVERY = 50
MARKDOWN: Mapping[str, object] = {"media_type": "text/markdown", "size_bytes": 0}
"""Documents of sets are read as Markdown, which plain prose is too."""
MEASURED_STAGES = ("elements", "coarse_chunks", "final_chunks", "chunks", "embeddings", "bm25", "evaluation")
CHUNKING_STAGES = ("coarse_chunks", "final_chunks", "chunks")


class SetError(Exception):
    """A folder is no question set that can be measured, or its documents can't be cut: says what is missing."""


@dataclass(frozen=True, slots=True)
class SetChunk:
    """A chunk that is searched.

    Attributes:
        chunk_id: unique in the set.
        doc_id, version: its document.
        role: `source` or `derived`.
        spans: its verbatim source spans, in order.
        content: its own words.
        text: what is handed to a reader and, by default, indexed.
        embedded: what of `text` the encoder sees: all of it at once, or window by window.
        overflow: how a chunk above the encoder's window is handled; None for any other.
        oversized: whether it is longer than asked for.
    """

    chunk_id: str
    doc_id: str
    version: str | None
    role: str
    spans: tuple[tuple[int, int], ...]
    content: str
    text: str
    embedded: tuple[str, ...]
    oversized: bool = False
    overflow: str | None = None


@dataclass(frozen=True, slots=True)
class ChunkedSet:
    """The chunks of a set's documents.

    Attributes:
        chunks: those that are searched.
        gates: what the gates counted, over all documents.
        facts: counts of what is peculiar to the chunker.
    """

    chunks: Sequence[SetChunk]
    gates: Gates
    facts: Mapping[str, int] = field(default_factory=dict[str, int])


class SetChunker(Protocol):
    """What cuts a set's documents."""

    def specs(self) -> dict[str, Mapping[str, object]]:
        """All settings and versions that its chunks and their measurement depend on, as plain data by stage."""
        ...

    def cut(self, documents: Sequence[GoldDocument], progress: Progress) -> ChunkedSet:
        """The chunks of the documents.

        Raises:
            SetError: a document can't be cut.
            PeerFailed: a library failed.
            ModelError: the encoder can't be loaded.
            OSError: the memo can't be written.
        """
        ...


class RoadChunker:
    """The road's own stages, in memory.

    Args:
        road: whose settings, tokenizers and scorer are used.
    """

    def __init__(self, road: Road) -> None:
        self._road = road

    def specs(self) -> dict[str, Mapping[str, object]]:
        """The specs of its stages."""
        road = self._road
        return {
            stage.name: road.spec(stage, MARKDOWN).as_dict()
            for stage in road.stages
            if stage.name in MEASURED_STAGES
        }

    def cut(self, documents: Sequence[GoldDocument], progress: Progress) -> ChunkedSet:
        """Chunks made as the stages make them; raises as `SetChunker.cut` says."""
        scores = Scores(self._road, progress)
        kept: list[SetChunk] = []
        gates = Gates()
        for document in _told(documents, progress):
            elements = parse_markup(document.text, document.markup)
            made = self._document(document, elements, scores)
            gates += gates_of(
                document,
                elements,
                [gated(c, self._road.settings) for c in made],
                declared_loss(made, document),
                front_matter=self._road.settings.index_front_matter,
            )
            kept += [
                SetChunk(
                    chunk_id=c.chunk_id,
                    doc_id=document.doc_id,
                    version=document.version,
                    role=c.role,
                    spans=tuple((span.start_char, span.end_char) for span in c.spans),
                    content=c.content,
                    text=c.text,
                    embedded=_read_apart(c, self._road),
                    oversized=c.oversized,
                    overflow=c.overflow,
                )
                for c in made
                if c.searchable
            ]
        # EX-05: such chunks are reported apart.
        return ChunkedSet(kept, gates, {"chunks_above_window": sum(c.overflow is not None for c in kept)})

    def _document(
        self, document: GoldDocument, elements: Sequence[Element], scores: Scores
    ) -> Sequence[Chunk]:
        road = self._road
        coarse = coarse_chunks(elements, document.text, road.settings, road.tokenizer)
        plan = plan_final(coarse, document.text, road.settings, road.tokenizer, elements)
        vectors, failures = scores.of({"": plan})
        if failures:
            raise SetError(f"document {document.doc_id!r}: {failures[0].message}")
        final, _ = plan.chunks(vectors[""])
        return export_chunks(
            final,
            document.text,
            road.settings,
            road.tokenizer,
            road.encoder_tokenizer,
            road.model.window,
            document.title,
            document.doc_id,
            document.version,
        )


class PeerChunker:
    """A peer, with everything else the road's.

    Args:
        road: whose encoder, analyzer and budget are used.
        peer: what cuts.
        size: the longest chunk that it was asked for; None: nothing is promised.
    """

    def __init__(self, road: Road, peer: Peer, size: Size | None = None) -> None:
        self._road = road
        self._peer = peer
        self._size = size

    def specs(self) -> dict[str, Mapping[str, object]]:
        """The road's specs, with the peer's name, version and settings for the stages of chunking."""
        specs = RoadChunker(self._road).specs()
        for stage in CHUNKING_STAGES:
            specs.pop(stage)
        road, peer = self._road, self._peer
        components = {
            peer.package: peer.version,
            "tokenizer": road.tokenizer_identity,
            "encoder_tokenizer": road.encoder_tokenizer_identity,
            **({"scorer": road.model.fingerprint} if peer.embeds else {}),
        }
        parameters = {"peer": peer.name, **peer.settings, "window": road.model.window}
        spec = StageSpec("chunks", revision=1, parameters=parameters, components=components)
        return {**specs, "chunks": spec.as_dict()}

    def cut(self, documents: Sequence[GoldDocument], progress: Progress) -> ChunkedSet:
        """The library's chunks, found again in the source; raises as `SetChunker.cut` says."""
        road = self._road
        kept: list[SetChunk] = []
        gates = Gates()
        inexact = truncated = 0
        for document in _told(documents, progress):
            located = locate(self._peer.split(document.text, document.doc_id), document.text)
            inexact += sum(not chunk.exact for chunk in located)
            chunks = [
                SetChunk(
                    chunk_id=f"{document.doc_id}@{document.version or ''}#{number:05d}",
                    doc_id=document.doc_id,
                    version=document.version,
                    role="source",
                    spans=chunk.spans,
                    content=chunk.text,
                    text=chunk.text,
                    embedded=(within_window(chunk.text, road.encoder_tokenizer, road.model.window),),
                )
                for number, chunk in enumerate(located)
            ]
            truncated += sum(chunk.embedded != (chunk.text,) for chunk in chunks)
            front_matter = road.settings.index_front_matter
            known = [self._gated(c) for c in chunks if c.spans]
            elements = parse_markup(document.text, document.markup)
            gates += gates_of(document, elements, known, (), front_matter=front_matter)
            kept += chunks
        return ChunkedSet(kept, gates, {"inexact_chunks": inexact, "truncated_chunks": truncated})

    def _gated(self, chunk: SetChunk) -> GatedChunk:
        """A chunk whose words are in the source, with the length that was asked for."""
        length, limit = 0, None
        if self._size is not None:
            count = self._road.tokenizer.count if self._size.in_tokens else len
            length, limit = count(chunk.text), self._size.amount
        begin, end = chunk.spans[0][0], chunk.spans[-1][1]
        return GatedChunk(chunk.chunk_id, chunk.role, begin, end, chunk.spans, length, limit)


def peer_tools(road: Road, progress: Progress) -> PeerTools:
    """The road's tokenizer and encoder, as peers are lent them; vectors go through the lake's memo."""
    known: dict[str, NDArray[np.float32]] = {}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = {
            text: within_window(text, road.encoder_tokenizer, road.model.window)
            for text in texts
            if text not in known
        }
        if missing:
            done = embed_missing(
                {text_hash(seen): seen for seen in missing.values()},
                Memo(road.memo_folder),
                road.encoder.embed,
                dimensions=road.dimensions,
                on_progress=lambda p: progress(f"a peer compares: {p.line()}"),
            )
            for problem in done.problems.values():
                raise SetError(f"a text that a peer compares can't be embedded: {problem}")
            vectors = dict(zip(done.hashes, done.vectors, strict=True))
            known.update({text: vectors[text_hash(seen)] for text, seen in missing.items()})
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(-1, road.dimensions)

    def pieces(text: str) -> list[str]:
        return token_slices(text, road.tokenizer)

    return PeerTools(road.tokenizer.count, pieces, embed, road.dimensions)


def token_slices(text: str, tokenizer: Tokenizer) -> list[str]:
    """A text's tokens as slices that together are the text: white space goes with the token before it."""
    if not text:
        return []
    offsets = tokenizer.encode_offsets(text)
    ends = offsets.ends.tolist()
    # A code point of several tokens is one slice.
    starts = [start for start, end in zip(offsets.starts.tolist()[1:], ends, strict=False) if start >= end]
    return [text[start:end] for start, end in pairwise([0, *starts, len(text)])]


def within_window(text: str, tokenizer: Tokenizer, window: int) -> str:
    """What of a text the encoder sees: all of it, or its beginning up to the last token that fits.

    Args:
        text: any text.
        tokenizer: the encoder's.
        window: tokens of the longest sequence, special ones included.
    """
    most = window - tokenizer.special_tokens
    # A token holds a code point at least, but for those that no vocabulary has whole.
    if len(text) <= most // 4 or tokenizer.count(text) <= most:
        return text
    end = int(tokenizer.encode_offsets(text).ends[most - 1])
    while end and tokenizer.count(text[:end]) > most:
        end -= 1
    return text[:end]


def _told(documents: Sequence[GoldDocument], progress: Progress) -> Iterator[GoldDocument]:
    for number, document in enumerate(documents, start=1):
        yield document
        if number % PROGRESS_EVERY == 0:
            progress(f"{number}/{len(documents)} documents chunked")


def _read_apart(chunk: Chunk, road: Road) -> tuple[str, ...]:
    """What the encoder is given of a chunk: its text, or the windows of it (EX-05)."""
    if chunk.overflow not in WINDOWED:
        return (chunk.text,)
    windows = encoder_windows(chunk.text, road.encoder_tokenizer, road.model.window)
    return tuple(chunk.text[w.start : w.end] for w in windows)
