"""Judgements of whole documents."""

from __future__ import annotations

import pytest

from linkrag_dagster.evaluation.gold import GoldError, GoldFile, Qrel, read_judged_set, read_qrels

from .builders import jsonl

CORPUS = jsonl("corpus.jsonl", {"_id": "d2", "title": "Two", "text": ""}, {"_id": "d1", "text": "one"})
QUERIES = jsonl(
    "queries.jsonl",
    {"_id": "q2", "text": "second", "metadata": {}},
    {"_id": "q1", "text": "first"},
    {"_id": "train", "text": "of another split"},
)
EXPECTED = [Qrel("q1", "d1", 2), Qrel("q1", "d2", 0), Qrel("q2", "d2", -1)]


@pytest.mark.parametrize(
    "text",
    [
        "query-id\tcorpus-id\tscore\nq2\td2\t-1\nq1\td2\t0\nq1\td1\t2\n",
        "q2\td2\t-1\r\nq1\td2\t0\r\nq1\td1\t2",
        "q2\td2\t-1.0\nq1\td2\t0.0\n\nq1\td1\t2.0\n",
        "q2 0 d2 -1\nq1 Q0 d2 0\nq1   0 d1 2\n",
        "q2\t0\td2\t-1\nq1\t0\td2\t0\nq1\t0\td1\t2\n",
    ],
)
def test_beir_with_and_without_header_and_trec(text: str) -> None:
    """Grades are kept as they are, the order of lines changes nothing."""
    assert read_qrels(GoldFile("qrels", text)) == EXPECTED


def test_a_judged_set() -> None:
    """Queries of one split, all documents, no spans."""
    read = read_judged_set(QUERIES, GoldFile("test.tsv", "q2\td2\t-1\nq1\td2\t0\nq1\td1\t2\n"), CORPUS)
    assert list(read.qrels) == EXPECTED
    assert [(q.question_id, q.question, q.groups) for q in read.questions] == [
        ("q1", "first", ()),
        ("q2", "second", ()),
    ]
    assert [(d.doc_id, d.title, d.text) for d in read.documents] == [("d1", "", "one"), ("d2", "Two", "")]
    alone = read_judged_set(QUERIES, GoldFile("test.tsv", "q1\telsewhere\t1\n"))
    assert alone.documents == () and alone.qrels == (Qrel("q1", "elsewhere", 1),)


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        ("q1\td1\t1\nq1\td1\t0\n", 2, "corpus-id", "judged already on line 1"),
        ("q1\td1\t1\nq1\td2\n", 2, None, "expected 3 columns, got 2"),
        ("q1\td1\n", 1, None, "3 (BEIR) or 4 (TREC)"),
        ("q1\td1\t0.5\n", 1, "score", "whole number"),
        ("q1\td1\thigh\n", 1, "score", "whole number"),
        ("q1\td1\t1\nq1\td2\tscore\n", 2, "score", "whole number"),
        ("q1\t\t1\n", 1, None, "an id is empty"),
        ("q9\td1\t1\n", 1, "query-id", "unknown query"),
        ("q1\td9\t1\n", 1, "corpus-id", "unknown document 'd9'"),
    ],
)
def test_bad_judgements_are_refused_by_name(text: str, line: int, field: str | None, message: str) -> None:
    """GO-04."""
    with pytest.raises(GoldError) as caught:
        read_judged_set(QUERIES, GoldFile("qrels", text), CORPUS)
    (fault,) = caught.value.faults
    assert (fault.file, fault.line, fault.field) == ("qrels", line, field)
    assert message in fault.message


def test_faults_of_all_three_files_are_listed() -> None:
    """GO-04: duplicate ids and missing fields."""
    corpus = jsonl("c", {"_id": "d1", "text": "x"}, {"_id": "d1", "text": "y"}, {"_id": "d3"})
    queries = jsonl("q", {"_id": "q1", "text": "x"}, {"_id": "q1", "text": "y"}, {"text": "z"})
    with pytest.raises(GoldError) as caught:
        read_judged_set(queries, GoldFile("r", "q1\td1\tx\n"), corpus)
    assert [(f.file, f.line, f.field) for f in caught.value.faults] == [
        ("c", 2, "_id"),
        ("c", 3, "text"),
        ("q", 2, "_id"),
        ("q", 3, "_id"),
        ("r", 1, "score"),
    ]
