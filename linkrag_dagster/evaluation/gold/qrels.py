"""Judgements of whole documents: BEIR's three files, and TREC's qrels.

| file | a line is |
| --- | --- |
| `corpus.jsonl` | `{"_id", "title", "text"}` |
| `queries.jsonl` | `{"_id", "text"}` |
| qrels of BEIR | `query-id ⟶ corpus-id ⟶ score`, with tabs, with or without a header |
| qrels of TREC | `topic iteration document relevance`, with white space; the iteration is passed over |

Sources: github.com/beir-cellar/beir (load your custom dataset); trec_eval's README (format of qrels).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from linkrag_dagster.evaluation.gold.errors import FaultList
from linkrag_dagster.evaluation.gold.files import GoldFile
from linkrag_dagster.evaluation.gold.records import GoldDocument, GoldSet, Qrel
from linkrag_dagster.evaluation.gold.rows import Ids, json_rows
from linkrag_dagster.evaluation.gold.span_set import in_order
from linkrag_dagster.evaluation.records import Question

# Exports through tables write whole grades as 1.0.
_GRADE = re.compile(r"([+-]?[0-9]+)(?:\.0+)?")
# A first line that ends so is a header; one that ends in any other word has a wrong grade.
_HEADER = re.compile(r"score|rel\w*|label|grade|judge?ment", re.IGNORECASE)


def read_qrels(file: GoldFile) -> list[Qrel]:
    """Read judgements, of BEIR (three columns) or TREC (four); grades are kept as they are.

    Returns:
        The judgements, by question and document.

    Raises:
        GoldError: a wrong number of columns, a grade that is no whole number, a pair that is judged twice.
    """
    faults = FaultList()
    found = [qrel for qrel, _ in _qrels(file, faults)]
    faults.refuse_any()
    return sorted(found, key=lambda q: (q.question_id, q.doc_id))


def read_judged_set(queries: GoldFile, qrels: GoldFile, corpus: GoldFile | None = None) -> GoldSet:
    """Read a set whose gold are judgements of whole documents.

    Args:
        queries: the queries, of all splits.
        qrels: the judgements of one split: only queries that are judged in it are returned, as BEIR's loader does.
        corpus: the documents; None where they are had from elsewhere.

    Returns:
        Questions without spans, documents and judgements, each in the order of ids. A question is answerable also
        where all its judgements are 0: that no relevant document is known says nothing about the corpus.

    Raises:
        GoldError: missing fields, duplicate ids, judgements of unknown queries or documents: every fault.
    """
    faults = FaultList()
    documents = _corpus(corpus, faults)
    asked = _queries(queries, faults)
    judged: list[Qrel] = []
    for qrel, line in _qrels(qrels, faults):
        if qrel.question_id not in asked:
            faults.add(qrels.name, line, "query-id", "unknown query", qrel.question_id)
        if corpus is not None and qrel.doc_id not in documents:
            message = f"unknown document {qrel.doc_id!r}; {corpus.name} does not hold it"
            faults.add(qrels.name, line, "corpus-id", message, qrel.question_id)
        judged.append(qrel)
    faults.refuse_any()
    names = sorted({qrel.question_id for qrel in judged})
    return GoldSet(
        questions=tuple(Question(name, asked[name], needle_id=name) for name in names),
        documents=in_order(documents.values()),
        qrels=tuple(sorted(judged, key=lambda q: (q.question_id, q.doc_id))),
    )


def _corpus(file: GoldFile | None, faults: FaultList) -> dict[str, GoldDocument]:
    ids = Ids("document")
    found: dict[str, GoldDocument] = {}
    for row in json_rows(file, faults) if file else ():
        doc_id = row.identifier("_id")
        text = row.values.get("text")
        if not isinstance(text, str):
            row.fault("text", "missing; it must be given" if text is None else "expected a text")
        elif ids.take(row, "_id", doc_id) and doc_id is not None:
            found[doc_id] = GoldDocument(doc_id, text, row.optional_text("title"))
    return found


def _queries(file: GoldFile, faults: FaultList) -> dict[str, str]:
    ids = Ids("query")
    found: dict[str, str] = {}
    for row in json_rows(file, faults, question_field="_id"):
        question_id, text = row.identifier("_id"), row.text("text")
        if ids.take(row, "_id", question_id) and question_id is not None and text is not None:
            found[question_id] = text
    return found


def _qrels(file: GoldFile, faults: FaultList) -> Iterator[tuple[Qrel, int]]:
    """Judgements with their lines; faults of lines are noted."""
    first: dict[tuple[str, str], int] = {}
    columns = 0
    for number, cells in _without_header(_lines(file)):
        columns = columns or len(cells)
        if columns not in (3, 4) or len(cells) != columns:
            expected = columns if columns in (3, 4) else "3 (BEIR) or 4 (TREC)"
            faults.add(file.name, number, None, f"expected {expected} columns, got {len(cells)}")
            columns = columns if columns in (3, 4) else 0
            continue
        question_id, doc_id, score = cells[0], cells[-2], cells[-1]
        grade = _GRADE.fullmatch(score)
        if not question_id or not doc_id:
            faults.add(file.name, number, None, "an id is empty", question_id or None)
        elif grade is None:
            faults.add(file.name, number, "score", f"expected a whole number, got {score!r}", question_id)
        elif (question_id, doc_id) in first:
            message = f"document {doc_id!r} is judged already on line {first[question_id, doc_id]}"
            faults.add(file.name, number, "corpus-id", message, question_id)
        else:
            first[question_id, doc_id] = number
            yield Qrel(question_id, doc_id, int(grade[1])), number


def _lines(file: GoldFile) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(file.text.split("\n"), start=1):
        if line.strip():
            cells = line.strip("\r").split("\t") if "\t" in line else line.split()
            yield number, [cell.strip() for cell in cells]


def _without_header(lines: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """All lines but a first one whose last column names a grade."""
    for index, (number, cells) in enumerate(lines):
        if index or not _HEADER.fullmatch(cells[-1]):
            yield number, cells
