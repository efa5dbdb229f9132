"""A corpus whose builds take a moment: small documents, vectors from hashes, no Dagster; processes that die in it."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.declaration import load_declaration, starter
from linkrag_dagster.disk.points import watched
from linkrag_dagster.lake.catalogue import CATALOGUE
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.build import BuildResult, build
from linkrag_dagster.stages.collect import collect
from linkrag_dagster.stages.finish import finish
from linkrag_dagster.stages.road import STAGES, Road

NAME = "harbour"
DIMENSIONS = 384

Contents = dict[str, list[tuple[Any, ...]]]
"""Rows of every table, in order of key."""


class HashEncoder:
    """Unit vectors that depend on the text alone; counts what it is given."""

    def __init__(self, break_off: Callable[[int], None] | None = None) -> None:
        self.texts = 0
        self._break_off = break_off

    def embed(
        self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """Vectors `[texts, 384]`."""
        if self._break_off is not None:
            self._break_off(self.texts)
        self.texts += len(texts)
        if on_progress is not None:
            on_progress(len(texts), sum(map(len, texts)))
        marks = [hashlib.shake_256(text.encode()).digest(DIMENSIONS) for text in texts]
        rows = np.frombuffer(b"".join(marks), dtype=np.uint8).reshape(-1, DIMENSIONS).astype(np.float32)
        rows -= 127.5
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class SmallCorpus:
    """A declared corpus in a folder, which may be there already: another process opens the same one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = root / "docs"
        self.declaration = root / "assets" / NAME / "defs.yaml"
        self.encoder = HashEncoder()
        if not self.declaration.exists():
            self.source.mkdir(parents=True)
            self.declaration.parent.mkdir(parents=True)
            self.declaration.write_text(starter(NAME, self.source, root), encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        """Put a document into the source."""
        (self.source / name).write_text(text, encoding="utf-8")

    def road(self, lake: str = "lake", *, wait: float = 0.0) -> Road:
        """The corpus's road, with the quick encoder."""
        road = Road(load_declaration(self.declaration), lake=self.root / lake, wait=wait)
        road.__dict__["encoder"] = self.encoder
        return road

    def lake(self, lake: str = "lake") -> CorpusLake:
        """The corpus in its lake."""
        return CorpusLake(self.root / lake, NAME)

    def build(self, lake: str = "lake", *, wait: float = 0.0) -> BuildResult:
        """Build in this thread, without Dagster."""
        return build(self.road(lake, wait=wait), _run)

    def collect(self) -> None:
        """Remove what the current generation alone does not need, vectors of forgotten texts included."""
        road = self.road()
        collect([road], [road], keep=0)


def _run(road: Road, stages: Sequence[str], source_digest: str) -> bool:
    del source_digest
    for name in stages:
        road.reports[name] = road.materialise(name, lambda line: None)
    finish(road, "a-run")
    return True


def first_documents(corpus: SmallCorpus) -> None:
    """What the first generation is built from."""
    corpus.write(
        "ferry.md", "# Ferry\n\n## Summer\n\nThe ferry leaves at seven.\n\n## Winter\n\nIt leaves at nine.\n"
    )
    corpus.write(
        "crane.md", "# Crane\n\nIt lifts eleven tonnes.\n\n| part | code |\n| --- | --- |\n| hook | R-17 |\n"
    )
    corpus.write("gone.md", "# Gone\n\nThis page goes.\n")
    corpus.write("灯.md", "# 灯塔\n\n灯每九秒转一圈。\n")


def change_documents(corpus: SmallCorpus) -> None:
    """What the second generation is built from: one changed, one new, one removed, one renamed."""
    path = corpus.source / "ferry.md"
    path.write_text(path.read_text(encoding="utf-8").replace("nine", "ten"), encoding="utf-8")
    corpus.write("bell.md", "# Bell\n\nThe fog bell was cast in Odense.\n")
    (corpus.source / "gone.md").unlink()
    (corpus.source / "crane.md").rename(corpus.source / "cranes.md")


def contents(lake: CorpusLake, generation: Generation | None = None) -> Contents:
    """All rows of a generation (default: the current one), without what tells when and by which run they were made."""
    of = generation or lake.current()
    found: Contents = {}
    for rules in (contract(t, dimensions=DIMENSIONS) for stage in STAGES for t in stage.tables):
        frame = lake.read(of, rules.name, dimensions=DIMENSIONS)
        found[rules.name] = frame.sort(list(rules.key)).select(rules.content_columns).rows()
    return found


def shown(lake: CorpusLake) -> tuple[int, Contents]:
    """Number and rows of the generation that the catalogue shows; versions as the tables have them."""
    found: Contents = {}
    with duckdb.connect(str(lake.root / CATALOGUE), read_only=True) as connection:
        ((number,),) = connection.execute(f"SELECT number FROM {NAME}.generation").fetchall()
        for rules in (contract(t, dimensions=DIMENSIONS) for stage in STAGES for t in stage.tables):
            frame = pl.from_arrow(connection.sql(f"FROM {NAME}.{rules.name}").to_arrow_table())
            assert isinstance(frame, pl.DataFrame)
            found[rules.name] = (
                frame.select(pl.col(name).cast(kind) for name, kind in rules.polars.items())
                .sort(list(rules.key))
                .select(rules.content_columns)
                .rows()
            )
    return int(number), found


def without_versions(rows: Contents) -> Contents:
    """Rows without the version: the catalogue fills it in, the tables hold it where it is declared."""
    plain: Contents = {}
    for table, found in rows.items():
        columns = contract(table, dimensions=DIMENSIONS).content_columns
        kept = [place for place, name in enumerate(columns) if name != "version"]
        plain[table] = [tuple(row[place] for place in kept) for row in found]
    return plain


# -- processes that die ------------------------------------------------------------------------------------------------

# Forked from a process that has imported everything and started no thread: a build begins at once.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.crash.small_corpus"])


def killed_at(root: Path, point: str, visit: int) -> int:
    """Build in a process that is killed at the `visit`-th time it reaches a point; its exit code, -9 when it was."""
    process = CONTEXT.Process(target=_die_at, args=(root, point, visit))
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def collect_killed_at(root: Path, point: str, visit: int) -> int:
    """As `killed_at`, in a collection of what is no longer needed."""
    process = CONTEXT.Process(target=_die_at, args=(root, point, visit, True))
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _die_at(root: Path, point: str, visit: int, collecting: bool = False) -> None:
    visits = 0

    def kill(name: str, path: Path) -> None:
        nonlocal visits
        del path
        visits += name == point
        if name == point and visits == visit:
            os.kill(os.getpid(), signal.SIGKILL)

    with watched(kill):
        if collecting:
            SmallCorpus(root).collect()
        else:
            SmallCorpus(root).build()


class StoppedBuild:
    """A build in another process that stands still at a point, holding its locks, until it is killed or let go."""

    def __init__(self, root: Path, point: str) -> None:
        self._here, there = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_stop_at, args=(root, point, there))
        self.process.start()
        there.close()
        assert self._here.recv() == point

    def kill(self) -> None:
        """SIGKILL, and wait for its end."""
        self.process.kill()
        self.process.join()

    def go_on(self) -> int:
        """Let it finish; its exit code."""
        self._here.send("go")
        self.process.join()
        return self.process.exitcode or 0


def _stop_at(root: Path, point: str, there: Connection) -> None:
    told = threading.Event()

    def stop(name: str, path: Path) -> None:
        del path
        if name == point and not told.is_set():
            told.set()
            there.send(name)
            there.recv()

    with watched(stop):
        SmallCorpus(root).build()
