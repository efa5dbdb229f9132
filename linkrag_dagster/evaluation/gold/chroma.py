"""The files of Chroma's chunking_evaluation: a CSV of questions, and one text file a corpus.

The CSV has the columns `question`, `references` and `corpus_id`; `references` is a JSON list of `{content, start_index,
end_index}`, offsets in code points into the corpus's text as Python's text mode reads it (line ends are LF). A set
without a column `question_id` gets ids from what is asked of which corpus: they don't hang on the order of rows.
Source: github.com/brandonstarxel/chunking_evaluation (MIT), `evaluation_framework/base_evaluation.py`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping

from linkrag_dagster.evaluation.gold.errors import FaultList
from linkrag_dagster.evaluation.gold.files import GoldFile
from linkrag_dagster.evaluation.gold.records import GoldDocument, GoldSet
from linkrag_dagster.evaluation.gold.rows import Ids, Row
from linkrag_dagster.evaluation.gold.span_set import checked_span, in_order
from linkrag_dagster.evaluation.records import EvidenceSpan, Question

COLUMNS = ("question", "references", "corpus_id")
ID_CHARACTERS = 16


def read_chroma(questions: GoldFile, corpora: Mapping[str, str]) -> GoldSet:
    """Read the questions and check them against the corpora.

    Args:
        questions: the CSV.
        corpora: text of each corpus, by its id.

    Returns:
        The set, in the order of ids: one document a corpus.

    Raises:
        GoldError: missing columns, references that are no such JSON, an unknown corpus, a span out of range, words
            that differ from the corpus's, the same question twice: every fault.
    """
    faults = FaultList()
    documents = {
        name: GoldDocument(name, text.replace("\r\n", "\n").replace("\r", "\n"), name)
        for name, text in corpora.items()
    }
    ids = Ids("question")
    found: list[Question] = []
    for row in _rows(questions, faults):
        asked, corpus_id = row.text("question"), row.text("corpus_id")
        references = _references(row)
        document = documents.get(corpus_id) if corpus_id else None
        if corpus_id and document is None:
            row.fault("corpus_id", f"unknown corpus {corpus_id!r}; given are: {', '.join(sorted(documents))}")
        spans = tuple(_spans(row, references, document)) if document else ()
        if len(set(spans)) < len(spans):
            row.fault("references", "the same passage twice; keep one")
        if not asked or not corpus_id:
            continue
        named = row.optional_text("question_id") or _id(asked, corpus_id, row.optional_text("references"))
        if ids.take(row, "question", named):
            scope = (corpus_id,)
            found.append(Question(named, asked, (spans,), needle_id=named, doc_scope=scope))
    faults.refuse_any()
    return GoldSet(tuple(sorted(found, key=lambda q: q.question_id)), in_order(documents.values()))


def _rows(file: GoldFile, faults: FaultList) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(file.text, newline=""))
    try:
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            faults.add(file.name, 1, None, f"missing columns: {', '.join(missing)}")
            return
        for cells in reader:
            yield Row(file.name, reader.line_num, cells, faults, cells.get("question_id"))
    except csv.Error as error:
        faults.add(file.name, reader.line_num, None, f"not CSV: {error}")


def _references(row: Row) -> list[Row]:
    text = row.text("references")
    if text is None:
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        row.fault("references", f"not JSON: {error}")
        return []
    if not isinstance(value, list) or not value:
        row.fault("references", "expected a list of {content, start_index, end_index}, not empty")
        return []
    return row.inner_rows("references", value)  # pyright: ignore[reportUnknownArgumentType]


def _spans(row: Row, references: Iterable[Row], document: GoldDocument) -> Iterator[EvidenceSpan]:
    for reference in references:
        words = reference.text("content")
        start, end = reference.offset("start_index"), reference.offset("end_index")
        if words is None or start is None or end is None:
            continue
        if end <= start:
            reference.fault("end_index", f"the span {start}..{end} is empty")
            continue
        span = checked_span(reference, document, start, end, words, "content")
        if span is not None:
            yield span


def _id(asked: str, corpus_id: str, references: str) -> str:
    digest = hashlib.sha256("\x1f".join((corpus_id, asked, references)).encode("utf-8", "surrogatepass"))
    return f"{corpus_id}-{digest.hexdigest()[:ID_CHARACTERS]}"
