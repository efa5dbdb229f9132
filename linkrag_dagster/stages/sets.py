"""Question sets of others, with their documents, measured under a corpus's current settings (SX-02).

Documents go through the road's own stages in memory, vectors through the lake's memo; results are kept in the lake by
the fingerprint of all that they depend on, so that the same question is never computed twice, and two settings can be
compared on the same questions.

    <lake>/experiments/<set>/<fingerprint>/   one Parquet file a table, and experiment.parquet beside them
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from linkrag_dagster.chunking import coarse_chunks, export_chunks, plan_final
from linkrag_dagster.chunking.records import Chunk
from linkrag_dagster.contracts.evaluation import EVALUATION_CONTRACTS
from linkrag_dagster.embedding.embed_missing import embed_missing
from linkrag_dagster.embedding.memo import Memo, text_hash
from linkrag_dagster.evaluation.comparison import ComparisonRow, compare
from linkrag_dagster.evaluation.gold import GoldDocument, GoldSet, read_gold_files, read_span_set
from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk, Question
from linkrag_dagster.lake.files import write_frame
from linkrag_dagster.lexical.bm25 import postings
from linkrag_dagster.markdown import parse
from linkrag_dagster.retrieval.ranking import WholeIndex
from linkrag_dagster.stages.evaluation import experiment_frames, question_row
from linkrag_dagster.stages.experiment import RUNS, run_experiment
from linkrag_dagster.stages.scoring import Scores
from linkrag_dagster.stages.stage import Progress
from linkrag_dagster.versions.spec import differences, digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

EXPERIMENTS = "experiments"
QUESTIONS, DOCUMENTS, SEGMENTS = "questions.jsonl", "documents.jsonl", "segments.jsonl"
RECORD = "experiment.parquet"
MEASURED_STAGES = ("elements", "coarse_chunks", "final_chunks", "chunks", "embeddings", "bm25", "evaluation")
TABLES = tuple(rules.name for rules in EVALUATION_CONTRACTS)
PROGRESS_EVERY = 50
MARKDOWN: Mapping[str, object] = {"media_type": "text/markdown", "size_bytes": 0}
"""Documents of sets are read as Markdown, which plain prose is too."""


class SetError(Exception):
    """A folder is no question set that can be measured: says what is missing."""


@dataclass(frozen=True, slots=True)
class SetResult:
    """What a set gave under one state of the settings.

    Attributes:
        name: the set's.
        fingerprint: of the set's files and all settings and versions the result depends on.
        computed: UTC time, ISO 8601.
        specs: stage specs as plain data, by stage.
        facts: numbers of documents, characters, questions and chunks.
        frames: the evaluation's tables.
        cached: whether it was there already.
    """

    name: str
    fingerprint: str
    computed: str
    specs: Mapping[str, Mapping[str, object]]
    facts: Mapping[str, int]
    frames: Mapping[str, pl.DataFrame]
    cached: bool


def evaluate_set(road: Road, folder: Path, progress: Progress) -> SetResult:
    """Measure a set, or read what was measured under the same settings.

    Args:
        road: the corpus whose settings, model and memo are used; its documents are not.
        folder: `questions.jsonl`, `documents.jsonl`, optionally `segments.jsonl`.
        progress: told in lines.

    Raises:
        SetError: the folder holds no questions or no documents.
        GoldError: faulty gold, every fault by file and line.
        ModelError: the encoder can't be loaded.
        OSError: the lake can't be written.
    """
    paths = [folder / name for name in (QUESTIONS, DOCUMENTS) if (folder / name).is_file()]
    if len(paths) < 2:
        raise SetError(
            f"{folder}: a set needs {QUESTIONS} and {DOCUMENTS}; questions without documents can't be measured"
        )
    specs = {
        stage.name: road.spec(stage, MARKDOWN).as_dict()
        for stage in road.stages
        if stage.name in MEASURED_STAGES
    }
    # The corpus's own questions are not those of the set.
    specs["evaluation"] = {**specs["evaluation"], "parameters": {"runs": list(RUNS)}}
    marks = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    fingerprint = digest("set", *marks, json.dumps(specs, sort_keys=True))[:32]
    place = road.lake_root / EXPERIMENTS / folder.resolve().name / fingerprint
    if (place / RECORD).is_file():
        return _read(place, cached=True)
    files = read_gold_files(paths)
    gold = read_span_set(*files)
    answerable = sum(1 for question in gold.questions if question.groups)
    if not answerable:
        raise SetError(f"{folder}: no question has evidence, so there is nothing to find")
    frames, facts = _measure(road, gold, progress)
    record = {
        "name": folder.resolve().name,
        "fingerprint": fingerprint,
        "computed": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "specs": specs,
        "facts": facts,
    }
    _write(place, record, frames)
    return _read(place, cached=False)


def _measure(road: Road, gold: GoldSet, progress: Progress) -> tuple[dict[str, pl.DataFrame], dict[str, int]]:
    chunks = _chunked(road, gold.documents, progress)
    searched = {key: [c for c in made if c.searchable] for key, made in chunks.items()}
    rows = [(c.chunk_id, key, c) for key, made in searched.items() for c in made]
    ids = [chunk_id for chunk_id, _, _ in rows]
    texts = {text_hash(c.text): c.text for _, _, c in rows}
    embedded = embed_missing(
        texts,
        Memo(road.memo_folder),
        road.encoder.embed,
        dimensions=road.dimensions,
        on_progress=lambda p: progress(f"chunks: {p.line()}"),
    )
    if embedded.problems:
        first = next(iter(embedded.problems.values()))
        raise SetError(f"{len(embedded.problems)} chunks can't be embedded: {first}")
    place = {mark: row for row, mark in enumerate(embedded.hashes)}
    at = np.array([place[text_hash(c.text)] for _, _, c in rows], dtype=np.int64)
    lexical = road.declaration.lexical
    indexed = [c.text if lexical.field == "text" else c.content for _, _, c in rows]
    found, lengths = postings(ids, indexed, road.analyzer)
    tokens = road.tokenizer.count_many([c.text for _, _, c in rows])
    known = [
        IndexedChunk(
            chunk_id=chunk_id,
            doc_id=key[0],
            version=key[1],
            spans=tuple((span.start_char, span.end_char) for span in c.spans),
            tokens=count,
            characters=len(c.text),
            role=c.role,
        )
        for (chunk_id, key, c), count in zip(rows, tokens, strict=True)
    ]
    index = WholeIndex(
        chunk_ids=ids,
        matrix=embedded.vectors[at],
        postings=found,
        lengths=lengths,
        k1=lexical.k1,
        b=lexical.b,
        visible=frozenset(ids),
    )
    by_document = {(d.doc_id, d.version): d.text for d in gold.documents}
    result = run_experiment(road, gold.questions, known, index, by_document, progress)
    asked = [question_row(q, result.unasked.get(q.question_id)) for q in gold.questions]
    facts = {
        "documents": len(gold.documents),
        "characters": sum(len(document.text) for document in gold.documents),
        "questions": len(gold.questions),
        "chunks": len(known),
        "chunk_tokens": sum(tokens),
        "oversized_chunks": sum(1 for _, _, c in rows if c.oversized),
        "destroyed": result.measurement.destroyed.destroyed,
        "destroyed_spans": result.measurement.destroyed.spans_destroyed,
    }
    return experiment_frames(result, asked), facts


def _chunked(
    road: Road, documents: Sequence[GoldDocument], progress: Progress
) -> dict[tuple[str, str | None], Sequence[Chunk]]:
    """Chunks by document, made as the stages make them."""
    scores = Scores(road, progress)
    made: dict[tuple[str, str | None], Sequence[Chunk]] = {}
    for number, document in enumerate(documents, start=1):
        elements = parse(document.text)
        coarse = coarse_chunks(elements, document.text, road.settings, road.tokenizer)
        plan = plan_final(coarse, document.text, road.settings, road.tokenizer, elements)
        vectors, failures = scores.of({"": plan})
        if failures:
            raise SetError(f"document {document.doc_id!r}: {failures[0].message}")
        final, _ = plan.chunks(vectors[""])
        made[document.doc_id, document.version] = export_chunks(
            final,
            document.text,
            road.settings,
            road.tokenizer,
            road.encoder_tokenizer,
            road.model.window,
            document.title,
            document.doc_id,
            document.version,
        )
        if number % PROGRESS_EVERY == 0:
            progress(f"{number}/{len(documents)} documents chunked")
    return made


def _write(place: Path, record: Mapping[str, Any], frames: Mapping[str, pl.DataFrame]) -> None:
    """Into a folder beside, which then gets its name: a folder with that name is whole."""
    beside = place.with_name(f".{place.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        for table, frame in frames.items():
            write_frame(beside / f"{table}.parquet", frame)
        write_frame(beside / RECORD, pl.DataFrame({"record": [json.dumps(record, ensure_ascii=False)]}))
        if place.exists():
            shutil.rmtree(place)
        beside.replace(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _read(place: Path, *, cached: bool) -> SetResult:
    record = json.loads(pl.read_parquet(place / RECORD)["record"][0])
    frames = {table: pl.read_parquet(place / f"{table}.parquet") for table in TABLES}
    return SetResult(**record, frames=frames, cached=cached)


def earlier(road: Road, result: SetResult, fingerprint: str | None = None) -> SetResult | None:
    """Another result of the same set: the latest one, or the one whose fingerprint begins so."""
    folder = road.lake_root / EXPERIMENTS / result.name
    found = [
        _read(record.parent, cached=True)
        for record in folder.glob(f"{fingerprint or ''}*/{RECORD}")
        if record.parent.name != result.fingerprint and not record.parent.name.startswith(".")
    ]
    return max(found, key=lambda other: other.computed, default=None)


@dataclass(frozen=True, slots=True)
class Change:
    """What a change of settings did to a set's results.

    Attributes:
        differences: the settings and versions that differ, in words.
        comparisons: by metric and retriever, `now` against `before`, corrected over all of them.
    """

    differences: tuple[str, ...]
    comparisons: tuple[ComparisonRow, ...]


def change(before: SetResult, now: SetResult) -> Change:
    """Compare two results of one set on the questions that both could ask."""
    words = [
        f"{stage}: {line}"
        for stage in now.specs
        for line in differences(before.specs.get(stage, {}), now.specs[stage])
    ]
    asked = _asked(now.frames["evaluation_questions"])
    both = {row for row in before.frames["evaluation_questions"].filter(pl.col("used"))["question_id"]}
    asked = [question for question in asked if question.question_id in both]
    both_results = (("now", _values(now)), ("before", _values(before)))
    values = {f"{run} {name}": found[run] for run in RUNS for name, found in both_results}
    pairs = [(f"{run} now", f"{run} before") for run in RUNS]
    return Change(tuple(words), tuple(compare(values, asked, pairs=pairs)))


def _values(result: SetResult) -> dict[str, dict[str, dict[str, float | None]]]:
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    rows = result.frames["evaluation_results"].select("run", "metric", "question_id", "value")
    for run, metric, question, value in rows.iter_rows():
        found.setdefault(run, {}).setdefault(metric, {})[question] = value
    return found


def _asked(questions: pl.DataFrame) -> list[Question]:
    """Questions with evidence, as comparisons need them: needle and document."""
    found: list[Question] = []
    for row in questions.filter(pl.col("used")).iter_rows(named=True):
        spans = tuple(EvidenceSpan(e["doc_id"], e["start_char"], e["end_char"]) for e in row["evidence"])
        if spans:
            found.append(Question(row["question_id"], row["question"], (spans,), needle_id=row["needle_id"]))
    return found
