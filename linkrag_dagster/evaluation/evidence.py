"""Evidence in chunks: graded relevance and Evidence Recall, from spans alone (GO-02, GO-03).

A question's evidence has alternative support groups (OR), each of required spans (AND). Two notions, never mixed:

    contained   one single chunk holds the span whole (seeds/000);
    covered     the union of the chunks' spans, of the span's document and version, holds it whole (seeds/002).

Touching spans join, one missing character fails. What counts of a chunk are its verbatim source spans; headers,
neighbour context and rendered references are not among them.

Chunks may be `IndexedChunk`, chunk records, or mappings with their fields: `doc_id`, `version`, and `spans`, or without
those `start_char` and `end_char`. Evidence may be `EvidenceSpan` or mappings; a flat list is one group, a list of lists
are alternative groups. Field names of published sets are read as well: `doc`, `docId`; `from`, `start`; `to`, `end`.

Documents and versions must be equal. Chunks of a single text need no document, and then no version; gold of a set
without versions needs no version. Where the other side names several, that is refused: which is meant can't be known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Literal, SupportsIndex, TypeAlias, cast, get_args

from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk
from linkrag_dagster.evaluation.spans import holds, union

Mode = Literal["contained", "covered"]

ChunkLike: TypeAlias = object
"""`IndexedChunk`, a chunk record, or a mapping with their fields."""

EvidenceLike: TypeAlias = Sequence[object]
"""Spans (one group), or groups of spans; a span is an `EvidenceSpan`, a record or mapping with its fields."""

Groups = tuple[tuple[EvidenceSpan, ...], ...]

DOCUMENT_FIELDS = ("doc_id", "docId", "doc")
START_FIELDS = ("start_char", "start", "from")
END_FIELDS = ("end_char", "end", "to")

ANY = ""
"""The document of a side that names none."""


def indexed_chunk(chunk: ChunkLike) -> IndexedChunk:
    """A chunk as a metric sees it, from a record or mapping.

    Raises:
        ValueError: neither spans nor a range, or a span that is empty or negative.
    """
    if isinstance(chunk, IndexedChunk):
        return chunk
    name = f"chunk {_field(chunk, ('chunk_id',), None) or chunk!r}"[:200]
    spans = _field(chunk, ("spans",), None)
    found = (
        (_range(chunk, name),)
        if spans is None
        else tuple(_range(span, name) for span in cast("Iterable[object]", spans))
    )
    return IndexedChunk(
        chunk_id=str(_field(chunk, ("chunk_id",), "")),
        doc_id=_text(_field(chunk, DOCUMENT_FIELDS, None)) or ANY,
        spans=found,
        version=_text(_field(chunk, ("version",), None)),
    )


def support_groups(evidence: EvidenceLike) -> Groups:
    """Evidence as alternative groups of required spans, each span once a group; () where there is none.

    Raises:
        ValueError: spans mixed with groups, an empty group beside others, a span without a range or with an empty one.
    """
    nested = [isinstance(item, (list, tuple)) for item in evidence]
    if any(nested) and not all(nested):
        raise ValueError(
            f"evidence mixes spans and groups: {list(evidence)!r}: give spans, or lists of spans"
        )
    groups = cast("Sequence[Sequence[object]]", evidence if any(nested) else [evidence])
    found = tuple(tuple(dict.fromkeys(_evidence_span(item) for item in group)) for group in groups)
    if not any(found):
        return ()
    if not all(found):
        raise ValueError("evidence has an empty group beside others: an empty group would support any answer")
    return found


def grades(chunks: Sequence[ChunkLike], evidence: EvidenceLike) -> list[int]:
    """Graded relevance of each chunk to a question (GO-03; `seeds/004`).

    Returns:
        One grade a chunk: 2 = it alone holds all spans of a group, 1 = it holds a required span whole, 0 = none.

    Raises:
        ValueError: a chunk or evidence that cannot be read, or documents or versions that cannot be matched.
    """
    groups = support_groups(evidence)
    return [_grade(held, groups) for held in _held_by_each(chunks, groups)]


def qrels(chunks: Sequence[IndexedChunk], evidence: EvidenceLike) -> dict[str, int]:
    """Relevance judgements of a question, made from spans at run time: the chunks with a grade, by id (GO-03).

    Chunks of other documents than the evidence's may be left out beforehand: they have none.
    """
    judged = zip(chunks, grades(chunks, evidence), strict=True)
    return {chunk.chunk_id: grade for chunk, grade in judged if grade}


def recall(chunks: Sequence[ChunkLike], evidence: EvidenceLike, mode: Mode = "contained") -> float | None:
    """Evidence Recall of one question: the share of required spans that the chunks hold (GO-02, ME-02).

    With alternative groups, the best group counts.

    Args:
        chunks: the selected ones, in any order; the same twice counts once.
        evidence: spans, or groups of spans.
        mode: `contained` or `covered`.

    Returns:
        From 0 to 1; None for a question without evidence (GO-04).

    Raises:
        ValueError: another mode, a chunk or evidence that cannot be read, or documents or versions that cannot be
            matched.
    """
    groups = support_groups(evidence)
    return share(frozenset[EvidenceSpan]().union(*newly_held(chunks, groups, mode)), groups)


def by_document(chunks: Iterable[IndexedChunk]) -> dict[str, list[IndexedChunk]]:
    """Chunks by document, in the order given: a question needs only those of its evidence's documents."""
    found: dict[str, list[IndexedChunk]] = defaultdict(list)
    for chunk in chunks:
        found[chunk.doc_id].append(chunk)
    return dict(found)


def share(held: frozenset[EvidenceSpan], groups: Groups) -> float | None:
    """The share of required spans among `held`, of the best group; None without groups."""
    return max((sum(span in held for span in group) / len(group) for group in groups), default=None)


def newly_held(
    chunks: Sequence[ChunkLike], evidence: EvidenceLike, mode: Mode = "contained"
) -> list[frozenset[EvidenceSpan]]:
    """For each chunk in rank order, the required spans that it, joined to those before it, is the first to hold.

    Args:
        chunks: best first.
        evidence: spans, or groups of spans.
        mode: `contained` or `covered`.

    Raises:
        ValueError: as `recall`.
    """
    if mode not in get_args(Mode):
        raise ValueError(f"mode {mode!r}: give one of {', '.join(get_args(Mode))}")
    groups = support_groups(evidence)
    required = frozenset(span for group in groups for span in group)
    if mode == "contained":
        found: list[frozenset[EvidenceSpan]] = []
        seen: frozenset[EvidenceSpan] = frozenset()
        for held in _held_by_each(chunks, groups):
            found.append(held - seen)
            seen |= held
        return found
    return _newly_covered(matched(chunks, groups), required)


def _newly_covered(
    chunks: Sequence[tuple[IndexedChunk, frozenset[EvidenceSpan]]], required: frozenset[EvidenceSpan]
) -> list[frozenset[EvidenceSpan]]:
    missing = set(required)
    returned: dict[EvidenceSpan, list[tuple[int, int]]] = {span: [] for span in required}
    found: list[frozenset[EvidenceSpan]] = []
    for chunk, candidates in chunks:
        now: set[EvidenceSpan] = set()
        for span in candidates & missing:
            # Only what lies in the evidence is kept, so that a long ranking costs no more than its overlap with it.
            inside = [
                (max(start, span.start_char), min(end, span.end_char))
                for start, end in chunk.spans
                if start < span.end_char and span.start_char < end
            ]
            if inside:
                returned[span] = union([*returned[span], *inside])
                if holds(returned[span], span.start_char, span.end_char):
                    now.add(span)
        missing -= now
        found.append(frozenset(now))
    return found


def _held_by_each(chunks: Sequence[ChunkLike], groups: Groups) -> list[frozenset[EvidenceSpan]]:
    """The required spans that each chunk holds whole on its own."""
    found: list[frozenset[EvidenceSpan]] = []
    for chunk, candidates in matched(chunks, groups):
        spans = union(chunk.spans) if candidates else []
        found.append(frozenset(s for s in candidates if holds(spans, s.start_char, s.end_char)))
    return found


def _grade(held: frozenset[EvidenceSpan], groups: Groups) -> int:
    if any(held.issuperset(group) for group in groups):
        return 2
    return 1 if held else 0


def matched(
    chunks: Sequence[ChunkLike], groups: Groups
) -> list[tuple[IndexedChunk, frozenset[EvidenceSpan]]]:
    """Each chunk with the required spans of its document and version, held or not.

    Raises:
        ValueError: a chunk cannot be read, or a side names no document or version where the other names several.
    """
    read = [indexed_chunk(chunk) for chunk in chunks]
    required = frozenset(span for group in groups for span in group)
    if not read or not required:
        return [(chunk, frozenset[EvidenceSpan]()) for chunk in read]
    documents = {chunk.doc_id for chunk in read} | {span.doc_id for span in required}
    if ANY in documents and len(documents) > 2:
        raise ValueError(
            f"chunks or evidence without a document beside documents {sorted(documents - {ANY})[:5]}: "
            "give each its doc_id"
        )
    # One document at most: every chunk may meet every span.
    single = ANY in documents
    _refuse_unclear_versions(read, required, single)
    of_document: dict[str, list[EvidenceSpan]] = defaultdict(list)
    for span in required:
        of_document[span.doc_id].append(span)
    return [
        (
            chunk,
            frozenset(
                span
                for span in (required if single else of_document.get(chunk.doc_id, ()))
                if span.version is None or span.version == chunk.version or _is_plain_text(chunk)
            ),
        )
        for chunk in read
    ]


def _is_plain_text(chunk: IndexedChunk) -> bool:
    return chunk.doc_id == ANY and chunk.version is None


def _refuse_unclear_versions(
    chunks: Iterable[IndexedChunk], required: Iterable[EvidenceSpan], single: bool
) -> None:
    of_chunks: dict[str, set[str | None]] = defaultdict(set)
    plain = False
    for chunk in chunks:
        of_chunks[ANY if single else chunk.doc_id].add(chunk.version)
        plain = plain or _is_plain_text(chunk)
    of_evidence = {span.version for span in required if span.version is not None}
    if plain and len(of_evidence) > 1:
        raise ValueError(
            f"evidence of versions {sorted(of_evidence)[:5]}, and chunks that name neither document nor version: "
            "give the chunks theirs"
        )
    for span in required:
        found = of_chunks.get(ANY if single else span.doc_id, set[str | None]())
        if span.version is None and len(found) > 1:
            raise ValueError(
                f"evidence [{span.start_char}, {span.end_char}) of document {span.doc_id!r} names no version, and "
                f"chunks of versions {sorted(map(str, found))[:5]} are at hand: give the evidence its version"
            )


def _evidence_span(item: object) -> EvidenceSpan:
    if isinstance(item, EvidenceSpan):
        # Without its words: the same place is the same evidence.
        span = EvidenceSpan(item.doc_id, item.start_char, item.end_char, item.version)
    else:
        start, end = _range(item, f"evidence {item!r}"[:200])
        span = EvidenceSpan(
            _text(_field(item, DOCUMENT_FIELDS, None)) or ANY,
            start,
            end,
            _text(_field(item, ("version",), None)),
        )
    _checked(span.start_char, span.end_char, f"evidence of document {span.doc_id!r}")
    return span


def _range(item: object, name: str) -> tuple[int, int]:
    """A range from a pair, a record or a mapping."""
    if isinstance(item, (list, tuple)):
        pair = cast("Sequence[object]", item)
        start, end = pair if len(pair) == 2 else (None, None)
    else:
        start, end = _field(item, START_FIELDS, None), _field(item, END_FIELDS, None)
    if not isinstance(start, SupportsIndex) or not isinstance(end, SupportsIndex):
        raise ValueError(f"{name} has no range: give start_char and end_char as whole numbers")
    return _checked(index(start), index(end), name)


def _checked(start: int, end: int, name: str) -> tuple[int, int]:
    if not 0 <= start < end:
        raise ValueError(f"{name} has the span [{start}, {end}): give 0 <= start < end, in code points")
    return start, end


def _field(item: object, names: Sequence[str], default: object) -> object:
    """The first of these fields that a mapping or record has."""
    for name in names:
        if isinstance(item, Mapping):
            if name in item:
                return cast("Mapping[str, object]", item)[name]
        elif hasattr(item, name):
            return getattr(item, name)
    return default


def _text(value: object) -> str | None:
    return None if value is None else str(value)
