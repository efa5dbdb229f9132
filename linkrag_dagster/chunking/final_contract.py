"""The contract after stage two (S2-02): coverage, anchors, hard maximum; counts are recounted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from linkrag_dagster.chunking.records import CoarseChunk, FinalChunk
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.chunking.violations import Violation
from linkrag_dagster.tokens import Tokenizer


def check_final(
    final: Sequence[FinalChunk],
    coarse: Sequence[CoarseChunk],
    text: str,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
) -> list[Violation]:
    """What breaks a rule among the final chunks of one document.

    Args:
        final: all final chunks of the document, in order.
        coarse: all its coarse chunks, in order.
        text: its text.
        settings: limits.
        tokenizer: the budget's; counts are recounted with it.
    """
    if settings.compares:
        return _compared(final, text, settings, tokenizer)
    found = [*_order(final), *_coverage(final, coarse), *_anchors(final)]
    counts = tokenizer.count_many([c.content for c in final])
    for chunk, tokens in zip(final, counts, strict=True):
        found += _chunk(chunk, text)
        found += _length(chunk, tokens, settings, tokenizer)
    return found


def _compared(
    final: Sequence[FinalChunk], text: str, settings: ChunkSettings, tokenizer: Tokenizer
) -> list[Violation]:
    """Of a strategy for comparison: no stage one, no length promised; its words are the document's all the same."""
    found = [*_order(final), *_anchors(final)]
    counts = tokenizer.count_many([c.content for c in final])
    for chunk, tokens in zip(final, counts, strict=True):
        found += _chunk(chunk, text)
        if chunk.tokens != tokens or chunk.oversized != (tokens > settings.max_tokens):
            message = f"{chunk.final_id} says {chunk.tokens} tokens, oversized {chunk.oversized}; counted are {tokens}"
            found.append(Violation("TK-02", message, (chunk.final_id,)))
        if chunk.hard_max_enforced or (chunk.role != "source" and not settings.comparison.derived):
            found.append(
                Violation("S2-02", f"{chunk.final_id} promises what no comparison does", (chunk.final_id,))
            )
    return found


def _order(final: Sequence[FinalChunk]) -> Iterator[Violation]:
    for final_id, number in Counter(c.final_id for c in final).items():
        if number > 1:
            yield Violation("S2-02", f"{number} chunks have the id {final_id}", (final_id,))
    for position, chunk in enumerate(final):
        if chunk.final_index != position:
            yield Violation(
                "S2-02",
                f"{chunk.final_id} stands at {position} with index {chunk.final_index}",
                (chunk.final_id,),
            )


def _coverage(final: Sequence[FinalChunk], coarse: Sequence[CoarseChunk]) -> Iterator[Violation]:
    """SD-13: cores are slices of their coarse content and, in order, the whole of it."""
    of_coarse: dict[str, list[FinalChunk]] = {}
    for chunk in final:
        of_coarse.setdefault(chunk.coarse_id, []).append(chunk)
    known = [c.coarse_id for c in coarse]
    if list(of_coarse) != known:
        odd = tuple(sorted(set(known) ^ set(of_coarse)))
        yield Violation(
            "S2-02",
            f"final chunks do not follow the coarse chunks; odd ones: {', '.join(odd) or 'their order'}",
            odd,
        )
    for candidate in coarse:
        at, cut_short = 0, False
        for chunk in of_coarse.get(candidate.coarse_id, []):
            gap = chunk.coarse_start - at
            if gap < 0 or (gap > 0 and not cut_short):
                message = f"{chunk.final_id} begins at {chunk.coarse_start}, the one before ends at {at}"
                yield Violation("SD-13", message, (chunk.final_id,))
            if chunk.content != candidate.content[chunk.coarse_start : chunk.coarse_end] or not chunk.content:
                yield Violation(
                    "SD-13", f"{chunk.final_id} is no slice of {candidate.coarse_id}", (chunk.final_id,)
                )
            if chunk.role != candidate.role:
                yield Violation(
                    "S2-02",
                    f"{chunk.final_id} has another role than {candidate.coarse_id}",
                    (chunk.final_id,),
                )
            at, cut_short = chunk.coarse_end, chunk.truncated
        if at != len(candidate.content) and not cut_short:
            yield Violation(
                "SD-13", f"the end of {candidate.coarse_id} is in no final chunk", (candidate.coarse_id,)
            )


def _anchors(final: Sequence[FinalChunk]) -> Iterator[Violation]:
    """SD-14: the source chunk of a derived one exists and holds its element."""
    held = {c.final_id: frozenset(c.contained_element_ids) for c in final if c.role == "source"}
    for chunk in final:
        if chunk.role == "derived" and chunk.element_id not in held.get(chunk.source_final_id or "", ()):
            message = f"{chunk.final_id}: {chunk.element_id} is not in its source {chunk.source_final_id}"
            yield Violation("SD-14", message, (chunk.final_id,))


def _chunk(chunk: FinalChunk, text: str) -> Iterator[Violation]:
    if chunk.content.isspace():
        yield Violation("S2-02", f"{chunk.final_id} is white space only", (chunk.final_id,))
    if chunk.verbatim != (chunk.content == text[chunk.start_char : chunk.end_char]):
        yield Violation("CB-17", f"{chunk.final_id}: verbatim is {chunk.verbatim}", (chunk.final_id,))
    at = 0
    for span in chunk.spans:
        place = chunk.content.find(text[span.start_char : span.end_char], at)
        if place < 0 or span.start_char >= span.end_char:
            message = f"{chunk.final_id} does not hold its span [{span.start_char}, {span.end_char})"
            yield Violation("CB-17", message, (chunk.final_id,))
            return
        at = place + span.end_char - span.start_char


def _length(
    chunk: FinalChunk, tokens: int, settings: ChunkSettings, tokenizer: Tokenizer
) -> Iterator[Violation]:
    ids = (chunk.final_id,)
    if chunk.tokens != tokens:
        yield Violation(
            "TK-02", f"{chunk.final_id} says {chunk.tokens} tokens; {tokenizer.name} counts {tokens}", ids
        )
    if chunk.oversized != (tokens > settings.max_tokens) or chunk.oversized != (
        chunk.oversized_reason is not None
    ):
        message = (
            f"{chunk.final_id} has {tokens} tokens, oversized is {chunk.oversized} ({chunk.oversized_reason})"
        )
        yield Violation("SD-12", message, ids)
    promised = chunk.role == "source" and chunk.kinds != ("front_matter",) and chunk.strategy != "noop"
    if chunk.hard_max_enforced != promised:
        yield Violation("S2-01", f"{chunk.final_id}: hard_max_enforced is {chunk.hard_max_enforced}", ids)
    if promised and tokens > settings.hard_max_tokens and not _unavoidable(chunk, settings, tokenizer):
        yield Violation(
            "S2-02",
            f"{chunk.final_id} has {tokens} tokens, above hard_max_tokens {settings.hard_max_tokens}",
            ids,
        )
    if chunk.truncated and (chunk.truncated_reason is None or chunk.original_token_count is None):
        yield Violation("SD-11", f"{chunk.final_id} is truncated without a reason or its original size", ids)


def _unavoidable(chunk: FinalChunk, settings: ChunkSettings, tokenizer: Tokenizer) -> bool:
    """One code point above the limit, or white space alone above it: neither can be cut into chunks of words."""
    words = chunk.content.strip()
    if chunk.oversized_reason == "token_safe_residue":
        return len(words) == 1
    fewest = min(tokenizer.count_many([words, chunk.content.rstrip()]))
    return chunk.oversized_reason == "separators" and fewest <= settings.hard_max_tokens
