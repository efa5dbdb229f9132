"""Cutting the words of a final chunk again at export: tables by row groups, and what exceeds the window (EX-05)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.chunking.derived import reference
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.records import FinalChunk, Span
from linkrag_dagster.chunking.splitting import Piece, Splitter
from linkrag_dagster.markdown.frozen import record


@dataclass(frozen=True, slots=True)
class Cutting:
    """A part of a final chunk's content.

    Attributes:
        start, end: its place in the content.
        reason: why it ends there.
    """

    start: int
    end: int
    reason: str


def by_rows(content: str, measure: Measure, limit: int, first_limit: int) -> list[Cutting]:
    """Groups of whole rows of a table, each of at most `limit` tokens; a longer row is cut at token-safe places.

    Args:
        content: the table's source.
        measure: its token counts.
        limit: of a part; what a part repeats is not in it.
        first_limit: of the first part, which repeats nothing.
    """
    first = Splitter(content, measure, first_limit).whole_lines(0, len(content))[0]
    cuttings = [_of_block(first)]
    if first.end < len(content):
        rest = Splitter(content, measure, limit, first_limit).whole_lines(first.end, len(content))
        cuttings += [_of_block(piece) for piece in rest]
    return _without_blanks(content, cuttings, "end")


def _of_block(piece: Piece) -> Cutting:
    reason = piece.ends if piece.ends == "token_safe_residue" else "protected_split"
    return Cutting(piece.start, piece.end, reason)


def by_words(content: str, measure: Measure, limit: int, reason: str) -> list[Cutting]:
    """Consecutive parts of at most `limit` tokens, cut between blocks, else lines, sentences, or where it is safe.

    Args:
        content: the words.
        measure: their token counts.
        limit: tokens of a part.
        reason: why the last part ends where it ends.
    """
    pieces = Splitter(content, measure, limit).text(0, len(content))
    cuttings: list[Cutting] = []
    first = 0
    while first < len(pieces):
        start, last, block = pieces[first].start, first + 1, 0
        while last < len(pieces) and measure.count(start, pieces[last].end) <= limit:
            last += 1
            if content.endswith("\n\n", 0, pieces[last - 1].end):
                block = last
        # A blank line is the better place, unless it leaves the part less than half full.
        if last < len(pieces) and block and 2 * measure.count(start, pieces[block - 1].end) >= limit:
            last = block
        cuttings.append(Cutting(start, pieces[last - 1].end, pieces[last - 1].ends))
        first = last
    return _without_blanks(content, cuttings, reason)


def _without_blanks(content: str, cuttings: Sequence[Cutting], reason: str) -> list[Cutting]:
    """No part is white space only: it joins the part before it, the first one the part after it."""
    joined: list[Cutting] = []
    for cutting in cuttings:
        last = joined[-1] if joined else None
        blank = content[cutting.start : cutting.end].isspace()
        if last is not None and (blank or content[last.start : last.end].isspace()):
            joined[-1] = Cutting(last.start, cutting.end, cutting.reason)
        else:
            joined.append(cutting)
    joined[-1] = Cutting(joined[-1].start, joined[-1].end, reason)
    return joined


@record
class Located:
    """Where a part of a final chunk stands in the document.

    Attributes:
        start_char, end_char: its place.
        spans: its verbatim parts.
        verbatim: whether it is the document's own slice.
    """

    start_char: int
    end_char: int
    spans: tuple[Span, ...]
    verbatim: bool


def located(chunk: FinalChunk, text: str, cuttings: Sequence[Cutting]) -> list[Located]:
    """Places of the parts of a final chunk, in order."""
    if chunk.verbatim:
        places = [Span(chunk.start_char + c.start, chunk.start_char + c.end) for c in cuttings]
        return [Located(p.start_char, p.end_char, (p,), True) for p in places]
    runs = _runs(chunk, text)
    found: list[Located] = []
    at = chunk.start_char
    for cutting in cuttings:
        spans: list[Span] = []
        for start, span in runs:
            length = span.end_char - span.start_char
            first, last = max(cutting.start, start), min(cutting.end, start + length)
            if first < last:
                spans.append(Span(span.start_char + first - start, span.start_char + last - start))
        if not spans:  # a part of what was rendered: it stands between what surrounds it
            later = [s.start_char for start, s in runs if start >= cutting.end]
            found.append(Located(at, max(at, min(later, default=chunk.end_char)), (), False))
            continue
        content = chunk.content[cutting.start : cutting.end]
        begin = spans[0].start_char
        if len(spans) == 1 and text.startswith(content, begin):
            spans = [Span(begin, begin + len(content))]
        verbatim = len(spans) == 1 and spans[0].end_char - begin == len(content)
        at = spans[-1].end_char
        found.append(Located(begin, at, tuple(spans), verbatim))
    return found


def _runs(chunk: FinalChunk, text: str) -> list[tuple[int, Span]]:
    """Each verbatim span of a final chunk with its place in the content: between two stands what was rendered."""
    found: list[tuple[int, Span]] = []
    at = 0
    for span in chunk.spans:
        words = text[span.start_char : span.end_char]
        place = chunk.content.find(words, at)
        while place > 0 and not chunk.content.startswith("\n\n", place - 2):
            place = chunk.content.find(words, place + 1)
        if place >= 0:
            found.append((place, span))
            at = place + len(words)
    return found


def contained(
    chunk: FinalChunk, cutting: Cutting, place: Located, elements: Sequence[tuple[str, FinalChunk]]
) -> tuple[str, ...]:
    """Ids of the images and tables in a part: those that its spans hold, and those whose reference it holds.

    Args:
        chunk: the final chunk.
        cutting: the part.
        place: where it stands.
        elements: the chunk's images and tables: id, and their derived final chunk.
    """
    content = chunk.content[cutting.start : cutting.end]
    return tuple(
        element_id
        for element_id, derived in elements
        if any(s.start_char < derived.end_char and derived.start_char < s.end_char for s in place.spans)
        or reference(derived.kinds[0], element_id) in content
    )
