"""Where the documents and questions of a set are from: a folder of others, or the corpus itself (SX-02)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from linkrag_dagster.evaluation.gold import (
    GoldDocument,
    GoldSet,
    check_tables,
    read_gold_files,
    read_span_set,
)
from linkrag_dagster.stages.set_chunks import SetError
from linkrag_dagster.versions.spec import digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

QUESTIONS, DOCUMENTS, SEGMENTS = "questions.jsonl", "documents.jsonl", "segments.jsonl"


@dataclass(frozen=True, slots=True)
class SetSource:
    """A set, known by its content before it is read.

    Attributes:
        name: the set's.
        place: what its faults are told of.
        marks: hashes of all that it consists of.
        read: its documents and questions, checked.
    """

    name: str
    place: str
    marks: tuple[str, ...]
    read: Callable[[], GoldSet]


def folder_set(folder: Path) -> SetSource:
    """A folder with `questions.jsonl`, `documents.jsonl`, optionally `segments.jsonl`.

    Raises:
        SetError: the folder holds no questions or no documents.
        OSError: a file can't be read.
    """
    paths = [folder / name for name in (QUESTIONS, DOCUMENTS, SEGMENTS) if (folder / name).is_file()]
    if not {QUESTIONS, DOCUMENTS} <= {path.name for path in paths}:
        raise SetError(
            f"{folder}: a set needs {QUESTIONS} and {DOCUMENTS}; questions without documents can't be measured"
        )
    marks = tuple(hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)
    return SetSource(
        folder.resolve().name, str(folder), marks, lambda: read_span_set(*read_gold_files(paths))
    )


def own_set(road: Road) -> SetSource:
    """The current documents of a corpus as its last build extracted them, with its declared questions.

    Questions whose passages are not found are left out, as in its evaluation (GO-01).

    Raises:
        SetError: no questions are declared, or nothing is built.
        DeclarationError: faulty questions.
        LakeError: the lake can't be read.
    """
    generation = road.lake.current()
    if not road.loaded.questions:
        raise SetError(f"{road.corpus} declares no questions: name their file in evaluation.questions")
    if not generation.number:
        raise SetError(f"{road.corpus} has not been built to the end yet: run linkrag build {road.corpus}")
    documents = road.lake.read(generation, "raw_documents", columns=["doc_key", "doc_name", "current"])
    current = documents.filter(pl.col("current"))["doc_key"].to_list()
    columns = ["doc_key", "doc_id", "version", "language", "title", "markup", "text"]
    texts = road.lake.read(generation, "extracted_text", columns=columns, doc_keys=current).sort("doc_key")
    elements = road.lake.read(
        generation, "elements", columns=["doc_key", "kind", "start_char", "end_char"], doc_keys=current
    )
    made = tuple(
        GoldDocument(doc_id, text, title or "", version, markup)
        for doc_id, text, title, version, markup in texts.select(
            "doc_id", "text", "title", "version", "markup"
        ).iter_rows()
    )

    def read() -> GoldSet:
        return GoldSet(check_tables(road.questions, documents, texts, elements).questions, made)

    marks = (
        *(digest("document", d.doc_id, d.version or "", d.title, d.markup, d.text) for d in made),
        *(hashlib.sha256(path.read_bytes()).hexdigest() for path in road.loaded.questions),
    )
    return SetSource(road.corpus, str(road.loaded.path), marks, read)
