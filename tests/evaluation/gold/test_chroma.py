"""The files of Chroma's chunking_evaluation."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from linkrag_dagster.evaluation.gold import GoldError, GoldFile, read_chroma
from linkrag_dagster.evaluation.records import EvidenceSpan

CORPORA = {"speech": "One two.\r\nThree “four”, five.", "law": "Six."}
TWO = {"content": "two.", "start_index": 4, "end_index": 8}
FOUR = {"content": "“four”, five", "start_index": 15, "end_index": 27}


def table(
    *rows: tuple[str, Any, str], columns: tuple[str, ...] = ("question", "references", "corpus_id")
) -> GoldFile:
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(columns)
    for asked, references, corpus_id in rows:
        writer.writerow(
            (asked, references if isinstance(references, str) else json.dumps(references), corpus_id)
        )
    return GoldFile("questions_df.csv", written.getvalue())


def test_reads_questions_and_corpora() -> None:
    """Offsets count line ends as text mode does; ids don't hang on the order of rows."""
    rows = (
        ("Which,\n“one”?", [TWO, FOUR], "speech"),
        ("Law?", [{**TWO, "content": "Six", "start_index": 0, "end_index": 3}], "law"),
    )
    read = read_chroma(table(*rows), CORPORA)
    assert read == read_chroma(table(*reversed(rows)), dict(reversed(CORPORA.items())))
    law, speech = read.questions
    assert law.groups == ((EvidenceSpan("law", 0, 3, None, "Six"),),)
    assert speech.question == "Which,\n“one”?"
    assert speech.groups == (
        (EvidenceSpan("speech", 4, 8, None, "two."), EvidenceSpan("speech", 15, 27, None, "“four”, five")),
    )
    assert (speech.doc_scope, speech.answerable) == (("speech",), True)
    assert [d.doc_id for d in read.documents] == ["law", "speech"]
    assert read.documents[1].text == "One two.\nThree “four”, five."


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        (("q", [TWO], "other"), "corpus_id", "unknown corpus"),
        (("q", [TWO], ""), "corpus_id", "must not be empty"),
        (("", [TWO], "speech"), "question", "must not be empty"),
        (("q", "[{", "speech"), "references", "not JSON"),
        (("q", "[]", "speech"), "references", "not empty"),
        (("q", {"content": "x"}, "speech"), "references", "expected a list"),
        (("q", [TWO, TWO], "speech"), "references", "twice"),
        (("q", [{**TWO, "content": "too."}], "speech"), "references[0].content", "differs"),
        (("q", [{**TWO, "end_index": 99}], "speech"), "references[0].end_index", "out of range"),
        (("q", [{**TWO, "end_index": 4}], "speech"), "references[0].end_index", "empty"),
        (("q", [{"content": "two."}], "speech"), "references[0].start_index", "missing"),
    ],
)
def test_bad_gold_is_refused_by_name(row: tuple[str, Any, str], field: str, message: str) -> None:
    """GO-04."""
    with pytest.raises(GoldError) as caught:
        read_chroma(table(row), CORPORA)
    fault = caught.value.faults[-1] if field.endswith("start_index") else caught.value.faults[0]
    assert (fault.file, fault.line, fault.field) == ("questions_df.csv", 2, field)
    assert message in fault.message


def test_the_same_row_twice_and_missing_columns() -> None:
    """GO-04: duplicates and missing fields."""
    with pytest.raises(GoldError, match="stands already"):
        read_chroma(table(("q", [TWO], "speech"), ("q", [TWO], "speech")), CORPORA)
    assert len(read_chroma(table(("q", [TWO], "speech"), ("q", [FOUR], "speech")), CORPORA).questions) == 2
    with pytest.raises(GoldError, match="missing columns: references"):
        read_chroma(table(("q", [TWO], "speech"), columns=("question", "refs", "corpus_id")), CORPORA)
    with pytest.raises(GoldError, match="missing columns"):
        read_chroma(GoldFile("empty.csv", ""), CORPORA)
