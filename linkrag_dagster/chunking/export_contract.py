"""The contract after the export (EX-01, EX-03 to EX-07), over all chunks of one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from linkrag_dagster.chunking.encoder_windows import broken_windows, encoder_windows
from linkrag_dagster.chunking.records import Chunk, FinalChunk
from linkrag_dagster.chunking.settings import WINDOWED, ChunkSettings
from linkrag_dagster.chunking.violations import Violation
from linkrag_dagster.markdown.elements import PROTECTED_KINDS
from linkrag_dagster.tokens import Tokenizer


def check_chunks(
    chunks: Sequence[Chunk],
    final: Sequence[FinalChunk],
    text: str,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
    encoder_tokenizer: Tokenizer,
    window: int | None,
) -> list[Violation]:
    """What breaks a rule among the chunks of one document.

    Args:
        chunks: all chunks of the document, in order.
        final: all its final chunks, in order.
        text: its text.
        settings: whether there are headers.
        tokenizer: the budget's; counts are recounted with it.
        encoder_tokenizer: the encoder's, likewise.
        window: most tokens that the encoder sees; None for no window to fit.
    """
    found = [*_ids(chunks), *_coverage(chunks, final), *_anchors(chunks)]
    found += _overlap(chunks, text, settings, tokenizer)
    tokens = tokenizer.count_many([c.content for c in chunks])
    encoded = encoder_tokenizer.count_many([c.text for c in chunks])
    for chunk, own, seen in zip(chunks, tokens, encoded, strict=True):
        found += _words(chunk, text, settings)
        total = seen + encoder_tokenizer.special_tokens
        if chunk.tokens != own or chunk.encoder_tokens != total:
            message = (
                f"{chunk.chunk_id} says {chunk.tokens} and {chunk.encoder_tokens} tokens; "
                f"counted again there are {own} and {total}"
            )
            found.append(Violation("TK-02", message, (chunk.chunk_id,)))
        message = _unfit(chunk, total, encoder_tokenizer, window)
        if message:
            found.append(Violation("EX-05", message, (chunk.chunk_id,)))
    return found


def _unfit(chunk: Chunk, total: int, encoder: Tokenizer, window: int | None) -> str:
    """What of a chunk the encoder would not see; "" for nothing (EX-05)."""
    fits = window is None or not chunk.searchable or total <= window
    if chunk.overflow in WINDOWED and window is not None and not chunk.truncated_tokens:
        if fits:
            return f"{chunk.chunk_id} has {total} tokens, and is read window by window of {window}"
        broken = broken_windows(chunk.text, encoder_windows(chunk.text, encoder, window), encoder, window)
        return f"{chunk.chunk_id}: {broken}" if broken else ""
    if fits and not chunk.truncated_tokens:
        return ""
    return f"{chunk.chunk_id} has {total} tokens for a window of {window}"


def _ids(chunks: Sequence[Chunk]) -> Iterator[Violation]:
    for chunk_id, number in Counter(c.chunk_id for c in chunks).items():
        if number > 1:
            yield Violation("EX-06", f"{number} chunks have the id {chunk_id}", (chunk_id,))
    for position, chunk in enumerate(chunks):
        if chunk.ordinal != position:
            yield Violation(
                "EX-06",
                f"{chunk.chunk_id} stands at {position} with ordinal {chunk.ordinal}",
                (chunk.chunk_id,),
            )


def _coverage(chunks: Sequence[Chunk], final: Sequence[FinalChunk]) -> Iterator[Violation]:
    """EX-05: what was cut again at export is all there, in order."""
    parts: dict[str, list[str]] = {}
    for chunk in chunks:
        parts.setdefault(chunk.final_id, []).append(chunk.content)
    if list(parts) != [c.final_id for c in final]:
        yield Violation("EX-06", "chunks do not follow the final chunks that they come from", ())
    for chunk in final:
        if "".join(parts.get(chunk.final_id, [])) != chunk.content:
            yield Violation("EX-05", f"the chunks of {chunk.final_id} are not its words", (chunk.final_id,))


def _anchors(chunks: Sequence[Chunk]) -> Iterator[Violation]:
    held = {c.chunk_id: frozenset(c.contained_element_ids) for c in chunks if c.role == "source"}
    for chunk in chunks:
        if chunk.role == "derived" and chunk.element_id not in held.get(chunk.source_chunk_id or "", ()):
            message = f"{chunk.chunk_id}: {chunk.element_id} is not in its source {chunk.source_chunk_id}"
            yield Violation("SD-14", message, (chunk.chunk_id,))


def _overlap(
    chunks: Sequence[Chunk], text: str, settings: ChunkSettings, tokenizer: Tokenizer
) -> Iterator[Violation]:
    """EX-03, EX-04: what a source chunk borrows are a neighbour's words, few, and truly beside its own."""
    known = {c.chunk_id for c in chunks if c.role == "source"}
    for chunk in chunks:
        if chunk.role != "source" or not chunk.context_spans:
            continue
        ids = (chunk.chunk_id,)
        protected = not PROTECTED_KINDS.isdisjoint(chunk.kinds) and not settings.protected_overlap
        if protected or chunk.kinds == ("front_matter",):
            yield Violation("EX-03", f"{chunk.chunk_id} ({', '.join(chunk.kinds)}) takes overlap", ids)
        if not chunk.context_chunk_ids or not known.issuperset(chunk.context_chunk_ids):
            yield Violation("EX-04", f"{chunk.chunk_id} does not say which chunks its context came from", ids)
        for span in chunk.context_spans:
            before = span.end_char <= chunk.start_char
            gap = text[span.end_char : chunk.start_char] if before else text[chunk.end_char : span.start_char]
            if gap.strip() or (not before and span.start_char < chunk.end_char):
                message = f"{chunk.chunk_id}: context [{span.start_char}, {span.end_char}) is not beside it"
                yield Violation("EX-04", message, ids)
            tokens = tokenizer.count(text[span.start_char : span.end_char])
            if tokens > settings.overlap_tokens:
                message = f"{chunk.chunk_id} borrows {tokens} tokens, above {settings.overlap_tokens}"
                yield Violation("EX-03", message, ids)


def _words(chunk: Chunk, text: str, settings: ChunkSettings) -> Iterator[Violation]:
    ids = (chunk.chunk_id,)
    if not chunk.content or chunk.content.isspace():
        yield Violation("EX-01", f"{chunk.chunk_id} has no words", ids)
    if chunk.content.strip() not in chunk.text:
        yield Violation("EX-01", f"the words of {chunk.chunk_id} are not in its text", ids)
    if chunk.header and not (settings.header and chunk.text.startswith(chunk.header)):
        yield Violation("EX-02", f"{chunk.chunk_id}: its text does not begin with its header", ids)
    if chunk.verbatim and chunk.content != text[chunk.start_char : chunk.end_char]:
        message = f"{chunk.chunk_id} is not the document's [{chunk.start_char}, {chunk.end_char})"
        yield Violation("EX-07", message, ids)
    at = 0
    for span in chunk.spans:
        place = chunk.content.find(text[span.start_char : span.end_char], at)
        if place < 0 or span.start_char >= span.end_char:
            yield Violation(
                "EX-07", f"{chunk.chunk_id} does not hold its span [{span.start_char}, {span.end_char})", ids
            )
            return
        at = place + span.end_char - span.start_char
    for span in chunk.context_spans:
        if text[span.start_char : span.end_char] not in chunk.text:
            yield Violation("EX-04", f"{chunk.chunk_id}: its text does not hold the context it names", ids)
