"""Sets of others with spans and segmentations."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from linkrag_dagster.evaluation.gold import (
    GoldDocument,
    GoldError,
    GoldFile,
    ReferenceSegmentation,
    gold_file,
    read_span_set,
)
from linkrag_dagster.evaluation.records import EvidenceSpan

from .builders import jsonl

DOCUMENTS = (
    {"doc_id": "a", "title": "A", "text": "One two three.", "lang": "en"},
    {"doc_id": "b", "text": "灯塔很高。😀"},
)


def asked(question_id: str = "q", **further: Any) -> dict[str, Any]:
    evidence = [{"doc_id": "a", "from": 4, "to": 7, "text": "two"}]
    return {"question_id": question_id, "question": "?", "evidence": evidence, **further}


def evidence(**entry: Any) -> dict[str, Any]:
    return asked(evidence=[{"doc_id": "a", "from": 4, "to": 7, "text": "two", **entry}])


def test_reads_questions_and_documents() -> None:
    """GO-01: code points, half-open; words that the set does not repeat come from its document."""
    rows = (
        asked("q2", doc_ids=["a"], needle_id="n", phrasing="user", split="dev", answer="2"),
        asked("q1", doc_id="b", evidence=[{"doc_id": "b", "from": 5, "to": 6}]),
        asked("q3", evidence=[], answerable=False, unanswerable_kind="squad2_adversarial", near=[0, 3]),
    )
    read = read_span_set(jsonl("q", *rows), jsonl("d", *DOCUMENTS))
    first, second, third = read.questions
    assert first.groups == ((EvidenceSpan("b", 5, 6, None, "😀"),),)
    assert (first.doc_scope, first.needle_id, first.phrasing) == (("b",), "q1", "")
    assert second.groups == ((EvidenceSpan("a", 4, 7, None, "two"),),)
    assert (second.doc_scope, second.needle_id, second.phrasing) == (("a",), "n", "user")
    assert (third.answerable, third.unanswerable_kind, third.groups) == (False, "squad2_adversarial", ())
    assert read.documents == (
        GoldDocument("a", "One two three.", "A"),
        GoldDocument("b", "灯塔很高。😀"),
    )


def test_a_passage_begins_behind_a_byte_order_mark() -> None:
    """EL-02: the mark belongs to no element, so no chunk can hold it."""
    marked = {"doc_id": "m", "text": "\ufeffOne two."}
    row = asked(evidence=[{"doc_id": "m", "from": 0, "to": 4, "text": "\ufeffOne"}])
    read = read_span_set(jsonl("q", row), jsonl("d", marked))
    assert read.questions[0].groups == ((EvidenceSpan("m", 1, 4, None, "One"),),)


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        (evidence(doc_id="z"), "evidence[0].doc_id", "unknown document 'z'"),
        (evidence(version="2"), "evidence[0].version", "no version '2'"),
        (evidence(to=99), "evidence[0].to", "out of range"),
        (evidence(to=4), "evidence[0].to", "empty"),
        (evidence(**{"from": None}), "evidence[0].from", "missing"),
        (evidence(text="Two"), "evidence[0].text", "differs"),
        (evidence(text=2), "evidence[0].text", "expected a text"),
        (asked(evidence=[]), "evidence", "missing"),
        (asked(evidence=[asked()["evidence"][0]] * 2), "evidence", "twice"),
        (asked(answerable=False, unanswerable_kind="near_miss"), "evidence", "unanswerable"),
        (asked(doc_ids=["z"]), "doc_ids", "unknown document"),
        (asked(doc_id="z"), "doc_id", "unknown document"),
        (
            asked(
                evidence=[], answerable=False, unanswerable_kind="document_absent_from_corpus", doc_ids=["a"]
            ),
            "doc_ids",
            "is in the set",
        ),
        ({"question_id": "q", "evidence": asked()["evidence"]}, "question", "missing"),
    ],
)
def test_bad_gold_is_refused_by_name(row: dict[str, Any], field: str, message: str) -> None:
    """GO-04: unknown document or version, span out of range, words that differ, missing fields."""
    with pytest.raises(GoldError) as caught:
        read_span_set(jsonl("q", row), jsonl("d", *DOCUMENTS))
    (fault,) = caught.value.faults
    assert (fault.file, fault.line, fault.field, fault.question_id) == ("q", 1, field, "q")
    assert message in fault.message


def test_duplicate_ids_and_broken_documents_are_refused_together() -> None:
    """GO-04: duplicate ids of questions and documents, and documents without text."""
    documents = jsonl("d", *DOCUMENTS, DOCUMENTS[0], {"doc_id": "c"}, {"text": "x"})
    with pytest.raises(GoldError) as caught:
        read_span_set(jsonl("q", asked(), asked()), documents)
    assert [(f.file, f.line, f.field) for f in caught.value.faults] == [
        ("d", 3, "doc_id"),
        ("d", 4, "text"),
        ("d", 5, "doc_id"),
        ("q", 2, "question_id"),
    ]


def test_versions() -> None:
    """GO-01: evidence belongs to one version; where there are several it says which."""
    documents = jsonl(
        "d", {"doc_id": "a", "version": "2", "text": "new"}, {"doc_id": "a", "version": "1", "text": "old"}
    )
    row = asked(evidence=[{"doc_id": "a", "version": "1", "from": 0, "to": 3, "text": "old"}])
    read = read_span_set(jsonl("q", row), documents)
    assert read.questions[0].groups[0][0].version == "1"
    assert [d.version for d in read.documents] == ["1", "2"]
    with pytest.raises(GoldError, match=r"evidence\[0\]\.version: missing"):
        read_span_set(jsonl("q", asked(evidence=[{"doc_id": "a", "from": 0, "to": 3}])), documents)
    with pytest.raises(GoldError, match="on some lines only"):
        read_span_set(jsonl("q"), jsonl("d", *DOCUMENTS, {"doc_id": "a", "version": "1", "text": "x"}))


def test_segmentations() -> None:
    """ME-04: masses are the units of each segment."""
    row = {"doc_id": "a", "unit": "word", "units": [[0, 3], [4, 7], [8, 14]], "boundaries_before_unit": [2]}
    read = read_span_set(jsonl("q"), jsonl("d", *DOCUMENTS), jsonl("s", row))
    assert read.segmentations == (ReferenceSegmentation("a", ((0, 3), (4, 7), (8, 14)), (2,), "word"),)
    assert read.segmentations[0].masses == (2, 1)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"doc_id": "z"}, "doc_id"),
        ({"units": []}, "units"),
        ({"units": [[0, 3], [2, 7], [8, 14]]}, "units[1]"),
        ({"units": [[0, 3], [4, 4], [8, 14]]}, "units[1]"),
        ({"units": [[0, 3], [4], [8, 14]]}, "units[1]"),
        ({"units": [[0, 3], [4, 7], [8, 15]]}, "units"),
        ({"boundaries_before_unit": [0]}, "boundaries_before_unit"),
        ({"boundaries_before_unit": [3]}, "boundaries_before_unit"),
        ({"boundaries_before_unit": [2, 1]}, "boundaries_before_unit"),
        ({"boundaries_before_unit": ["1"]}, "boundaries_before_unit"),
    ],
)
def test_bad_segmentations_are_refused_by_name(change: dict[str, Any], field: str) -> None:
    """GO-04 for reference segmentations."""
    row = {"doc_id": "a", "units": [[0, 3], [4, 7], [8, 14]], "boundaries_before_unit": [2], **change}
    with pytest.raises(GoldError) as caught:
        read_span_set(jsonl("q"), jsonl("d", *DOCUMENTS), jsonl("s", row))
    assert [(f.file, f.line, f.field) for f in caught.value.faults] == [("s", 1, field)]


def _file(folder: Path, name: str) -> GoldFile | None:
    path = folder / name
    return gold_file(path.name, path.read_bytes()) if path.exists() else None


def test_every_set_is_read_whole_in_any_order(shared: Path) -> None:
    """GO-01, GO-04: each public set reads without a fault, to the same result with its lines shuffled."""
    folders = sorted(path.parent for path in (shared / "bench").glob("*/questions.jsonl"))
    assert folders
    for folder in folders:
        questions = _file(folder, "questions.jsonl")
        assert questions is not None
        documents, segments = _file(folder, "documents.jsonl"), _file(folder, "segments.jsonl")
        read = read_span_set(questions, documents, segments)
        assert len(read.questions) == len(questions.text.splitlines())
        texts = {document.doc_id: document.text for document in read.documents}
        for question in read.questions:
            assert question.answerable == bool(question.groups) == (question.unanswerable_kind is None)
            for span in question.groups[0] if question.groups else ():
                assert texts[span.doc_id][span.start_char : span.end_char] == span.text
        for segmentation in read.segmentations:
            assert sum(segmentation.masses) == len(segmentation.units)
        lines = questions.text.splitlines(keepends=True)
        random.Random(0).shuffle(lines)
        assert read_span_set(GoldFile("q", "".join(lines)), documents, segments) == read
