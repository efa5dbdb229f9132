"""Export: from final chunks to the chunks that are indexed, with two texts each (EX-01 to EX-07)."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from linkrag_dagster.chunking.compat_header import with_compat_headers
from linkrag_dagster.chunking.derived import header_rows, reference
from linkrag_dagster.chunking.encoder_windows import encoder_windows, unseen_tokens
from linkrag_dagster.chunking.header import LONGEST_TITLE, Headers, header_line, is_foreign
from linkrag_dagster.chunking.indexed_tokens import IndexedTokens, Place
from linkrag_dagster.chunking.lines import Lines
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.overflow import Cutting, Located, by_rows, by_words, contained, located
from linkrag_dagster.chunking.overlap import Neighbours
from linkrag_dagster.chunking.records import Chunk, FinalChunk, Span
from linkrag_dagster.chunking.settings import WINDOWED, ChunkSettings
from linkrag_dagster.chunking.window import IndexedText, WindowOverflow, fitted
from linkrag_dagster.markdown.frozen import record
from linkrag_dagster.tokens import TokenCounter, Tokenizer

ID_CHARACTERS = 32

# A header keeps at most this part of the room that a split core leaves it.
_HEADER_SHARE = 4
# A table's repeated header rows take at most this part of a row group.
_PREFIX_SHARE = 4


def export_chunks(
    final: Sequence[FinalChunk],
    text: str,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
    encoder_tokenizer: Tokenizer,
    window: int | None,
    title: str = "",
    doc_id: str = "",
    version: str | None = None,
    *,
    counter: TokenCounter | None = None,
) -> list[Chunk]:
    """Chunks of a document, in the order of their final chunks.

    Args:
        final: all final chunks of the document, in order.
        text: its text.
        settings: header, overlap, hard maximum of derived tables, what happens to a core above the window.
        tokenizer: the budget's.
        encoder_tokenizer: the encoder's own; `encoder_tokens` are counted with it.
        window: most tokens that the encoder sees, special ones included; None for no window to fit.
        title: the document's title, "" if it has none.
        doc_id: the document's id, a part of every chunk's id.
        version: its declared version; None if none was declared.
        counter: the budget's counts of that text, if it was tokenised already.

    Raises:
        ValueError: the window leaves no room for any word.
        WindowOverflow: a core does not fit the window, under `overflow: error`.
    """
    if window is not None and window <= encoder_tokenizer.special_tokens:
        raise ValueError(
            f"a window of {window} tokens leaves no room beside the encoder's special tokens; declare more"
        )
    plain = replace(settings, header=False) if settings.compat_header else settings
    drafts = _Drafts(final, text, plain, tokenizer, encoder_tokenizer, window, title, counter)
    chunks = _finished(drafts.all(), drafts.sizes, doc_id, version, plain, encoder_tokenizer, window)
    return with_compat_headers(chunks, title, encoder_tokenizer, window) if settings.compat_header else chunks


@record
class _Draft:
    """A chunk before its ids are known; `size` are the encoder's tokens of its text, where they are known."""

    final: FinalChunk
    text: IndexedText
    content: str
    place: Located
    start_line: int
    end_line: int
    tokens: int
    cut_reason: str
    part: int | None
    parts: int | None
    overflow: str | None
    element_ids: tuple[str, ...]
    size: int | None = None


class _Drafts:
    def __init__(
        self,
        final: Sequence[FinalChunk],
        text: str,
        settings: ChunkSettings,
        tokenizer: Tokenizer,
        encoder_tokenizer: Tokenizer,
        window: int | None,
        title: str,
        counter: TokenCounter | None,
    ) -> None:
        self._final = final
        self._text = text
        self._settings = settings
        self._tokenizer = tokenizer
        self._encoder = encoder_tokenizer
        self._room = None if window is None else window - encoder_tokenizer.special_tokens
        # The title may go, the headings never: those are words of the text.
        foreign = settings.header and settings.foreign_title == "drop" and is_foreign(title, text)
        title = "" if foreign else title
        most = LONGEST_TITLE if self._room is None else self._room
        self._headers = Headers(title, most=most, count=encoder_tokenizer.count)
        self._counters: dict[int, TokenCounter] = {} if counter is None else {id(tokenizer): counter}
        self.sizes = IndexedTokens(encoder_tokenizer, lambda: self._counter(encoder_tokenizer))
        self._derived: Mapping[str, FinalChunk] = {
            c.element_id: c for c in final if c.role == "derived" and c.element_id is not None
        }
        self._neighbours: Neighbours | None = None
        if settings.overlap_tokens:
            whole = Measure(self._counter(tokenizer), 0, len(text))
            self._neighbours = Neighbours(final, text, whole, settings)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    def all(self) -> list[_Draft]:
        """Drafts of all chunks."""
        texts = [self._indexed(chunk) for chunk in self._final]
        known = [chunk.tokens for chunk in self._final] if self._encoder is self._tokenizer else None
        sizes = self.sizes.count_each(texts, self._final, known)
        drafts: list[_Draft] = []
        for chunk, text, size in zip(self._final, texts, sizes, strict=True):
            drafts += self._of(chunk, text, size)
        return drafts

    def _of(self, chunk: FinalChunk, text: IndexedText, size: int) -> list[_Draft]:
        table = chunk.role == "derived" and chunk.kinds == ("table",)
        if table and chunk.tokens > self._settings.hard_max_tokens:
            return self._table_parts(chunk, text)
        if self._room is None or size <= self._room or not chunk.searchable:  # nobody embeds that
            return [self._draft(chunk, text, size)]
        smaller = self._less_overlap(chunk, text) or fitted(text, self._fitting(chunk))
        if smaller is not None:
            return [self._draft(chunk, smaller)]
        if self._settings.overflow in WINDOWED:
            return [self._whole(chunk, text)]
        if table:
            return self._table_parts(chunk, text)
        if self._settings.overflow == "error":
            raise WindowOverflow(chunk, self._encoder.count(chunk.content), self._room or 0)
        return self._split(chunk, text)

    def _indexed(self, chunk: FinalChunk) -> IndexedText:
        """The text with all its parts."""
        header, prefix = self._header(chunk), chunk.repeated_prefix or ""
        if chunk.role != "derived" or chunk.element_id is None:
            text = IndexedText(header, chunk.content, prefix=prefix)
            return self._with_overlap(chunk, text, self._settings.overlap_tokens)
        line = reference(chunk.kinds[0], chunk.element_id)
        introduction = f"{line}\n{chunk.description}" if chunk.description else line
        text = IndexedText(header, chunk.content, introduction, prefix=prefix)
        return self._with_context(text, (chunk.context_before, chunk.context_after))

    def _header(self, chunk: FinalChunk) -> tuple[str, ...]:
        return self._headers.over(chunk.heading_trail) if self._settings.header else ()

    def _with_context(self, text: IndexedText, context: tuple[Span | None, Span | None]) -> IndexedText:
        held = tuple([s for s in context if s is not None])
        if not held:
            return text if not text.context else replace(text, before="", after="", context=())
        before, after = ["" if s is None else self._text[s.start_char : s.end_char] for s in context]
        return IndexedText(text.header, text.content, text.introduction, before, text.prefix, after, held)

    def _with_overlap(self, chunk: FinalChunk, text: IndexedText, limit: int) -> IndexedText:
        """The text with the words of its neighbours, at most `limit` tokens a side (EX-03)."""
        if self._neighbours is None:
            return text
        return self._with_context(text, self._neighbours.around(chunk, limit))

    def _less_overlap(self, chunk: FinalChunk, text: IndexedText) -> IndexedText | None:
        """The text with as much overlap as fits, by halves; None where it has none, or none fits."""
        limit = self._settings.overlap_tokens // 2
        while chunk.role == "source" and text.context and limit:
            text = self._with_overlap(chunk, text, limit)
            if text.context and self._fitting(chunk)(text):
                return text
            limit //= 2
        return None

    def _fitting(self, place: Place) -> Callable[[IndexedText], bool]:
        """Whether texts whose content stands at a place are within the window."""
        room = self._room
        return lambda text: room is None or self.sizes.count(text, place) <= room

    def _draft(self, chunk: FinalChunk, text: IndexedText, size: int | None = None) -> _Draft:
        return _Draft(
            final=chunk,
            text=text,
            content=chunk.content,
            place=Located(chunk.start_char, chunk.end_char, chunk.spans, chunk.verbatim),
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            tokens=chunk.tokens,
            cut_reason=chunk.cut_reason,
            part=chunk.part,
            parts=chunk.parts,
            overflow=None,
            element_ids=chunk.contained_element_ids,
            size=size,
        )

    def _whole(self, chunk: FinalChunk, text: IndexedText) -> _Draft:
        """A core above the window in one piece, for several windows: nothing is left out but its neighbours' words."""
        bare = replace(text, before="", after="", context=())
        return replace(self._draft(chunk, bare), overflow=self._settings.overflow)

    # -- several chunks of one final chunk -----------------------------------------------------------------------

    def _table_parts(self, chunk: FinalChunk, text: IndexedText) -> list[_Draft]:
        """A derived table by row groups, the header rows repeated (CB-13): in the budget, and within the window."""
        budget = self._measure(self._tokenizer, chunk)
        rows = header_rows(chunk.content)
        limit = self._settings.hard_max_tokens
        cost = self._tokenizer.count(rows + "\n") if rows else 0
        if cost * _PREFIX_SHARE > limit:
            rows, cost = "", 0
        cuttings = by_rows(chunk.content, budget, limit - cost, limit)
        bare = replace(text, before="", after="", context=())
        above = self._settings.overflow not in WINDOWED
        if (
            above
            and self._room is not None
            and any(fitted(self._part(bare, chunk, c, rows), self._fitting(chunk)) is None for c in cuttings)
        ):
            measure = self._measure(self._encoder, chunk)
            cost = self._encoder.count(rows + "\n") if rows else 0
            if cost * _PREFIX_SHARE > self._room:
                rows, cost = "", 0
            room = min(self._room, limit) if self._encoder is self._tokenizer else self._room
            cuttings = by_rows(chunk.content, measure, room - cost, room)
        return self._parts(chunk, [self._part(bare, chunk, c, rows) for c in cuttings], cuttings, None)

    def _part(self, text: IndexedText, chunk: FinalChunk, cutting: Cutting, rows: str) -> IndexedText:
        return replace(
            text, content=chunk.content[cutting.start : cutting.end], prefix=rows if cutting.start else ""
        )

    def _split(self, chunk: FinalChunk, text: IndexedText) -> list[_Draft]:
        """The core split losslessly, each part with as much of the header as a share of the window allows."""
        room = self._room or 1
        header = text.header
        while header and self._encoder.count(header_line(header) + "\n\n") * _HEADER_SHARE > room:
            header = header[1:]
        cost = self._encoder.count(header_line(header) + "\n\n") if header else 0
        measure = self._measure(self._encoder, chunk)
        cuttings = by_words(chunk.content, measure, max(1, room - cost), chunk.cut_reason)
        texts = [
            replace(
                text,
                header=header,
                introduction=text.introduction if not c.start else text.introduction.split("\n", 1)[0],
                before="",
                after="",
                context=(),
                content=chunk.content[c.start : c.end],
            )
            for c in cuttings
        ]
        return self._parts(chunk, texts, cuttings, "split")

    def _parts(
        self,
        chunk: FinalChunk,
        texts: Sequence[IndexedText],
        cuttings: Sequence[Cutting],
        overflow: str | None,
    ) -> list[_Draft]:
        places = located(chunk, self._text, cuttings)
        budget = self._measure(self._tokenizer, chunk)
        elements = [(i, self._derived[i]) for i in chunk.contained_element_ids if i in self._derived]
        drafts: list[_Draft] = []
        for number, (text, cutting, place) in enumerate(zip(texts, cuttings, places, strict=True), start=1):
            fits, handled = fitted(text, self._fitting(place)), overflow
            if fits is None and self._settings.overflow in WINDOWED:
                fits, handled = text, self._settings.overflow
            # What still does not fit are words of one token too many: shown by `truncated_tokens`, and refused.
            fits = fits or replace(text, header=(), introduction="", prefix="")
            drafts.append(
                _Draft(
                    final=chunk,
                    text=fits,
                    content=chunk.content[cutting.start : cutting.end],
                    place=place,
                    start_line=self._lines.of(place.start_char),
                    end_line=self._lines.of_last(self._text, place.start_char, place.end_char),
                    tokens=budget.count(cutting.start, cutting.end),
                    cut_reason=cutting.reason,
                    part=number,
                    parts=len(cuttings),
                    overflow=handled,
                    element_ids=contained(chunk, cutting, place, elements),
                )
            )
        return drafts

    def _measure(self, tokenizer: Tokenizer, chunk: FinalChunk) -> Measure:
        """Counts of a chunk's content; a document is tokenised once with each tokenizer, and only if needed."""
        if not chunk.verbatim:
            return Measure.of(tokenizer, chunk.content)
        return Measure(self._counter(tokenizer), chunk.start_char, len(chunk.content))

    def _counter(self, tokenizer: Tokenizer) -> TokenCounter:
        counter = self._counters.get(id(tokenizer))
        if counter is None:
            counter = self._counters[id(tokenizer)] = TokenCounter(tokenizer, self._text)
        return counter


def _finished(
    drafts: Sequence[_Draft],
    indexed: IndexedTokens,
    doc_id: str,
    version: str | None,
    settings: ChunkSettings,
    encoder: Tokenizer,
    window: int | None,
) -> list[Chunk]:
    """Chunks with ids, anchors and encoder tokens."""
    texts = [str(d.text) for d in drafts]
    headers = [header_line(d.text.header) for d in drafts]
    fresh = [d for d in drafts if d.size is None]
    counted = iter(indexed.count_each([d.text for d in fresh], [d.place for d in fresh]))
    sizes = [next(counted) if d.size is None else d.size for d in drafts]
    distinct = list(dict.fromkeys(headers))
    header_sizes = dict(zip(distinct, encoder.count_many(distinct), strict=True))
    ids = _ids(drafts, doc_id, version)
    anchors = _Anchors(drafts, ids)
    chunks: list[Chunk] = []
    for ordinal, draft in enumerate(drafts):
        final = draft.final
        seen = sizes[ordinal] + encoder.special_tokens
        # What nobody embeds is not cut by an encoder.
        unseen = 0 if window is None or not final.searchable else max(0, seen - window)
        if window is not None and draft.overflow in WINDOWED:
            unseen = unseen_tokens(encoder_windows(texts[ordinal], encoder, window), window)
        oversized = draft.tokens > settings.max_tokens
        chunks.append(
            Chunk(
                chunk_id=ids[ordinal],
                ordinal=ordinal,
                role=final.role,
                kinds=final.kinds,
                content=draft.content,
                text=texts[ordinal],
                header=headers[ordinal],
                verbatim=draft.place.verbatim,
                spans=draft.place.spans,
                context_spans=draft.text.context,
                context_chunk_ids=anchors.around(draft.text.context),
                heading_trail=final.heading_trail,
                start_char=draft.place.start_char,
                end_char=draft.place.end_char,
                start_line=draft.start_line,
                end_line=draft.end_line,
                tokens=draft.tokens,
                encoder_tokens=seen,
                header_tokens=header_sizes[headers[ordinal]],
                truncated_tokens=unseen,
                strategy=final.strategy,
                cut_reason=draft.cut_reason,
                oversized=oversized,
                oversized_reason=final.oversized_reason if oversized else None,
                part=draft.part,
                parts=draft.parts,
                truncated=final.truncated,
                truncated_reason=final.truncated_reason,
                original_token_count=final.original_token_count,
                overflow=draft.overflow,
                source_chunk_id=anchors.source(draft) if final.role == "derived" else None,
                element_id=final.element_id,
                contained_element_ids=draft.element_ids,
                final_id=final.final_id,
                searchable=final.searchable,
            )
        )
    return chunks


def _ids(drafts: Sequence[_Draft], doc_id: str, version: str | None) -> list[str]:
    """Ids from document, declared version, role, content and occurrence: an edit elsewhere changes none (EX-06)."""
    seen: dict[tuple[str, str], int] = {}
    ids: list[str] = []
    # As `json.dumps` writes the five of them in a list.
    quoted = json.JSONEncoder().encode
    place = json.dumps([doc_id, version])[:-1]
    for draft in drafts:
        role, content = key = (draft.final.role, draft.content)
        occurrence = seen.get(key, 0)
        parts = f"{place}, {quoted(role)}, {quoted(content)}, {occurrence}]"
        seen[key] = occurrence + 1
        ids.append(hashlib.sha256(parts.encode()).hexdigest()[:ID_CHARACTERS])
    return ids


class _Anchors:
    """Source chunks by final chunk and by place."""

    def __init__(self, drafts: Sequence[_Draft], ids: Sequence[str]) -> None:
        self._first: dict[str, str] = {}
        self._holder: dict[tuple[str, str], str] = {}
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._ids: list[str] = []
        for draft, chunk_id in zip(drafts, ids, strict=True):
            if draft.final.role == "source":
                final_id = draft.final.final_id
                self._first.setdefault(final_id, chunk_id)
                for element_id in draft.element_ids:
                    self._holder.setdefault((final_id, element_id), chunk_id)
                self._starts.append(draft.place.start_char)
                self._ends.append(draft.place.end_char)
                self._ids.append(chunk_id)

    def source(self, derived: _Draft) -> str | None:
        """The source chunk that holds a derived chunk's element; of several parts the first that does."""
        final_id = derived.final.source_final_id or ""
        return self._holder.get((final_id, derived.final.element_id or "")) or self._first.get(final_id)

    def around(self, spans: Sequence[Span]) -> tuple[str, ...]:
        """Source chunks whose words the spans hold."""
        if not spans:
            return ()
        found: dict[str, None] = {}
        for span in spans:
            first = bisect_right(self._ends, span.start_char)
            for index in range(first, bisect_left(self._starts, span.end_char)):
                found[self._ids[index]] = None
        return tuple(found)
