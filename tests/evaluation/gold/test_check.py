"""Which questions may be asked, and which are left out."""

from __future__ import annotations

import polars as pl

from linkrag_dagster.evaluation.gold import LeftOut, check_gold, check_tables, read_own
from linkrag_dagster.evaluation.records import EvidenceSpan

from .builders import corpus, jsonl, question

TEXT = "# Title\n\nOne fact stands here. Another fact stands there.\n"


def test_unsound_questions_are_left_out_with_the_reason() -> None:
    """GO-01, GO-02: one unsound passage, in whichever group, leaves its question out, and that question alone."""
    rows = (
        question("sound", ("a.md", "One fact"), ("a.md", "Another fact")),
        question("half", ("a.md", "One fact"), ("a.md", "Title")),
        question("other", ("a.md", "One fact"), alternatives=[[{"doc": "a.md", "text": "third"}]]),
        question("open", answerable=False, unanswerable_kind="out_of_domain"),
    )
    checked = check_gold(read_own([jsonl("q.jsonl", *rows)]), corpus(a=TEXT))
    assert [q.question_id for q in checked.questions] == ["open", "sound"]
    assert checked.left_out == (LeftOut("half", ("heading",)), LeftOut("other", ("missing",)))
    assert [(f.question_id, f.field, f.kind) for f in checked.findings] == [
        ("half", "evidence[1]", "heading"),
        ("other", "alternatives[0][0]", "missing"),
    ]
    assert (checked.findings[0].file, checked.findings[0].line) == ("q.jsonl", 2)
    sound = checked.questions[1]
    assert sound.groups == (
        (
            EvidenceSpan("id-a.md", 9, 17, "v1", "One fact"),
            EvidenceSpan("id-a.md", 31, 43, "v1", "Another fact"),
        ),
    )


def test_counts() -> None:
    """Unanswerable kinds, phrasings and needles are counted, left-out questions included."""
    rows = (
        question("a1", ("a.md", "One fact"), needle_id="a", phrasing="doc"),
        question("a2", ("a.md", "One fact"), needle_id="a", phrasing="ticket"),
        question("b", ("a.md", "nowhere to be found")),
        question("c", answerable=False, unanswerable_kind="near_miss", phrasing="ticket"),
        question("d", answerable=False, unanswerable_kind="near_miss"),
    )
    counts = check_gold(read_own([jsonl("q.jsonl", *rows)]), corpus(a=TEXT)).counts
    assert (counts.questions, counts.answerable, counts.needles) == (5, 3, 2)
    assert counts.unanswerable == {"near_miss": 2}
    assert counts.phrasings == {"": 2, "doc": 1, "ticket": 2}


def test_scope_becomes_ids_and_an_absent_document_may_be_absent() -> None:
    """GO-01: doc scope; GO-04: an unknown document in it."""
    rows = (
        question("a", ("a.md", "One fact"), doc_ids=["a.md"]),
        question("b", ("a.md", "One fact"), doc_ids=["gone.md"]),
        question("c", answerable=False, unanswerable_kind="document_absent_from_corpus", doc_ids=["gone.md"]),
    )
    checked = check_gold(read_own([jsonl("q.jsonl", *rows)]), corpus(a=TEXT))
    assert {q.question_id: q.doc_scope for q in checked.questions} == {"a": ("id-a.md",), "c": ("gone.md",)}
    assert [(f.question_id, f.kind, f.field) for f in checked.findings] == [
        ("b", "unknown_document", "doc_ids[0]")
    ]


def test_tables_of_a_lake() -> None:
    """Headings come from `elements`, names from `raw_documents`; superseded versions are not looked at."""
    documents = pl.DataFrame(
        {
            "doc_key": ["k@1", "k@2", "m"],
            "doc_name": ["old/a.md", "a.md", "failed.pdf"],
            "current": [False, True, True],
        }
    )
    texts = pl.DataFrame(
        {"doc_key": ["k@1", "k@2"], "doc_id": ["k", "k"], "version": ["1", "2"], "text": [TEXT, TEXT]}
    )
    elements = pl.DataFrame(
        {
            "doc_key": ["k@2", "k@2", "k@1"],
            "kind": ["paragraph", "heading", "heading"],
            "start_char": [9, 0, 0],
            "end_char": [57, 8, 8],
        }
    )
    rows = (
        question("a", ("a.md", "One fact")),
        question("b", ("k", "Title")),
        question("c", ("old/a.md", "x")),
    )
    checked = check_tables(read_own([jsonl("q.jsonl", *rows)]), documents, texts, elements)
    assert [q.groups[0][0].version for q in checked.questions] == ["2"]
    assert checked.left_out == (LeftOut("b", ("heading",)), LeftOut("c", ("unknown_document",)))
