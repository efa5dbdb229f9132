"""A corpus's own questions: what their file says, and every fault of it."""

from __future__ import annotations

import pytest

from linkrag_dagster.evaluation.gold import GoldError, GoldFile, Needle, gold_file, read_own

from .builders import jsonl, question


def test_reads_every_field() -> None:
    """GO-01, GO-02: groups are alternatives (OR) of passages that are all required (AND)."""
    file = jsonl(
        "q.jsonl",
        {
            "question_id": "a-ticket",
            "needle_id": "a",
            "phrasing": "ticket",
            "question": "What?",
            "answerable": True,
            "unanswerable_kind": None,
            "evidence": [
                {"doc": "x.md", "text": "one"},
                {"doc": "y.md", "text": "two", "from": 3, "to": 6, "version": "7"},
            ],
            "alternatives": [[{"doc_id": "z", "text": "three"}]],
            "doc_ids": ["x.md"],
            "remark": {"by": "others"},
        },
        "",
        {
            "question_id": "b",
            "question": "Why?",
            "answerable": False,
            "unanswerable_kind": "near_miss",
            "evidence": [],
        },
    )
    answerable, unanswerable = read_own([file])
    assert answerable.groups == (
        (Needle("x.md", "one"), Needle("y.md", "two", 3, 6, "7")),
        (Needle("z", "three"),),
    )
    assert (answerable.needle_id, answerable.phrasing, answerable.doc_scope) == ("a", "ticket", ("x.md",))
    assert (answerable.file, answerable.line) == ("q.jsonl", 1)
    assert (unanswerable.answerable, unanswerable.unanswerable_kind, unanswerable.groups) == (
        False,
        "near_miss",
        (),
    )
    assert (unanswerable.needle_id, unanswerable.line) == ("b", 3)


def test_order_of_files_and_lines_changes_nothing() -> None:
    """GO-04: the order of questions changes no result."""
    rows = [question(name, ("x.md", name)) for name in ("c", "a", "b")]
    files = [jsonl("1.jsonl", rows[0], rows[1]), jsonl("2.jsonl", rows[2])]
    turned = [jsonl("2.jsonl", rows[2]), jsonl("1.jsonl", rows[1], rows[0])]
    names = ["a", "b", "c"]
    assert [q.question_id for q in read_own(files)] == [q.question_id for q in read_own(turned)] == names


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        ({"question": "?", "evidence": [{"doc": "x", "text": "y"}]}, "question_id", "missing"),
        ({**question("q", ("x", "y")), "question_id": True}, "question_id", "expected a text"),
        ({**question("q", ("x", "y")), "question": "  "}, "question", "must not be empty"),
        ({**question("q", ("x", "y")), "question": None}, "question", "missing"),
        (question("q"), "evidence", "answerable question needs"),
        ({**question("q"), "evidence": {"doc": "x"}}, "evidence", "expected a list, got an object"),
        ({**question("q"), "evidence": ["words"]}, "evidence[0]", "expected an object"),
        (question("q", ("x", " ")), "evidence[0].text", "must not be empty"),
        ({**question("q"), "evidence": [{"text": "y"}]}, "evidence[0].doc", "missing"),
        (question("q", ("x", "y"), ("x", "y")), "evidence[1]", "twice in one group"),
        (question("q", ("x", "y"), alternatives=[[]]), "alternatives[0]", "expected a list of passages"),
        (
            question("q", ("x", "y"), alternatives=[[{"doc": "x"}]]),
            "alternatives[0][0].text",
            "missing",
        ),
        (
            {**question("q"), "evidence": [{"doc": "x", "text": "y", "from": 2}]},
            "evidence[0].to",
            "missing",
        ),
        (
            {**question("q"), "evidence": [{"doc": "x", "text": "y", "from": 2, "to": 2}]},
            "evidence[0].to",
            "is empty",
        ),
        (
            {**question("q"), "evidence": [{"doc": "x", "text": "y", "from": -1, "to": 2}]},
            "evidence[0].from",
            "0 or more",
        ),
        (
            {**question("q"), "evidence": [{"doc": "x", "text": "y", "from": 1.0, "to": 2}]},
            "evidence[0].from",
            "whole number",
        ),
        (question("q", ("x", "y"), answerable="yes"), "answerable", "true or false"),
        (
            question("q", ("x", "y"), unanswerable_kind="near_miss"),
            "unanswerable_kind",
            "answerable question",
        ),
        (question("q", answerable=False), "unanswerable_kind", "missing"),
        (question("q", answerable=False, unanswerable_kind="far"), "unanswerable_kind", "out_of_domain"),
        (
            question("q", ("x", "y"), answerable=False, unanswerable_kind="near_miss"),
            "evidence",
            "unanswerable question",
        ),
        (question("q", ("x", "y"), phrasing=3), "phrasing", "expected a text"),
        (question("q", ("x", "y"), doc_ids=["x", 1]), "doc_ids", "list of texts"),
        (question("q", ("x", "y\ud800")), "evidence[0].text", "surrogate"),
        ("[1]", None, "expected an object, got a list"),
        ('{"question_id": ', None, "not JSON"),
        ("[" * 100_000, None, "not JSON"),
    ],
)
def test_each_fault_is_named(row: dict[str, object] | str, field: str | None, message: str) -> None:
    """GO-04: missing fields and wrong values are refused by name: file, line, field, question."""
    with pytest.raises(GoldError) as caught:
        read_own([jsonl("q.jsonl", "", row)])
    fault = next(f for f in caught.value.faults if message in f.message)
    assert (fault.file, fault.line, fault.field) == ("q.jsonl", 2, field)
    assert fault.question_id == ("q" if isinstance(row, dict) and row.get("question_id") == "q" else None)


def test_all_faults_are_listed() -> None:
    """GO-04: not only the first, and duplicate ids across files too."""
    first = jsonl("a.jsonl", question("q", ("x", "y")), question("r"))
    second = jsonl("b.jsonl", question("q", ("x", "z")), "nonsense")
    with pytest.raises(GoldError) as caught:
        read_own([second, first])
    assert [(f.file, f.line, f.field) for f in caught.value.faults] == [
        ("a.jsonl", 2, "evidence"),
        ("b.jsonl", 1, "question_id"),
        ("b.jsonl", 2, None),
    ]
    assert "a.jsonl:1" in caught.value.faults[1].message
    assert str(caught.value).splitlines()[0].startswith("a.jsonl:2: evidence: missing")
    assert str(caught.value).splitlines()[0].endswith("(question r)")


def test_lines_end_at_line_feeds_alone() -> None:
    """U+2028 and U+0085 are plain characters of a JSON string; CRLF and a BOM are no fault."""
    line = '{"question_id": "q", "question": "a\u2028b\x85c", "evidence": [{"doc": "x", "text": "y"}]}\r\n'
    read = read_own([gold_file("q.jsonl", b"\xef\xbb\xbf" + line.encode())])
    assert [q.question for q in read] == ["a\u2028b\x85c"]


def test_bytes_that_are_no_utf8_are_refused() -> None:
    """The line of the first wrong byte is named."""
    with pytest.raises(GoldError, match=r"q\.jsonl:2: byte 4 is not UTF-8"):
        gold_file("q.jsonl", b"{}\n\n"[:3] + b"a\xff")


def test_an_empty_file_has_no_questions() -> None:
    """No line, no question, no fault."""
    assert read_own([GoldFile("q.jsonl", "\n")]) == []
