"""Another model: blue/green, resumed, by hand, and back again (VE-04, VE-07, LA-01)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from linkrag_dagster.declaration import DeclarationError
from linkrag_dagster.embedding.embed_missing import embed_missing
from linkrag_dagster.embedding.encoder import Encoder
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import LakeError
from linkrag_dagster.retrieval.index_model import encoder_of
from linkrag_dagster.retrieval.search import Answer, ModelMismatch, search
from linkrag_dagster.stages.activation import NothingToActivate, waiting
from linkrag_dagster.stages.collect import collect
from linkrag_dagster.stages.finish import activate
from linkrag_dagster.stages.history import run_records
from linkrag_dagster.stages.models import declared_model, generation_models
from linkrag_dagster.stages.plan import plan_road
from linkrag_dagster.stages.road import STAGES
from linkrag_dagster.stages.roll_back import NoSuchGeneration, next_build, roll_back

from .conftest import Project, run_here


class Killed(BaseException):
    """What ends a build without a word."""


@pytest.fixture
def switched(project: Project, small_models: dict[str, Path]) -> Project:
    """Built with the old model, then declared with the new one."""
    project.use(small_models["old"])
    project.build()
    project.use(small_models["new"])
    return project


def ask(project: Project) -> Answer:
    """A question asked as `linkrag search` asks it."""
    road = project.road()
    declared = road.declaration.embedding.model
    encoder, _ = encoder_of(road.lake.current(), declared, road.loaded.path.parent)
    return search(road.lake, "the red pennant", mode="dense", encoder=encoder)


def embed_blocks_of_two(monkeypatch: pytest.MonkeyPatch, *, killed_at: int | None) -> list[int]:
    """Blocks of two texts; the encoder is killed at its n-th block. Returns the sizes of the blocks embedded."""
    sizes: list[int] = []
    real = Encoder.embed

    def embed(
        self: Encoder, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> Any:
        if killed_at is not None and len(sizes) == killed_at:
            raise Killed
        sizes.append(len(texts))
        return real(self, texts, on_progress)

    monkeypatch.setattr(Encoder, "embed", embed)
    monkeypatch.setattr("linkrag_dagster.stages.embeddings.embed_missing", partial(embed_missing, block=2))
    return sizes


def vectors(lake: CorpusLake) -> dict[str, list[float]]:
    generation = lake.current()
    dimensions = int(str(generation.facts["dimensions"]))
    rows = lake.read(generation, "embeddings", columns=["chunk_id", "vector"], dimensions=dimensions)
    return dict(rows.with_columns(pl.col("vector").arr.to_list()).iter_rows())


def test_the_old_model_answers_until_the_new_index_is_whole(
    switched: Project, small_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """VE-07: killed in the middle of embedding, search, status and catalogue are as before; then it resumes."""
    old = switched.road().lake.current()
    before = ask(switched)
    plan = plan_road(switched.road(), STAGES)
    assert plan.stages["embeddings"].stale == old.rows("embeddings")
    with monkeypatch.context() as patch:
        done = embed_blocks_of_two(patch, killed_at=2)
        with pytest.raises(Killed):
            switched.build()
    assert done == [2, 2]
    road = switched.road()
    assert road.lake.current() == old
    assert ask(switched) == before and before.fingerprint == old.facts["model_fingerprint"]
    with duckdb.connect(str(road.lake_root / "warehouse.duckdb"), read_only=True) as connection:
        kinds = connection.execute("SELECT DISTINCT typeof(vector) FROM harbour.embeddings").fetchall()
    assert kinds == [("FLOAT[32]",)]
    today = declared_model(road)
    assert (today.active, today.remembered, today.dimensions) == (False, 4, 48)

    resumed = switched.build()
    assert resumed.embedded_texts == old.rows("embeddings") - 4
    now = switched.road().lake.current()
    assert now.number == old.number + 1 and now.facts["dimensions"] == 48
    assert ask(switched).fingerprint == now.facts["model_fingerprint"] != before.fingerprint
    assert {len(vector) for vector in vectors(switched.road().lake).values()} == {48}
    with duckdb.connect(str(road.lake_root / "warehouse.duckdb"), read_only=True) as connection:
        kinds = connection.execute("SELECT DISTINCT typeof(vector) FROM harbour.embeddings").fetchall()
    assert kinds == [("FLOAT[48]",)]


def test_nothing_half_migrated_answers_after_any_stage(switched: Project) -> None:
    """VE-07, LA-01: whatever stage a build was ended after, the old generation answers, whole."""
    old = switched.road().lake.current()
    for name in (stage.name for stage in STAGES[:7]):
        road = switched.road()
        road.materialise(name, lambda line: None)
        assert road.lake.current() == old
        assert ask(switched).fingerprint == old.facts["model_fingerprint"]


def test_a_query_of_another_model_is_refused_by_name(
    switched: Project, small_models: dict[str, Path]
) -> None:
    """VE-04, DE-01: both models are named."""
    road = switched.road()
    with pytest.raises(ModelMismatch) as refused:
        search(road.lake, "pennant", mode="dense", encoder=road.encoder)
    for part in (small_models["old"], small_models["new"], road.model.fingerprint[:12]):
        assert str(part) in str(refused.value)


def test_a_whole_generation_waits_where_that_is_declared(switched: Project) -> None:
    """VE-07: `embedding.activate: manual` holds the swap back; a second build does nothing; then one swap."""
    switched.set("embedding.activate", "manual")
    old = switched.road().lake.current()
    switched.build()
    road = switched.road()
    assert road.lake.current() == old and ask(switched).fingerprint == old.facts["model_fingerprint"]
    assert [(g.state, g.dimensions) for g in generation_models(road)] == [("active", 32), ("waiting", 48)]
    again = switched.build()
    assert again.plan is not None and again.plan.idle and again.embedded_texts == 0
    assert waiting(switched.road()) is not None
    switched.write("bell.md", "the bell\n")
    switched.build()
    assert switched.road().lake.current() == old

    road = switched.road()
    now = activate(road, "by-hand")
    assert now.number == 2 and now.run_id == "by-hand" and road.lake.staged() is None
    assert ask(switched).fingerprint == now.facts["model_fingerprint"]
    with pytest.raises(NothingToActivate, match="no whole generation waits"):
        activate(switched.road(), "again")


def test_an_unfinished_generation_is_not_activated(switched: Project) -> None:
    """VE-07: what is not whole never answers, not even by hand."""
    switched.set("embedding.activate", "manual")
    switched.write("bell.md", "the bell\n")
    old = switched.road().lake.current()
    run_here(switched.road(), [stage.name for stage in STAGES[:7]], "")
    with pytest.raises(NothingToActivate, match="an unfinished build is staged"):
        activate(switched.road(), "too-early")
    assert switched.road().lake.current() == old


def test_an_update_under_the_same_model_does_not_wait(
    switched: Project, small_models: dict[str, Path]
) -> None:
    """VE-07: manual activation is about models; documents go on as ever."""
    switched.set("embedding.model", str(small_models["old"]))
    switched.set("embedding.activate", "manual")
    switched.write("bell.md", "the bell\n")
    assert switched.build().generation == 2


def test_a_roll_back_answers_as_before_and_embeds_nothing(
    switched: Project, small_models: dict[str, Path]
) -> None:
    """VE-07: one command; the record says so; forward again embeds nothing, for the memo has both models' vectors."""
    before = vectors(switched.road().lake)
    old_answer = ask(switched)
    switched.build()
    new_answer = ask(switched)
    road = switched.road()
    done = roll_back(road, "back", reason="worse answers")
    assert (done.before.number, done.to.number, done.now.number, done.dropped) == (2, 1, 3, False)
    assert vectors(road.lake) == before
    assert ask(switched) == old_answer
    record = run_records(road.lake)[-1]
    assert (record.generation, record.rolled_back_to, record.note) == (3, 1, "worse answers")
    assert record.why == ["rolled back to generation 1: worse answers"]
    with duckdb.connect(str(road.lake_root / "warehouse.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT number, model FROM harbour.generation").fetchone()
    assert found == (3, str(small_models["old"]))

    ahead, problem = next_build(switched.road())
    assert problem == "" and any("model" in reason for reason in ahead["embeddings"])
    switched.set("embedding.model", str(small_models["old"]))
    assert next_build(switched.road()) == ({}, "")
    assert plan_road(switched.road(), STAGES).idle
    switched.set("embedding.model", str(small_models["new"]))
    forward = switched.build()
    assert forward.generation == 4 and forward.embedded_texts == 0
    assert ask(switched) == new_answer


def test_roll_backs_go_further_back_one_by_one(switched: Project) -> None:
    """LA-01: without a number, a second roll-back does not swing to what was left by the first."""
    for number in range(3):
        switched.write("bell.md", f"the bell {number}\n")
        switched.build()
    assert roll_back(switched.road(), "first").to.number == 3
    assert roll_back(switched.road(), "second").to.number == 2
    assert roll_back(switched.road(), "third", 4).to.number == 4
    assert roll_back(switched.road(), "fourth").to.number == 3
    with pytest.raises(NoSuchGeneration, match="generation 8 is the current one"):
        roll_back(switched.road(), "self", 8)
    with pytest.raises(NoSuchGeneration, match="generation 99 is not kept"):
        roll_back(switched.road(), "beyond", 99)
    roll_back(switched.road(), "oldest", 1)
    with pytest.raises(NoSuchGeneration, match=r"no generation before 1 is kept; .*: 1, 2, .*; name one"):
        roll_back(switched.road(), "beyond the oldest")


def test_there_is_nothing_to_roll_back_to(project: Project) -> None:
    """LA-01: a corpus that was never built, and one that was built once."""
    with pytest.raises(NoSuchGeneration, match="nothing has been built yet: linkrag build harbour"):
        roll_back(project.road(), "never built")
    assert not project.road().lake.committed()
    project.build()
    with pytest.raises(NoSuchGeneration, match=r"no generation before 1 is kept; .*: none$"):
        roll_back(project.road(), "only one")


def test_a_roll_back_drops_what_is_staged_and_keeps_its_vectors(
    switched: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VE-07: staged work goes, the memo's vectors do not, not even at gc: the model is still declared."""
    switched.write("bell.md", "the bell\n")
    switched.build()
    switched.write("bell.md", "the red bell\n")
    switched.set("chunking.max_tokens", 7)
    with monkeypatch.context() as patch:
        embed_blocks_of_two(patch, killed_at=1)
        with pytest.raises(Killed):
            switched.build()
    assert switched.road().lake.staged() is not None
    done = roll_back(switched.road(), "back", 1)
    road = switched.road()
    assert done.dropped and road.lake.staged() is None
    collect([road], [road], keep=3)
    assert switched.road().memo_folder.is_dir()
    assert ask(switched).fingerprint == done.to.facts["model_fingerprint"]
    assert switched.build().generation == 4


def test_a_damaged_generation_is_not_rolled_back_to(switched: Project) -> None:
    """FA-04: its files are looked at before the swap; nothing was changed."""
    switched.build()
    road = switched.road()
    now = road.lake.current()
    victim = next(iter(road.lake.committed()[0].tables["embeddings"].values()))
    (road.lake.folder / victim.path).unlink()
    with pytest.raises(LakeError, match="generation 1, table embeddings, is missing"):
        roll_back(road, "back")
    assert road.lake.current() == now


def test_before_the_first_commit_there_is_no_way_back(project: Project) -> None:
    """LA-01: said, not stumbled over."""
    with pytest.raises(NoSuchGeneration, match="nothing has been built yet"):
        roll_back(project.road(), "back")


def test_models_side_by_side(switched: Project) -> None:
    """VE-07: name, fingerprint, dimensions and coverage of each generation; what is declared, how far it is."""
    switched.build()
    road = switched.road()
    first, second = generation_models(road)
    assert (first.state, first.dimensions, second.state, second.dimensions) == ("kept", 32, "active", 48)
    assert first.chunks == first.covered > 0 and second.chunks == second.covered
    assert first.fingerprint != second.fingerprint == road.model.fingerprint
    assert declared_model(road).active
    switched.set("embedding.model", "../../nowhere")
    missing = declared_model(switched.road())
    assert "nowhere" in missing.problem and not missing.active
    with pytest.raises(DeclarationError):
        _ = switched.road().model
    assert [model.state for model in generation_models(switched.road())] == ["kept", "active"]


def test_gc_removes_an_old_model_whole(switched: Project) -> None:
    """VE-07: kept for roll-back as long as a kept generation names it, then gone with its last vector."""
    old = switched.road().lake.current().facts["model_fingerprint"]
    switched.build()
    road = switched.road()
    folder = road.lake_root / "memo" / str(old)
    collect([road], [road], keep=1)
    assert folder.is_dir()
    done = collect([road], [road], keep=0)
    assert not folder.exists() and done.memo[str(old)].kept == 0
    assert road.memo_folder.is_dir() and ask(switched).answerable
