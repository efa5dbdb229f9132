"""`evaluation`: the corpus asked its own questions, by every retriever, measured with intervals (SX-02)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.contracts.evaluation import EVALUATION_CONTRACTS
from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.evaluation.gold import (
    CheckedGold,
    GoldError,
    OwnQuestion,
    check_tables,
    read_gold_files,
    read_own,
)
from linkrag_dagster.evaluation.measurement import CHUNK_METRICS
from linkrag_dagster.evaluation.question_metrics import metric_names
from linkrag_dagster.evaluation.records import IndexedChunk, Question
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.retrieval.index_vectors import index_vectors
from linkrag_dagster.retrieval.ranking import WholeIndex
from linkrag_dagster.stages.experiment import RUNS, Experiment, run_experiment
from linkrag_dagster.stages.stage import Computed, Progress, Stage
from linkrag_dagster.versions.spec import StageSpec

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

MISSING_FILE = "missing"


class Evaluation(Stage):
    """Its unit of work is the whole corpus: one chunk more may change every rank."""

    name = "evaluation"
    tables = tuple(rules.name for rules in EVALUATION_CONTRACTS)
    inputs = ("extracted_text", "elements", "chunks", "embeddings", "bm25")
    description = "The corpus's own questions asked of dense, BM25 and fused retrieval, with intervals."
    whole_corpus = True

    def applies(self, road: Road) -> bool:
        return bool(road.loaded.questions)

    def bound(self, road: Road) -> int:
        asked = road.questions
        slices = 1 + len({question.phrasing for question in asked if question.phrasing})
        kinds = len({question.unanswerable_kind for question in asked if not question.answerable})
        return len(RUNS) * (len(metric_names()) * slices + kinds) + len(CHUNK_METRICS)

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del document
        lexical = road.declaration.lexical
        return StageSpec(
            self.name,
            revision=2,
            # What ranks and measures, and is not seen in the rows of the stages before.
            parameters={
                "runs": list(RUNS),
                "k1": lexical.k1,
                "b": lexical.b,
                "hard_max_tokens": road.settings.hard_max_tokens,
                **_marks(road),
            },
            components={"tokenizer": road.tokenizer_identity, **road.analyzer.components},
        )

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        own = road.questions
        documents = road.lake.read(
            generation,
            "raw_documents",
            columns=["doc_key", "doc_id", "doc_name", "version", "version_declared", "current"],
        )
        texts = road.lake.read(
            generation, "extracted_text", columns=["doc_key", "doc_id", "version", "language", "text"]
        )
        elements = road.lake.read(
            generation, "elements", columns=["doc_key", "kind", "start_char", "end_char"]
        )
        gold = check_tables(own, documents, texts, elements)
        current = documents.filter(pl.col("current"))["doc_key"].to_list()
        texts = texts.filter(pl.col("doc_key").is_in(current))
        chunks = _chunks(road, generation, texts)
        index = _index(road, generation, frozenset(chunk.chunk_id for chunk in chunks))
        by_document = {
            (doc_id, version): text
            for doc_id, version, text in texts.select("doc_id", "version", "text").iter_rows()
        }
        found = run_experiment(road, gold.questions, chunks, index, by_document, progress)
        questions = question_rows(own, gold, found.unasked)
        _leave_out_undeclared(questions, documents)
        return Computed(
            experiment_frames(found, questions),
            texts=found.texts,
            tokens=found.tokens,
        )

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        del road, generation, keys
        summary, results = frames["evaluation"], frames["evaluation_results"]
        means = results.group_by("run", "metric").agg(
            pl.col("value").sort().mean().alias("mean"), pl.col("value").count().alias("n")
        )
        whole = summary.filter((pl.col("slice") == "all") & (pl.col("run") != "chunks"))
        wrong = whole.join(means, on=["run", "metric"], how="left").filter(
            ((pl.col("value") - pl.col("mean")).abs() > 1e-9) & (pl.col("metric") != "nearest_distance")
        )
        yield CheckResult(
            "means_follow_from_results",
            ("SX-02", "RP-01"),
            "Every printed mean is the mean of the stored values of its questions.",
            whole.height,
            tuple(
                Violation("SX-02", "", f"{row['run']} {row['metric']}: {row['value']} against {row['mean']}")
                for row in wrong.iter_rows(named=True)
            ),
        )
        runs = frames["evaluation_rankings"]
        broken = runs.group_by("run", "question_id").agg(
            (pl.col("rank").sort() == pl.int_range(1, pl.len() + 1)).all().alias("whole")
        )
        yield CheckResult(
            "ranks_have_no_gap",
            ("ME-02",),
            "Ranks of every run and question are 1, 2, 3, …",
            broken.height,
            tuple(
                Violation("ME-02", "", f"{row['run']} {row['question_id']}: ranks with a gap")
                for row in broken.filter(~pl.col("whole")).iter_rows(named=True)
            ),
        )


def own_questions(road: Road) -> list[OwnQuestion]:
    """The declared questions of a corpus.

    Raises:
        DeclarationError: a file is missing, or its questions are faulty: every fault by file and line.
    """
    try:
        return read_own(read_gold_files(road.loaded.questions))
    except GoldError as error:
        raise road.loaded.error("evaluation.questions", str(error)) from error


def _marks(road: Road) -> dict[str, str]:
    """One parameter a declared file: its hash, shortened so that reasons stay readable."""
    found: dict[str, str] = {}
    for name, path in zip(road.declaration.evaluation.questions, road.loaded.questions, strict=True):
        try:
            found[f"questions {name}"] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        except OSError:
            # A build says so by name; loading all corpora's definitions must not fail for it.
            found[f"questions {name}"] = MISSING_FILE
    return found


def _leave_out_undeclared(questions: Sequence[dict[str, Any]], documents: pl.DataFrame) -> None:
    """Drop versions that nobody declared: other bytes of the same text would leave them behind (VE-03)."""
    declared = set(documents.filter(pl.col("version_declared")).select("doc_id", "version").iter_rows())
    for question in questions:
        for span in question["evidence"]:
            if (span["doc_id"], span["version"]) not in declared:
                span["version"] = None


def _chunks(road: Road, generation: Generation, texts: pl.DataFrame) -> list[IndexedChunk]:
    """The searchable chunks of the current documents, as metrics see them."""
    versions = dict(texts.select("doc_key", "version").iter_rows())
    frame = road.lake.read(
        generation,
        "chunks",
        columns=["doc_key", "doc_id", "chunk_id", "role", "spans", "text"],
        where=pl.col("searchable"),
        doc_keys=versions,
    ).sort("doc_key", "chunk_id")
    lengths = road.tokenizer.count_many(frame["text"].to_list())
    return [
        IndexedChunk(
            chunk_id=row["chunk_id"],
            doc_id=row["doc_id"],
            version=versions[row["doc_key"]],
            spans=tuple((span["start_char"], span["end_char"]) for span in row["spans"]),
            tokens=tokens,
            characters=len(row["text"]),
            role=row["role"],
        )
        for row, tokens in zip(frame.iter_rows(named=True), lengths, strict=True)
    ]


def _index(road: Road, generation: Generation, visible: frozenset[str]) -> WholeIndex:
    chunk_ids, matrix = index_vectors(road.lake, generation, road.dimensions)
    lexical = road.declaration.lexical
    return WholeIndex(
        chunk_ids=chunk_ids,
        matrix=matrix,
        postings=road.lake.read(generation, "bm25_postings", columns=["term", "chunk_id", "tf"]),
        lengths=road.lake.read(generation, "bm25_lengths", columns=["chunk_id", "length"]),
        k1=lexical.k1,
        b=lexical.b,
        visible=visible,
    )


def question_rows(
    own: Sequence[OwnQuestion], gold: CheckedGold, unasked: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Every declared question, those left out with what is wrong with them (GO-01)."""
    located = {question.question_id: question for question in gold.questions}
    problems: dict[str, list[str]] = {}
    for finding in gold.findings:
        problems.setdefault(finding.question_id, []).append(f"{finding.kind}: {finding.message}")
    rows: list[dict[str, Any]] = []
    for question in own:
        found = located.get(question.question_id)
        problem = unasked.get(question.question_id)
        if found is None:
            problem = "; ".join(problems.get(question.question_id, ["its gold can't be located"]))
        rows.append(question_row(found or Question(question.question_id, question.question), problem))
        rows[-1] |= {
            "needle_id": question.needle_id,
            "phrasing": question.phrasing,
            "answerable": question.answerable,
            "unanswerable_kind": question.unanswerable_kind,
        }
    return rows


def question_row(question: Question, problem: str | None = None) -> dict[str, Any]:
    """A question as its table has it."""
    return {
        "question_id": question.question_id,
        "needle_id": question.needle_id or question.question_id,
        "phrasing": question.phrasing,
        "question": question.question,
        "answerable": question.answerable,
        "unanswerable_kind": question.unanswerable_kind,
        "used": problem is None,
        "problem": problem,
        "evidence": [
            {
                "group": number,
                "doc_id": span.doc_id,
                "version": span.version,
                "start_char": span.start_char,
                "end_char": span.end_char,
                "text": span.text,
            }
            for number, group in enumerate(question.groups)
            for span in group
        ],
    }


def experiment_frames(found: Experiment, questions: Sequence[Mapping[str, Any]]) -> dict[str, pl.DataFrame]:
    """The evaluation's tables from an experiment."""
    measured = found.measurement
    results = [
        {"run": run, "question_id": question, "metric": metric, "value": value}
        for run, metrics in measured.values.items()
        for metric, values in metrics.items()
        for question, value in values.items()
    ]
    answerable = {question.question_id for question in found.questions if question.groups}
    rankings = [
        {
            "run": run,
            "question_id": question,
            "rank": rank,
            "chunk_id": chunk,
            "doc_id": found.chunks[chunk].doc_id,
            "score": score,
            "cosine_distance": found.distances[question].get(chunk),
            "grade": measured.judged[question].get(chunk, 0) if question in answerable else None,
            "tokens": found.chunks[chunk].tokens,
        }
        for run, by_question in found.rankings.items()
        for question, ranking in by_question.items()
        for rank, (chunk, score) in enumerate(ranking, start=1)
    ]
    rows: dict[str, Sequence[Mapping[str, Any]]] = {
        "evaluation": [asdict(row) for row in measured.summary],
        "evaluation_questions": questions,
        "evaluation_results": results,
        "evaluation_rankings": rankings,
        "evaluation_judgements": [
            {"question_id": question, "chunk_id": chunk, "grade": grade}
            for question, grades in measured.judged.items()
            for chunk, grade in grades.items()
        ],
        "evaluation_comparisons": [asdict(row) for row in measured.comparisons],
    }
    return {table: _frame(table, found_rows) for table, found_rows in rows.items()}


def _frame(table: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    schema = contract(table).polars
    return pl.DataFrame(list(rows), schema=schema) if rows else pl.DataFrame(schema=schema)
