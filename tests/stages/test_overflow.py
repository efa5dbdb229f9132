"""Chunks above the encoder's window, from the declaration to the answer (EX-05, VE-06, LA-02)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from linkrag_dagster.embedding.memo import Memo
from linkrag_dagster.embedding.pooling import pooled
from linkrag_dagster.retrieval.index_model import analyzer_of
from linkrag_dagster.retrieval.search import MODES, Citation, search
from linkrag_dagster.stages.collect import texts_in_use
from linkrag_dagster.stages.embedded_texts import embedded_texts
from linkrag_dagster.stages.models import declared_model
from linkrag_dagster.stages.plan import plan_road
from linkrag_dagster.stages.road import STAGES, Road
from linkrag_dagster.stages.sets import evaluate_set

from .conftest import Project
from .test_evaluation import Asked, ask

LONG = (
    "the cat sat on the red passage . one dog ran on the blue passage . seven dog sat on a cat . "
    "the query ran on the blue cat . a red dog sat on seven passage . the cat ran one one one ."
)
SHORT = "the blue query ."
QUESTIONS: list[Asked] = [
    ("cat", "cat", "doc", "seven dog sat on a cat", [("long.md", "seven dog sat on a cat")]),
    ("blue", "blue", "doc", "the blue query", [("short.md", "the blue query")]),
]


@pytest.fixture
def corpus(project: Project, small_models: dict[str, Path]) -> Project:
    """A document of a paragraph that fills a small encoder's window several times, and one that fits."""
    project.use(small_models["old"])
    for path in project.source.iterdir():
        path.unlink()
    project.write("long.md", LONG + "\n")
    project.write("short.md", SHORT + "\n")
    for key in ("max_tokens", "hard_max_tokens"):
        project.set(f"chunking.{key}", 200)
    ask(project, QUESTIONS)
    return project


def table(road: Road, name: str) -> pl.DataFrame:
    return road.lake.read(road.lake.current(), name, dimensions=road.dimensions)


def found(road: Road, query: str, mode: str, **options: Any) -> tuple[Citation, ...]:
    analyzer = analyzer_of(road.lake.current())
    return search(
        road.lake, query, mode=mode, k=9, encoder=road.encoder, analyzer=analyzer, **options
    ).citations


def windows_of(road: Road) -> list[str]:
    """The texts of the long chunk's windows, in order."""
    rows = table(road, "chunk_windows").sort("window_index")
    (text,) = table(road, "chunks").filter(pl.col("overflow").is_not_null())["text"].to_list()
    return [text[start:end] for start, end in rows.select("text_start", "text_end").iter_rows()]


@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_chunks_stay_whole_and_nothing_is_truncated(corpus: Project, overflow: str) -> None:
    """EX-05: one chunk, reported apart, whose windows hold all of its text; a vector a chunk all the same."""
    corpus.set("chunking.overflow", overflow)
    built = corpus.build()
    assert not built.failed
    road = corpus.road()
    chunks = table(road, "chunks")
    assert chunks["truncated_tokens"].sum() == 0 and chunks["overflow"].to_list().count(overflow) == 1
    parts = windows_of(road)
    assert len(parts) > 2 and "".join("".join(parts).split()) == "".join(LONG.split())
    assert max(table(road, "chunk_windows")["tokens"].to_list()) <= road.model.window
    vectors = table(road, "embeddings")
    assert sorted(vectors["chunk_id"]) == sorted(chunks["chunk_id"])
    with duckdb.connect(str(corpus.root / "lake" / "warehouse.duckdb"), read_only=True) as connection:
        whole = "SELECT count(*), count(DISTINCT chunk_id), any_value(typeof(vector)) FROM harbour.embeddings"
        assert connection.execute(whole).fetchone() == (2, 2, "FLOAT[32]")
        kept = connection.execute("SELECT count(*) FROM harbour.embedding_windows").fetchone()
        assert kept == (len(parts) if overflow == "vectors" else 0,)
        said = "SELECT overflow, chunks, documents, windows FROM harbour.above_window"
        assert connection.execute(said).fetchall() == [(overflow, 1, 1, len(parts))]


@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_the_vector_is_that_of_the_windows(corpus: Project, overflow: str) -> None:
    """EX-05: `embeddings` holds the token-weighted mean; with `vectors` each window's own stands beside it."""
    corpus.set("chunking.overflow", overflow)
    corpus.build()
    road = corpus.road()
    each = road.encoder.embed(windows_of(road))
    tokens = table(road, "chunk_windows").sort("window_index")["tokens"].to_list()
    (long,) = table(road, "chunks").filter(pl.col("overflow").is_not_null())["chunk_id"].to_list()
    row = table(road, "embeddings").filter(pl.col("chunk_id") == long)
    assert row["vector"].to_numpy()[0] == pytest.approx(pooled(each, tokens), abs=1e-5)
    assert row["tokens"].to_list() == [sum(tokens)]
    if overflow == "vectors":
        kept = table(road, "embedding_windows").sort("window_index")["vector"].to_numpy()
        assert kept == pytest.approx(each, abs=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_the_best_window_counts(corpus: Project, overflow: str, mode: str) -> None:
    """EX-05, GA-01: with `vectors` a chunk is as near as its nearest window, in every mode and at the gate."""
    corpus.set("chunking.overflow", overflow)
    corpus.build()
    road = corpus.road()
    query = "seven dog sat on a cat"
    each = road.encoder.embed(windows_of(road))
    tokens = table(road, "chunk_windows").sort("window_index")["tokens"].to_list()
    compared = each if overflow == "vectors" else pooled(each, tokens)[None]
    nearest = float(1 - np.max(compared @ road.encoder.embed_query(query)))
    citations = {c.doc_name: c for c in found(road, query, mode, cut=2.0)}
    assert len(citations) == len(found(road, query, mode, cut=2.0))
    assert citations["long.md"].cosine_distance == pytest.approx(nearest, abs=1e-5)
    assert citations["long.md"].quote == LONG
    kept = found(road, query, mode, cut=nearest + 1e-4)
    assert "long.md" in {c.doc_name for c in kept}
    assert all(c.cosine_distance is not None and c.cosine_distance <= nearest + 1e-4 for c in kept)


@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_the_evaluation_ranks_as_the_search(corpus: Project, overflow: str) -> None:
    """EX-05, SX-02: what is measured is what answers."""
    corpus.set("chunking.overflow", overflow)
    corpus.build()
    road = corpus.road()
    rankings = table(road, "evaluation_rankings").filter(pl.col("run") == "dense").sort("question_id", "rank")
    for name, _, _, question, _ in QUESTIONS:
        stored = rankings.filter(pl.col("question_id") == name)
        citations = found(road, question, "dense")
        assert stored["chunk_id"].to_list() == [c.chunk_id for c in citations]
        assert stored["cosine_distance"].to_list() == pytest.approx(
            [c.cosine_distance for c in citations], abs=1e-5
        )


def test_windows_are_remembered(corpus: Project) -> None:
    """VE-06, EM-02: a second build does nothing, `pool` after `vectors` embeds nothing, gc knows of windows."""
    corpus.set("chunking.overflow", "vectors")
    first = corpus.build()
    road = corpus.road()
    parts = windows_of(road)
    assert first.embedded_texts == len({*parts, SHORT, *(question for _, _, _, question, _ in QUESTIONS)})
    assert plan_road(road, STAGES).idle
    assert corpus.build().embedded_texts == 0
    lake = road.lake
    in_use = texts_in_use(lake, [lake.current()])
    made_from = set(embedded_texts(lake, lake.current())["text_hash"])
    assert len(made_from) == len({*parts, SHORT}) and made_from <= in_use
    assert Memo(road.memo_folder).known(made_from) == made_from
    model = declared_model(road)
    assert (model.chunks, model.remembered) == (2, 2)

    corpus.set("chunking.overflow", "pool")
    planned = plan_road(corpus.road(), STAGES)
    assert planned.stages["chunks"].stale
    again = corpus.build()
    assert again.embedded_texts == 0
    assert again.stages["embeddings"].stale == 1
    assert table(corpus.road(), "embedding_windows").is_empty()

    corpus.set("chunking.overflow", "split")
    corpus.build()
    road = corpus.road()
    assert table(road, "chunk_windows").is_empty()
    assert table(road, "chunks").height > 2


def test_another_model_makes_all_windows_anew(corpus: Project, small_models: dict[str, Path]) -> None:
    """VE-04, VE-07: no window keeps another model's vector."""
    corpus.set("chunking.overflow", "vectors")
    corpus.build()
    corpus.set("embedding.model", str(small_models["new"]))
    built = corpus.build()
    assert not built.failed and not built.refused
    road = corpus.road()
    windows = table(road, "embedding_windows")
    assert set(windows["model_fingerprint"]) == {road.model.fingerprint}
    assert windows["vector"].to_numpy().shape == (len(windows_of(road)), 48)


@pytest.mark.parametrize("overflow", ["vectors", "pool"])
def test_sets_are_measured_alike(corpus: Project, tmp_path: Path, overflow: str) -> None:
    """EX-05, SX-02: a set's documents are read in the same windows, and such chunks are reported apart."""
    import json

    corpus.set("chunking.overflow", overflow)
    folder = tmp_path / "sets" / "cats"
    folder.mkdir(parents=True)
    evidence = "seven dog sat on a cat"
    at = LONG.index(evidence)
    asked = {
        "question_id": "q",
        "doc_ids": ["long"],
        "question": evidence,
        "evidence": [{"doc_id": "long", "from": at, "to": at + len(evidence), "text": evidence}],
    }
    documents = [{"doc_id": n, "title": "", "text": t} for n, t in (("long", LONG), ("short", SHORT))]
    (folder / "documents.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    (folder / "questions.jsonl").write_text(json.dumps(asked) + "\n")
    road = corpus.road()
    result = evaluate_set(road, folder, lambda line: None)
    assert result.facts["chunks_above_window"] == 1 and result.facts["chunks"] == 2
    corpus.build()
    near = {c.doc_name: c.cosine_distance for c in found(corpus.road(), evidence, "dense")}
    stored = result.frames["evaluation_rankings"].filter(pl.col("run") == "dense")
    by_document = dict(stored.select("doc_id", "cosine_distance").iter_rows())
    assert by_document["long"] == pytest.approx(near["long.md"], abs=1e-5)
    assert by_document["short"] == pytest.approx(near["short.md"], abs=1e-5)
