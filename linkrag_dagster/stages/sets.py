"""Question sets of others, with their documents, measured under a corpus's current settings (SX-02).

Documents go through the road's own stages in memory, vectors through the lake's memo; results are kept in the lake by
the fingerprint of all that they depend on, so that the same question is never computed twice, and two settings can be
compared on the same questions.

    <lake>/experiments/<set>/<fingerprint>/            one Parquet file a table, and experiment.parquet beside them
    <lake>/experiments/<set>/compared/<fingerprint>/   the same, of what was measured for a comparison alone
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from linkrag_dagster.chunking import POOL
from linkrag_dagster.contracts.evaluation import EVALUATION_CONTRACTS
from linkrag_dagster.embedding.embed_missing import EmbeddedTexts, embed_missing
from linkrag_dagster.embedding.memo import Memo, text_hash
from linkrag_dagster.embedding.pooling import pooled
from linkrag_dagster.evaluation.axes import cuts_of_spans
from linkrag_dagster.evaluation.boundaries import score_boundaries
from linkrag_dagster.evaluation.comparison import ComparisonRow, compare
from linkrag_dagster.evaluation.gates import Capabilities, Correctness
from linkrag_dagster.evaluation.gold import GoldSet
from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk, Question
from linkrag_dagster.lake.files import write_frame
from linkrag_dagster.lexical.bm25 import postings
from linkrag_dagster.retrieval.ranking import WholeIndex
from linkrag_dagster.stages.evaluation import experiment_frames, question_row
from linkrag_dagster.stages.experiment import RUNS, run_experiment
from linkrag_dagster.stages.set_chunks import ChunkedSet, RoadChunker, SetChunk, SetChunker, SetError
from linkrag_dagster.stages.set_sources import SetSource, folder_set
from linkrag_dagster.stages.stage import Progress
from linkrag_dagster.versions.spec import differences, digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

EXPERIMENTS = "experiments"
RECORD = "experiment.parquet"
COMPARED = "compared"
"""Where results lie that no later change of settings is compared with."""
GATES = 2
"""Revision of the gates that every measured set goes through."""
BOUNDARIES = "boundaries"
BOUNDARY_SCHEMA = {"doc_id": pl.String, "method": pl.String, "metric": pl.String, "value": pl.Float64}
TABLES = (*(rules.name for rules in EVALUATION_CONTRACTS), BOUNDARIES)


@dataclass(frozen=True, slots=True)
class SetResult:
    """What a set gave under one state of the settings.

    Attributes:
        name: the set's.
        fingerprint: of the set's files and all settings and versions the result depends on.
        computed: UTC time, ISO 8601.
        specs: stage specs as plain data, by stage.
        facts: numbers of documents, characters, questions and chunks.
        gates: counts of the gates: `correctness`, which all must pass, and `capabilities` (ME-05).
        frames: the evaluation's tables, and `boundaries`: scores of cuts against reference segmentations.
        cached: whether it was there already.
    """

    name: str
    fingerprint: str
    computed: str
    specs: Mapping[str, Mapping[str, object]]
    facts: Mapping[str, int]
    frames: Mapping[str, pl.DataFrame]
    cached: bool
    gates: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])


def evaluate_set(
    road: Road,
    source: Path | SetSource,
    progress: Progress,
    chunker: SetChunker | None = None,
    *,
    compared: bool = False,
) -> SetResult:
    """Measure a set, or read what was measured under the same settings.

    Args:
        road: the corpus whose settings, model and memo are used; its documents are not.
        source: the set, or its folder.
        progress: told in lines.
        chunker: what cuts the documents; None: the road's own stages.
        compared: the result is for a comparison alone, and never an earlier result of a change of settings.

    Raises:
        SetError: the folder holds no questions or no documents, or nothing to measure them by.
        GoldError: faulty gold, every fault by file and line.
        PeerFailed: a peer's library failed.
        ModelError: the encoder can't be loaded.
        OSError: the lake can't be written.
    """
    chosen = folder_set(source) if isinstance(source, Path) else source
    cutter = chunker or RoadChunker(road)
    specs = cutter.specs()
    # The corpus's own questions are not those of the set.
    specs["evaluation"] = {**specs["evaluation"], "parameters": {"runs": list(RUNS), "gates": GATES}}
    fingerprint = digest("set", *chosen.marks, json.dumps(specs, sort_keys=True))[:32]
    place = road.lake_root / EXPERIMENTS / chosen.name
    place = (place / COMPARED if compared else place) / fingerprint
    if (place / RECORD).is_file():
        return _read(place, cached=True)
    gold = chosen.read()
    answerable = sum(1 for question in gold.questions if question.groups)
    if not answerable and not gold.segmentations:
        raise SetError(f"{chosen.place}: no question has evidence, and no document a reference segmentation")
    made = cutter.cut(gold.documents, progress)
    frames, facts = _measure(road, made, gold, progress) if answerable else _unasked()
    frames[BOUNDARIES] = _boundaries(road, made, gold)
    facts = {
        "documents": len(gold.documents),
        "characters": sum(len(document.text) for document in gold.documents),
        "questions": len(gold.questions),
        "segmented_documents": len(gold.segmentations),
        "chunks": len(made.chunks),
        "oversized_chunks": sum(1 for c in made.chunks if c.oversized),
        **made.facts,
        "lost_characters": made.gates.correctness.undeclared,
        "documents_failing_gates": len(made.gates.correctness.failed),
        **facts,
    }
    record = {
        "name": chosen.name,
        "fingerprint": fingerprint,
        "computed": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "specs": specs,
        "facts": facts,
        "gates": {
            "correctness": _counts(made.gates.correctness),
            "capabilities": _counts(made.gates.capabilities),
        },
    }
    _write(place, record, frames)
    return _read(place, cached=False)


def _counts(gates: Correctness | Capabilities) -> dict[str, int]:
    return {name: value for name, value in asdict(gates).items() if isinstance(value, int)}


def _unasked() -> tuple[dict[str, pl.DataFrame], dict[str, int]]:
    """The tables of a set that asks nothing: reference segmentations alone."""
    return {rules.name: rules.empty() for rules in EVALUATION_CONTRACTS}, {}


def _boundaries(road: Road, made: ChunkedSet, gold: GoldSet) -> pl.DataFrame:
    """Scores of the chunks' boundaries, and of the baselines, for documents with a reference (ME-04)."""
    segmented = {reference.doc_id for reference in gold.segmentations}
    starts: dict[str, list[tuple[int, int]]] = {}
    for c in made.chunks:
        if c.doc_id in segmented and c.role == "source":
            starts.setdefault(c.doc_id, []).extend(c.spans[:1])
    tokens: dict[str, list[tuple[int, int]]] = {}
    for document in gold.documents:
        if document.doc_id in segmented:
            offsets = road.tokenizer.encode_offsets(document.text)
            tokens[document.doc_id] = list(zip(offsets.starts.tolist(), offsets.ends.tolist(), strict=True))
    cuts = {doc_id: cuts_of_spans(spans) for doc_id, spans in starts.items()}
    rows = [asdict(row) for row in score_boundaries(gold.segmentations, cuts, tokens)]
    return pl.DataFrame(rows, schema=BOUNDARY_SCHEMA)


def _measure(
    road: Road, made: ChunkedSet, gold: GoldSet, progress: Progress
) -> tuple[dict[str, pl.DataFrame], dict[str, int]]:
    rows = made.chunks
    ids = [c.chunk_id for c in rows]
    texts = {text_hash(part): part for c in rows for part in c.embedded}
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
    owners, matrix = _vectors(road, rows, embedded)
    lexical = road.declaration.lexical
    indexed = [c.text if lexical.field == "text" else c.content for c in rows]
    found, lengths = postings(ids, indexed, road.analyzer)
    tokens = road.tokenizer.count_many([c.text for c in rows])
    known = [
        IndexedChunk(
            chunk_id=c.chunk_id,
            doc_id=c.doc_id,
            version=c.version,
            spans=c.spans,
            tokens=count,
            characters=len(c.text),
            role=c.role,
        )
        for c, count in zip(rows, tokens, strict=True)
    ]
    index = WholeIndex(
        chunk_ids=owners,
        matrix=matrix,
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
        "chunk_tokens": sum(tokens),
        "destroyed": result.measurement.destroyed.destroyed,
        "destroyed_spans": result.measurement.destroyed.spans_destroyed,
    }
    return experiment_frames(result, asked), facts


def _vectors(
    road: Road, rows: Sequence[SetChunk], embedded: EmbeddedTexts
) -> tuple[list[str], NDArray[np.float32]]:
    """Vectors with the chunk of each: one a chunk, or one a window of those that keep several (EX-05)."""
    place = {mark: row for row, mark in enumerate(embedded.hashes)}
    owners: list[str] = []
    vectors: list[NDArray[np.float32]] = []
    for c in rows:
        made = embedded.vectors[[place[text_hash(part)] for part in c.embedded]]
        if c.overflow == POOL:
            tokens = road.encoder_tokenizer.count_many(c.embedded)
            special = road.encoder_tokenizer.special_tokens
            try:
                made = pooled(made, [count + special for count in tokens])[None]
            except ValueError as error:
                raise SetError(f"document {c.doc_id!r}: {error}") from error
        owners += [c.chunk_id] * len(made)
        vectors.append(made)
    return owners, np.concatenate(vectors) if vectors else embedded.vectors


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
    asked = asked_questions([result.frames["evaluation_questions"] for result in (now, before)])
    both_results = (("now", values_of(now)), ("before", values_of(before)))
    values = {f"{run} {name}": found[run] for run in RUNS for name, found in both_results}
    pairs = [(f"{run} now", f"{run} before") for run in RUNS]
    return Change(tuple(words), tuple(compare(values, asked, pairs=pairs)))


def values_of(result: SetResult) -> dict[str, dict[str, dict[str, float | None]]]:
    """A result's values by run, metric and question."""
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    rows = result.frames["evaluation_results"].select("run", "metric", "question_id", "value")
    for run, metric, question, value in rows.iter_rows():
        found.setdefault(run, {}).setdefault(metric, {})[question] = value
    return found


def asked_questions(tables: Sequence[pl.DataFrame]) -> list[Question]:
    """Questions with evidence that all results could ask, as comparisons need them: needle and document.

    Args:
        tables: `evaluation_questions` of each result.
    """
    used = [set(table.filter(pl.col("used"))["question_id"]) for table in tables]
    found: list[Question] = []
    for row in tables[0].filter(pl.col("used")).iter_rows(named=True) if tables else ():
        spans = tuple(EvidenceSpan(e["doc_id"], e["start_char"], e["end_char"]) for e in row["evidence"])
        if spans and all(row["question_id"] in ids for ids in used):
            found.append(Question(row["question_id"], row["question"], (spans,), needle_id=row["needle_id"]))
    return found
