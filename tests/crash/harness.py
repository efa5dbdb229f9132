"""Kills builds at random instants, and checks after each that nothing is broken (FA-04).

    python -m tests.crash.harness [--rounds 200] [--seed 1] [--folder DIR]

Each round changes some documents, starts a build, kills it after a random share of the time that a build takes, and
checks: the committed generation is whole (its tables name the same chunks), equal row by row to one that was committed
before or to what the sources give now, and the catalogue opens. Every tenth round a build runs to its end and is
compared, row by row, with a full build into an empty lake. The instants are spread over the whole of a build, one
stratum after the other in random order, so that none is left out by chance.

Every other build is `linkrag build` with Dagster, the ones between are the road alone, as Dagster's assets go it: of
a build through Dagster most is Dagster's record, and half of the kills would never meet a write of the lake. Both are
forked from a process that has imported everything, so a kill never falls into an import.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

from linkrag_dagster.lake.lake import CorpusLake
from tests.crash.small_corpus import (
    CONTEXT,
    Contents,
    HashEncoder,
    SmallCorpus,
    contents,
    first_documents,
    shown,
    without_versions,
)

COMPARED_EVERY = 10
STRATA = 25
COMMAND, ROAD = "linkrag build", "the road alone"


def _command(root: Path) -> None:
    """`linkrag build` as it is installed, but for the encoder: a build takes a second or two, and no model's time."""
    from linkrag_dagster.cli import main
    from linkrag_dagster.stages.road import Road

    os.chdir(root)
    for name in ("LINKRAG_LAKE", "DAGSTER_HOME"):
        os.environ.pop(name, None)
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    Road.encoder = property(lambda road: HashEncoder())  # pyright: ignore[reportAttributeAccessIssue]
    sys.argv = ["linkrag", "build", "--lake", str(root / "lake")]
    main()


def _road(root: Path) -> None:
    SmallCorpus(root).build()


BUILDS: Mapping[str, Callable[[Path], None]] = {COMMAND: _command, ROAD: _road}


def _nurse(there: Connection) -> None:
    """Import all that a build needs, then fork one build after the other, and kill it when its time is over."""
    for module in ("linkrag_dagster.cli.build", "linkrag_dagster.dag.run"):
        importlib.import_module(module)
    fork = multiprocessing.get_context("fork")
    there.send("warm")
    while (order := there.recv()) is not None:
        kind, root, kill_after = order
        started = time.monotonic()
        process = fork.Process(target=BUILDS[kind], args=(root,))
        process.start()
        process.join(kill_after)
        if process.exitcode is None:
            process.kill()
            process.join()
        there.send((process.exitcode, time.monotonic() - started))


class Nursery:
    """A process that builds are forked from: it has imported everything, and runs one thread."""

    def __enter__(self) -> Nursery:
        self._here, there = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_nurse, args=(there,))
        self._process.start()
        there.close()
        assert self._here.recv() == "warm"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._here.send(None)
        self._process.join()

    def build(self, kind: str, root: Path, kill_after: float | None) -> tuple[int, float]:
        """Exit code, -9 where the build was killed, and seconds."""
        self._here.send((kind, root, kill_after))
        return self._here.recv()


@dataclass(slots=True)
class Tally:
    """What came of the rounds.

    Attributes:
        killed: builds that a kill ended.
        finished: builds that were done before their kill came.
        committed: killed builds that had committed.
        compared: full comparisons.
        seconds: how long a build takes, by its kind: the last one that ended.
        faults: what was found broken.
    """

    killed: int = 0
    finished: int = 0
    committed: int = 0
    compared: int = 0
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    faults: list[str] = field(default_factory=list[str])


class Harness:
    """A corpus whose builds are killed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.corpus = SmallCorpus(folder / "project")
        self.folder = folder
        first_documents(self.corpus)
        self.tally = Tally()
        self._known: dict[int, Contents] = {}
        self._strata: dict[str, list[int]] = {kind: [] for kind in BUILDS}

    def run(self, rounds: int) -> Tally:
        """Kill `rounds` builds."""
        with Nursery() as nursery:
            # Twice: the first one also sets up the Dagster instance.
            for kind in (COMMAND, ROAD, COMMAND):
                self._change(0)
                self._build(nursery, kind, None)
            self._compare(0)
            for number in range(1, rounds + 1):
                kind = COMMAND if number % 2 else ROAD
                self._change(number)
                before = self.corpus.lake().current().number
                self._build(nursery, kind, self._instant(kind))
                self.tally.committed += self.corpus.lake().current().number > before
                self._check(number)
                if number % COMPARED_EVERY == 0 or number == rounds:
                    self._build(nursery, COMMAND, None)
                    self._compare(number)
        return self.tally

    def _instant(self, kind: str) -> float:
        """When to kill a build: seconds after its start, a little beyond its usual end at most."""
        strata = self._strata[kind] or self.random.sample(range(STRATA), STRATA)
        share = (strata.pop() + self.random.random()) / STRATA
        self._strata[kind] = strata
        return share * self.tally.seconds[kind] * 1.1

    def _build(self, nursery: Nursery, kind: str, kill_after: float | None) -> None:
        """Build, and kill the build after some seconds or let it end."""
        code, seconds = nursery.build(kind, self.corpus.root, kill_after)
        self.tally.killed += code == -9
        self.tally.finished += kill_after is not None and code == 0
        if code == 0:
            self.tally.seconds[kind] = seconds
        elif code != -9:
            self.tally.faults.append(f"a build ({kind}) ended with exit code {code}")

    def _change(self, number: int) -> None:
        """Change one document, now and then add, remove or rename one."""
        source = self.corpus.source
        self.corpus.write(
            "ferry.md", f"# Ferry\n\nCrossing {number} leaves at {self.random.randrange(24)}.\n"
        )
        kind = self.random.choice(("add", "remove", "rename", "edit", "edit"))
        others = sorted(path for path in source.glob("log-*.md"))
        if kind == "add" or not others:
            self.corpus.write(f"log-{number}.md", f"# Log {number}\n\nA ship came in on day {number}.\n")
            return
        chosen = self.random.choice(others)
        if kind == "remove":
            chosen.unlink()
        elif kind == "rename":
            chosen.rename(source / f"log-{number}.md")
        else:
            chosen.write_text(f"# Log\n\nTwo ships came in on day {number}.\n", encoding="utf-8")

    def _check(self, number: int) -> None:
        """After a kill: a whole generation, never a mix, and a catalogue that opens."""
        lake = self.corpus.lake()
        generation = lake.current()
        rows = contents(lake, generation)
        known = self._known.setdefault(generation.number, rows)
        if rows != known:
            self._fault(number, f"generation {generation.number} is not what it was")
        searched = {row["chunk_id"] for row in _chunks(lake) if row["searchable"]}
        for table in ("embeddings", "bm25_lengths"):
            if (
                set(lake.read(generation, table, columns=["chunk_id"], dimensions=384)["chunk_id"])
                != searched
            ):
                self._fault(
                    number, f"{table} and chunks of generation {generation.number} are of different builds"
                )
        shows, views = shown(lake)
        if shows not in self._known or without_versions(views) != without_versions(self._known[shows]):
            self._fault(number, f"the catalogue shows generation {shows}, and not as it was")

    def _compare(self, number: int) -> None:
        """After a build that ended: equal to a full build into an empty lake, here without Dagster."""
        self.tally.compared += 1
        full = f"full-{number}"
        self.corpus.build(full)
        current = self.corpus.lake().current()
        self._known[current.number] = contents(self.corpus.lake(), current)
        if self._known[current.number] != contents(self.corpus.lake(full)):
            self._fault(number, "a resumed build differs from a full one")
        if without_versions(shown(self.corpus.lake())[1]) != without_versions(self._known[current.number]):
            self._fault(number, "the catalogue is behind")
        shutil.rmtree(self.corpus.root / full)

    def _fault(self, number: int, words: str) -> None:
        self.tally.faults.append(f"round {number}: {words}")


def _chunks(lake: CorpusLake) -> list[dict[str, object]]:
    return lake.read(lake.current(), "chunks", columns=["chunk_id", "searchable"]).to_dicts()


def main() -> int:
    """Print what was found; 1 where anything was broken."""
    parser = argparse.ArgumentParser(description="Kill builds at random instants.")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="an empty folder to work in; it stays")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tally = Harness(asked.folder or Path(temporary), asked.seed).run(asked.rounds)
    takes = ", ".join(f"{seconds:.1f} s ({kind})" for kind, seconds in tally.seconds.items())
    print(
        f"{asked.rounds} rounds, seed {asked.seed}: {tally.killed} builds killed, {tally.committed} of them and of the "
        f"{tally.finished} that were faster had committed; {tally.compared} compared with a full build; "
        f"a build takes {takes}; {len(tally.faults)} faults"
    )
    for fault in tally.faults:
        print(fault)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
