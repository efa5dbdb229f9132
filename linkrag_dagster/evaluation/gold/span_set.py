"""Question sets of others with character-exact evidence: `questions.jsonl`, `documents.jsonl`, `segments.jsonl`.

| a line of | needs | may have |
| --- | --- | --- |
| documents | `doc_id`, `text` | `title`, `version` |
| questions | `question_id`, `question`, `evidence` | `doc_ids` or `doc_id`, `needle_id`, `phrasing` |
| unanswerable ones | `answerable: false`, `unanswerable_kind` | as above |
| `evidence` in them | `doc_id`, `from`, `to` | `text`, `version` |
| segments | `doc_id`, `units` as spans, `boundaries_before_unit` | `unit` |

Further fields are passed over. Offsets are code points, half-open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from linkrag_dagster.evaluation.gold.errors import FaultList
from linkrag_dagster.evaluation.gold.files import GoldFile
from linkrag_dagster.evaluation.gold.own import offsets
from linkrag_dagster.evaluation.gold.records import GoldDocument, GoldSet, ReferenceSegmentation
from linkrag_dagster.evaluation.gold.rows import (
    DOCUMENT_ABSENT,
    Ids,
    Row,
    json_rows,
    shown,
    unanswerable_kind,
)
from linkrag_dagster.evaluation.records import EvidenceSpan, Question

Versions = Mapping[str, Mapping[str | None, GoldDocument]]


def read_span_set(
    questions: GoldFile, documents: GoldFile | None = None, segments: GoldFile | None = None
) -> GoldSet:
    """Read a set and check it against the documents that it ships.

    Args:
        questions: the questions.
        documents: the documents; None for a set without any, whose questions can have no evidence.
        segments: reference segmentations of the documents.

    Returns:
        The set, in the order of ids. Evidence without words of its own gets those of the document.

    Raises:
        GoldError: missing fields, duplicate ids, evidence in an unknown document or version, a span out of range,
            words that differ from the document's: every fault.
    """
    faults = FaultList()
    known = _documents(documents, faults)
    found = _questions(questions, known, faults)
    segmentations = _segmentations(segments, known, faults)
    faults.refuse_any()
    return GoldSet(
        questions=tuple(sorted(found, key=lambda q: q.question_id)),
        documents=in_order(document for versions in known.values() for document in versions.values()),
        segmentations=tuple(sorted(segmentations, key=lambda s: s.doc_id)),
    )


def in_order(documents: Iterable[GoldDocument]) -> tuple[GoldDocument, ...]:
    """Documents by id and version."""
    return tuple(sorted(documents, key=lambda d: (d.doc_id, d.version or "")))


def _documents(file: GoldFile | None, faults: FaultList) -> dict[str, dict[str | None, GoldDocument]]:
    known: dict[str, dict[str | None, GoldDocument]] = {}
    for row in json_rows(file, faults) if file else ():
        doc_id = row.identifier("doc_id")
        text = row.values.get("text")
        if not isinstance(text, str):
            row.fault("text", "missing; it must be given" if text is None else "expected a text")
            continue
        title, version = row.optional_text("title"), row.optional_text("version") or None
        if doc_id is None:
            continue
        versions = known.setdefault(doc_id, {})
        if version in versions:
            row.fault("doc_id", f"document {doc_id!r} stands twice; ids are unique")
        elif (version is None) != (None in versions) and versions:
            row.fault("version", f"document {doc_id!r} has a version on some lines only; give each its own")
        else:
            versions[version] = GoldDocument(doc_id, text, title, version)
    return known


def _questions(file: GoldFile, known: Versions, faults: FaultList) -> list[Question]:
    ids = Ids("question")
    found: list[Question] = []
    for row in json_rows(file, faults, question_field="question_id"):
        question_id = row.identifier("question_id")
        asked = row.text("question")
        answerable = row.flag("answerable", default=True)
        kind = unanswerable_kind(row, answerable=answerable)
        spans = tuple(filter(None, (_span(entry, known) for entry in row.rows("evidence"))))
        if answerable and not row.items("evidence"):
            row.fault("evidence", "missing; an answerable question needs the passages that answer it")
        if not answerable and row.items("evidence"):
            row.fault("evidence", "given for an unanswerable question")
        if len(set(spans)) < len(spans):
            row.fault("evidence", "the same passage twice; keep one")
        scope = _scope(row, known, kind)
        needle_id, phrasing = row.optional_text("needle_id"), row.optional_text("phrasing")
        if ids.take(row, "question_id", question_id) and question_id and asked:
            found.append(
                Question(
                    question_id=question_id,
                    question=asked,
                    groups=(spans,) if spans else (),
                    answerable=answerable,
                    unanswerable_kind=kind,
                    needle_id=needle_id or question_id,
                    phrasing=phrasing,
                    doc_scope=scope,
                )
            )
    return found


def _scope(row: Row, known: Versions, kind: str | None) -> tuple[str, ...]:
    """`doc_ids` or `doc_id`. What is asked of an absent document must be absent, what is asked of another not."""
    field = row.first("doc_ids", "doc_id")
    scope = row.texts(field) if field == "doc_ids" else tuple(filter(None, (row.optional_text(field),)))
    for doc_id in scope:
        if kind == DOCUMENT_ABSENT and doc_id in known:
            row.fault(field, f"document {doc_id!r} is in the set, and the question says that it is absent")
        elif kind != DOCUMENT_ABSENT and doc_id not in known:
            row.fault(field, f"unknown document {doc_id!r}")
    return scope


def _span(entry: Row, known: Versions) -> EvidenceSpan | None:
    doc_id = entry.identifier("doc_id")
    start, end = offsets(entry)
    words = entry.values.get("text")
    if words is not None and not isinstance(words, str):
        entry.fault("text", f"expected a text, got {shown(words)}")
        return None
    version = entry.optional_text("version") or None
    if doc_id is None or start is None or end is None:
        return None
    document = _document(entry, known, doc_id, version)
    if document is None:
        return None
    return checked_span(entry, document, start, end, words)


def _document(entry: Row, known: Versions, doc_id: str, version: str | None) -> GoldDocument | None:
    versions = known.get(doc_id)
    if versions is None:
        entry.fault("doc_id", f"unknown document {doc_id!r}; the set ships {len(known)} documents")
        return None
    if version is None and len(versions) > 1:
        entry.fault("version", f"missing; document {doc_id!r} has {len(versions)} versions")
        return None
    document = next(iter(versions.values())) if version is None else versions.get(version)
    if document is None:
        there = ", ".join(sorted(v or "none" for v in versions))
        entry.fault("version", f"document {doc_id!r} has no version {version!r}; it has: {there}")
    return document


def checked_span(
    entry: Row, document: GoldDocument, start: int, end: int, words: str | None, words_field: str = "text"
) -> EvidenceSpan | None:
    """The span, where it lies in the document and holds the words; None after a fault.

    A byte order mark in front of a document is in no element of it (EL-02), so a passage begins behind it.
    """
    length = len(document.text)
    if end > length:
        field = entry.first("to", "end_char", "end_index")
        entry.fault(field, f"{end} is out of range: {document.doc_id!r} has {length} characters")
        return None
    there = document.text[start:end]
    if words is not None and words != there:
        entry.fault(words_field, f"differs from {start}..{end} of {document.doc_id!r}: {shown(there)}")
        return None
    if start == 0 and there.startswith("\ufeff") and there != "\ufeff":
        start, there = 1, there[1:]
    return EvidenceSpan(document.doc_id, start, end, document.version, there)


def _segmentations(file: GoldFile | None, known: Versions, faults: FaultList) -> list[ReferenceSegmentation]:
    ids = Ids("the segmentation of document")
    found: list[ReferenceSegmentation] = []
    for row in json_rows(file, faults) if file else ():
        doc_id = row.identifier("doc_id")
        units = _units(row)
        boundaries = _boundaries(row, len(units))
        new = ids.take(row, "doc_id", doc_id)
        if doc_id is None or not new:
            continue
        if doc_id not in known:
            row.fault("doc_id", f"unknown document {doc_id!r}")
        elif units and units[-1][1] > max(len(d.text) for d in known[doc_id].values()):
            row.fault("units", f"{units[-1][1]} is out of range of document {doc_id!r}")
        found.append(ReferenceSegmentation(doc_id, units, boundaries, row.optional_text("unit")))
    return found


def _units(row: Row) -> tuple[tuple[int, int], ...]:
    units: list[tuple[int, int]] = []
    if not row.items("units"):
        row.fault("units", "missing; a segmentation needs the spans of its units")
    for index, item in enumerate(row.items("units")):
        pair = _whole_numbers(item)
        if len(pair) != 2 or not (units[-1][1] if units else 0) <= pair[0] < pair[1]:
            row.fault(f"units[{index}]", f"expected [from, to] after the unit before it, got {item!r:.40}")
            return ()
        units.append((pair[0], pair[1]))
    return tuple(units)


def _boundaries(row: Row, units: int) -> tuple[int, ...]:
    found = _whole_numbers(row.items("boundaries_before_unit"))
    if "boundaries_before_unit" not in row.values:
        row.fault("boundaries_before_unit", "missing; it must be given, as [] where the topic never changes")
    elif len(found) != len(row.items("boundaries_before_unit")):
        row.fault("boundaries_before_unit", "expected a list of whole numbers")
    elif units and not all(a < b for a, b in zip((0, *found), (*found, units), strict=True)):
        row.fault("boundaries_before_unit", f"expected rising numbers from 1 to {units - 1}")
    return found


def _whole_numbers(value: object) -> tuple[int, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, int) and not isinstance(item, bool))
