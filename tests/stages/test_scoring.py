"""`semantic_depth_window` in a build: the memo, the trace, provenance, and failures (SD-15 to SD-17, VE-01)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import polars as pl
import pytest

from linkrag_dagster.embedding.encoder import Encoder
from linkrag_dagster.stages.build import BuildResult
from tests.stages.conftest import Project

PASSAGES = {
    "ferry": "The ferry leaves the north quay at seven and at nine, and calls at Lundholm on the way. ",
    "crane": "Under the blue crane nobody stands while a load of stone hangs from its hook. ",
    "bread": "Bakers knead rye dough at midnight and let it rest on linen until the ovens are hot. ",
}
TEXT = "# Work\n\n" + "\n\n".join((words * 6).strip() for words in PASSAGES.values()) + "\n"


def _rows(project: Project, table: str) -> pl.DataFrame:
    road = project.road()
    return road.lake.read(road.lake.shown(), table)


def _counts(result: BuildResult, table: str) -> dict[str, Any]:
    return dict(result.stages[table].counts())


@pytest.fixture
def semantic(empty_project: Callable[[], Project]) -> Project:
    made = empty_project()
    made.write("work.md", TEXT)
    made.set("chunking.strategy", "semantic_depth_window")
    return made


def test_scores_are_traced_and_their_model_named(semantic: Project) -> None:
    """SD-16, EX-06: a row a gap, a view of them, and on each chunk who compared and by which limits."""
    result = semantic.build()
    road = semantic.road()
    trace = _rows(semantic, "boundary_trace").sort("gap_index")
    assert trace.height >= 2
    assert trace["cohesion"].null_count() == 1  # beside the heading
    assert trace.filter(pl.col("chosen"))["reason"].unique().to_list() == ["depth"]
    for table in ("final_chunks", "chunks"):
        rows = _rows(semantic, table)
        assert set(rows["scorer"]) == {f"all-MiniLM-L6-v2 {road.model.fingerprint}"}
        limits = json.loads(rows["thresholds"][0])
        assert {"min", "max", "hard_max", "cohesion_window_tokens", "smoothing"} <= limits.keys()
        assert set(rows["strategy"]) == {"semantic_depth_window"}
    assert result.stages["final_chunks"].texts > 0
    with duckdb.connect(str(road.lake_root / "warehouse.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT count(*), count(cohesion) FROM harbour.boundary_trace").fetchone()
    assert found == (trace.height, trace.height - 1)


def test_no_text_is_embedded_twice(semantic: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """SD-17: scorer and index share the memo, in one build and in the next."""
    asked: list[str] = []
    embed = Encoder.embed

    def counting(self: Encoder, texts: Sequence[str], on_progress: Any = None) -> Any:
        asked.extend(texts)
        return embed(self, texts, on_progress)

    monkeypatch.setattr(Encoder, "embed", counting)
    semantic.build()
    assert len(asked) == len(set(asked))
    before = len(asked)
    semantic.set("chunking.smoothing", "mean(2, 1)")
    again = semantic.build()
    assert again.stages["final_chunks"].texts == 0
    assert len(asked) == len(set(asked)) >= before


def test_other_strategies_do_not_depend_on_the_scorer(project: Project) -> None:
    """VE-01: its settings make no row of `pack` stale."""
    project.build()
    project.set("chunking.window_weighting", "tokens")
    project.set("chunking.cohesion_window_tokens", 64)
    project.set("chunking.scorer_batch", 3)
    again = project.build()
    assert all(_counts(again, table)["stale"] == 0 for table in ("final_chunks", "chunks", "embeddings"))
    assert _rows(project, "chunks")["scorer"].null_count() == _rows(project, "chunks").height


@pytest.mark.parametrize(
    "error", [ConnectionResetError("gone"), PermissionError("403")], ids=["passing", "lasting"]
)
def test_a_failing_scorer_fails_its_documents_alone(
    semantic: Project, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """SD-15: the document fails as retryable or not, others go on, and nothing is cut by other means."""
    if isinstance(error, PermissionError):
        error.status_code = 403  # pyright: ignore[reportAttributeAccessIssue]
    semantic.write("other.md", TEXT.replace("Bakers", "Masons"))
    semantic.write("short.md", "# Short\n\nA few words.\n")
    semantic.set("chunking.scorer_backoff", 0)
    semantic.set("limits.failed_documents", 1.0)
    embed = Encoder.embed
    calls: list[int] = []

    def failing(self: Encoder, texts: Sequence[str], on_progress: Any = None) -> Any:
        if any("Masons" in text for text in texts):
            calls.append(len(texts))
            raise error
        return embed(self, texts, on_progress)

    monkeypatch.setattr(Encoder, "embed", failing)
    result = semantic.build()
    (failure,) = result.stages["final_chunks"].failures
    assert failure.kind == "embedding"
    assert failure.retryable == isinstance(error, ConnectionResetError)
    assert type(error).__name__ in failure.message
    assert len(calls) % (3 if failure.retryable else 1) == 0
    assert len(set(_rows(semantic, "final_chunks")["doc_key"])) == 2
    monkeypatch.setattr(Encoder, "embed", embed)


def test_texts_above_the_scorers_window_are_parted(semantic: Project) -> None:
    """SD-15, EX-05: a budget in another tokenizer may exceed the scorer's window; no word is cut away."""
    semantic.set("chunking.tokenizer", "cl100k_base")
    semantic.set("chunking.max_tokens", 300)
    semantic.set("chunking.hard_max_tokens", 400)
    semantic.write("work.md", "\n\n".join((words * 20).strip() for words in PASSAGES.values()) + "\n")
    result = semantic.build()
    assert not result.stages["final_chunks"].failures
    assert _rows(semantic, "boundary_trace")["cohesion"].null_count() == 0


def test_overflow_error_fails_the_document(semantic: Project) -> None:
    """EX-05: by name, with what to do."""
    semantic.set("chunking.overflow", "error")
    semantic.set("chunking.hard_max_tokens", 400)
    semantic.set("chunking.strategy", "noop")
    semantic.write("short.md", "# Short\n\nA few words.\n")
    semantic.set("limits.failed_documents", 1.0)
    result = semantic.build()
    (failure,) = result.stages["chunks"].failures
    assert (failure.kind, failure.retryable) == ("contract", False)
    assert "overflow: split" in failure.message
    assert _rows(semantic, "chunks").height == 1
