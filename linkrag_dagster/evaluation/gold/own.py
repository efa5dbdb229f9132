"""This project's own questions: JSON Lines, gold by the exact words of the corpus (GO-01).

    {"question_id": "fusion-doc", "needle_id": "fusion", "phrasing": "doc", "question": "…", "answerable": true,
     "unanswerable_kind": null, "evidence": [{"doc": "guide/fusion.md", "text": "…"}], "alternatives": []}

`evidence` is one group of passages that are all required; each list in `alternatives` is another group that answers
the question as well. `doc` (or `doc_id`) is a document's id or its path in the source. `from`, `to` and `version` are
optional: where the words stood when the question was written. `doc_ids` is an optional scope. Further fields are
passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linkrag_dagster.evaluation.gold.errors import FaultList
from linkrag_dagster.evaluation.gold.files import GoldFile
from linkrag_dagster.evaluation.gold.records import Needle, OwnQuestion
from linkrag_dagster.evaluation.gold.rows import Ids, Row, json_rows, unanswerable_kind


def read_own(files: Iterable[GoldFile]) -> list[OwnQuestion]:
    """Read a corpus's own questions.

    Args:
        files: one or more files; ids are unique over all of them.

    Returns:
        The questions by id, whatever the order of files and lines.

    Raises:
        GoldError: missing fields, wrong types, duplicate ids: every fault of every file.
    """
    faults = FaultList()
    ids = Ids("question")
    found: list[OwnQuestion] = []
    for file in sorted(files, key=lambda f: f.name):
        for row in json_rows(file, faults, question_field="question_id"):
            question = _question(row)
            if ids.take(row, "question_id", row.identifier("question_id")) and question is not None:
                found.append(question)
    faults.refuse_any()
    return sorted(found, key=lambda q: q.question_id)


def _question(row: Row) -> OwnQuestion | None:
    asked = row.text("question")
    answerable = row.flag("answerable", default=True)
    kind = unanswerable_kind(row, answerable=answerable)
    groups = _groups(row)
    if answerable and not row.items("evidence"):
        row.fault("evidence", "missing; an answerable question needs the words that answer it")
    if not answerable and (row.items("evidence") or row.items("alternatives")):
        row.fault("evidence", "given for an unanswerable question; remove it, or write answerable: true")
    phrasing = row.optional_text("phrasing")
    needle_id = row.optional_text("needle_id")
    scope = row.texts("doc_ids")
    question_id = row.values.get("question_id")
    if asked is None or question_id is None:
        return None
    name = str(question_id)
    return OwnQuestion(
        question_id=name,
        question=asked,
        groups=groups,
        answerable=answerable,
        unanswerable_kind=kind,
        needle_id=needle_id or name,
        phrasing=phrasing,
        doc_scope=scope,
        file=row.file,
        line=row.line,
    )


def _groups(row: Row) -> tuple[tuple[Needle, ...], ...]:
    groups = [_group(row, "evidence", row.items("evidence"))]
    for index, alternative in enumerate(row.items("alternatives")):
        place = f"alternatives[{index}]"
        if isinstance(alternative, list) and alternative:
            groups.append(_group(row, place, alternative))  # pyright: ignore[reportUnknownArgumentType]
        else:
            row.fault(place, "expected a list of passages that answer the question together")
    return tuple(group for group in groups if group)


def _group(row: Row, place: str, items: Sequence[object]) -> tuple[Needle, ...]:
    needles: list[Needle] = []
    for entry in row.inner_rows(place, items):
        needle = _needle(entry)
        if needle in needles:
            entry.fault(None, "the same passage twice in one group; keep one")
        elif needle is not None:
            needles.append(needle)
    return tuple(needles)


def _needle(entry: Row) -> Needle | None:
    doc = entry.text(entry.first("doc", "doc_id"))
    text = entry.text("text")
    version = entry.optional_text("version") or None
    start, end = offsets(entry) if entry.has("from", "to", "start_char", "end_char") else (None, None)
    if doc is None or text is None:
        return None
    return Needle(doc, text, start, end, version)


def offsets(entry: Row) -> tuple[int | None, int | None]:
    """`from` and `to` (or `start_char` and `end_char`) of a passage; both None after a fault."""
    start = entry.offset(entry.first("from", "start_char"))
    last = entry.first("to", "end_char")
    end = entry.offset(last)
    if start is None or end is None:
        return None, None
    if end <= start:
        entry.fault(last, f"the span {start}..{end} is empty; offsets are half-open, in code points")
        return None, None
    return start, end
