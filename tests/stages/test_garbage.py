"""`linkrag gc`: what is kept, what goes, and that nothing that answers is touched (LA-01, VE-06, VE-07)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from linkrag_dagster.embedding.memo import Memo
from linkrag_dagster.lake.lock import LockHeld
from linkrag_dagster.lake.status import corpus_status
from linkrag_dagster.retrieval.index_model import analyzer_of
from linkrag_dagster.retrieval.search import search
from linkrag_dagster.stages.collect import Collected, collect
from linkrag_dagster.stages.roll_back import NoSuchGeneration, roll_back

from .conftest import Project


@pytest.fixture(autouse=True)
def _small(project: Project, small_models: dict[str, Path]) -> None:
    project.use(small_models["old"])


def gc(project: Project, *, keep: int | None = None, dry_run: bool = False) -> Collected:
    road = project.road()
    return collect([road], [road], keep=keep, dry_run=dry_run)


def turn(project: Project, number: int) -> None:
    project.write("ferry.md", f"# Ferry\n\nCrossing number {number} leaves the north quay.\n")
    project.build()


def tables(project: Project) -> set[str]:
    folder = project.road().lake.folder
    return {path.relative_to(folder).as_posix() for path in (folder / "tables").glob("*/*.parquet")}


def texts(project: Project) -> set[str]:
    road = project.road()
    return set(road.lake.read(road.lake.current(), "chunks", columns=["text_hash"])["text_hash"])


def memo_size(project: Project) -> int:
    road = project.road()
    return sum(path.stat().st_size for path in road.memo_folder.glob("*.parquet"))


def remembered(project: Project, text: str) -> bool:
    road = project.road()
    found = road.lake.read(road.lake.current(), "chunks", columns=["text", "text_hash"])
    marks = [mark for words, mark in found.iter_rows() if text in words]
    return bool(Memo(road.memo_folder).known(marks)) if marks else False


def test_the_last_generations_stay(project: Project) -> None:
    """LA-01: the current and three before it by default; every file of theirs, and no other."""
    for number in range(6):
        turn(project, number)
    before = tables(project)
    planned = gc(project, dry_run=True)
    assert tables(project) == before
    done = gc(project)
    assert done.size == planned.size > 0
    lake = project.road().lake
    assert [generation.number for generation in lake.committed()] == [3, 4, 5, 6]
    named = {
        file.path
        for generation in lake.committed()
        for shards in generation.tables.values()
        for file in shards.values()
    }
    assert tables(project) == named < before
    assert {file.kind for file in done.corpora["harbour"].files} == {"generation", "table"}
    again = gc(project)
    assert again.size == 0 and again.corpora["harbour"].files == ()


@pytest.mark.slow
def test_keeping_none_leaves_what_answers(project: Project) -> None:
    """LA-01, LA-02, FA-02: search, status and the catalogue read the current generation as before."""
    for number in range(3):
        turn(project, number)
    before = corpus_status(project.road().lake).rows
    gc(project, keep=0)
    road = project.road()
    assert corpus_status(road.lake).rows == before
    answer = search(road.lake, "crossing number 2", mode="bm25", analyzer=analyzer_of(road.lake.current()))
    assert "number 2" in answer.citations[0].quote
    with duckdb.connect(str(road.lake_root / "warehouse.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT count(*) FROM harbour.chunks").fetchone()
    assert found == (before["chunks"],)
    with pytest.raises(NoSuchGeneration, match="kept beside the current one: none"):
        roll_back(road, "back", 1)
    built = project.build()
    assert built.plan is not None and built.plan.idle


@pytest.mark.slow
def test_the_declared_number_is_kept(project: Project) -> None:
    """LA-01: limits.generations belongs to no spec, and says how many stay."""
    for number in range(4):
        turn(project, number)
    project.set("limits.generations", 1)
    gc(project)
    assert [generation.number for generation in project.road().lake.committed()] == [3, 4]


def test_vectors_of_texts_that_are_gone_go(project: Project) -> None:
    """VE-06: the memo keeps deleted texts until gc; then only those of kept generations are left."""
    project.build()
    every = texts(project)
    kept = (project.source / "crane.md").read_bytes()
    (project.source / "crane.md").unlink()
    project.build()
    before = memo_size(project)
    assert gc(project, keep=1).memo == {}
    done = gc(project, keep=0)
    (swept,) = done.memo.values()
    gone = every - texts(project)
    assert swept.vectors == len(gone) > 0 and swept.rewritten == 1 and memo_size(project) < before
    assert remembered(project, "north quay")
    project.write("crane.md", kept)
    assert project.build().embedded_texts == len(gone)


def test_a_killed_sweep_loses_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """FA-04: killed between the new block and the old one's removal, both are there; the next gc ends right."""
    project.build()
    (project.source / "crane.md").unlink()
    project.build()

    def killed(path: Path) -> None:
        raise KeyboardInterrupt(path)

    with monkeypatch.context() as patch:
        patch.setattr("linkrag_dagster.embedding.sweep._unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            gc(project, keep=0)
    assert remembered(project, "north quay")
    assert gc(project, keep=0).memo
    assert gc(project, keep=0).memo == {}
    assert remembered(project, "north quay")


def test_killed_between_manifest_and_files(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """FA-04: manifests go first, so no kept manifest ever lacks a file; the rest goes next time."""
    for number in range(3):
        turn(project, number)
    kept_unlink = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".parquet":
            raise KeyboardInterrupt
        kept_unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        with pytest.raises(KeyboardInterrupt):
            gc(project, keep=0)
    assert [generation.number for generation in project.road().lake.committed()] == [3]
    left = gc(project, keep=0)
    assert {file.kind for file in left.corpora["harbour"].files} == {"table"}
    assert corpus_status(project.road().lake).rows["chunks"] > 0


def test_what_a_build_has_staged_stays(project: Project) -> None:
    """LA-01, FA-04: an unfinished build goes on from what it staged; what a killed writer left goes."""
    project.build()
    project.write("bell.md", "# Bell\n\nThe fog bell was cast in Odense.\n")
    road = project.road()
    for name in ("raw_documents", "extracted_text", "elements"):
        road.materialise(name, lambda line: None)
    staged = road.lake.staged()
    assert staged is not None
    left = road.lake.folder / "tables" / "chunks" / ".00.parquet.1.tmp"
    left.write_bytes(b"half")
    done = gc(project, keep=0)
    assert [file.kind for file in done.corpora["harbour"].files if file.path == left] == ["temporary"]
    assert not left.exists()
    assert road.lake.staged() == staged
    assert project.build().generation == 2


def test_a_corpus_that_is_being_built_is_refused(project: Project) -> None:
    """FA-04: the writer's lock keeps files of a build in progress safe."""
    project.build()
    road = project.road()
    # The lock may be entered again by its own thread; another thread is as good as another process.
    with road.lake.writer(), ThreadPoolExecutor(1) as elsewhere:
        refused = elsewhere.submit(gc, project, keep=0).exception()
    assert isinstance(refused, LockHeld) and "holds the lock" in str(refused)


def test_the_memo_of_a_model_that_nobody_names_goes_whole(project: Project) -> None:
    """VE-07: models that neither a kept generation nor a declaration names are removed whole."""
    project.build()
    strange = project.road().lake_root / "memo" / ("0" * 32)
    strange.mkdir()
    (strange / "x.parquet").write_bytes(next(project.road().memo_folder.glob("*.parquet")).read_bytes())
    done = gc(project)
    assert set(done.memo) == {"0" * 32} and done.memo["0" * 32].removed == 1
    assert not strange.exists()


def test_the_memo_stays_while_the_declared_model_is_missing(project: Project) -> None:
    """VE-07: without the declared model nobody knows which vectors are its own."""
    project.build()
    (project.source / "crane.md").unlink()
    project.build()
    project.set("embedding.model", "../../nowhere")
    done = gc(project, keep=0)
    assert done.memo == {} and any("nowhere" in why for why in done.memo_left.values())
    assert [generation.number for generation in project.road().lake.committed()] == [2]
