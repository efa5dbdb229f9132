"""Kills real `linkrag build` processes at random instants, and checks after each that nothing is broken (FA-04).

    python -m tests.crash.harness [--rounds 200] [--seed 1] [--folder DIR]

Each round changes some documents, starts a build, kills it after a random share of the time that a build takes, and
checks: the committed generation is whole (its tables name the same chunks), equal row by row to one that was committed
before or to what the sources give now, and the catalogue opens. Every tenth round a build runs to its end and is
compared, row by row, with a full build into an empty lake. The instants are spread over the whole of a build, one
stratum after the other in random order, so that none is left out by chance.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from linkrag_dagster.lake.lake import CorpusLake
from tests.crash.small_corpus import Contents, SmallCorpus, contents, first_documents, shown, without_versions

COMPARED_EVERY = 10
STRATA = 25
# The command as it is installed, but for the encoder: a build takes a second or two, of which most is not the model's.
BUILD = """
import sys
from linkrag_dagster.stages.road import Road
from tests.crash.small_corpus import HashEncoder
Road.encoder = property(lambda road: HashEncoder())
from linkrag_dagster.cli import main
print("ready", flush=True)
sys.stdin.readline()
main()
"""


@dataclass(slots=True)
class Tally:
    """What came of the rounds.

    Attributes:
        killed: builds that a kill ended.
        finished: builds that were done before their kill came.
        committed: killed builds that had committed.
        compared: full comparisons.
        seconds: how long the first build took.
        faults: what was found broken.
    """

    killed: int = 0
    finished: int = 0
    committed: int = 0
    compared: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list[str])


class Harness:
    """A corpus whose builds are killed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.corpus = SmallCorpus(folder / "project")
        self.folder = folder
        first_documents(self.corpus)
        self.tally = Tally()
        self._repository = Path(__file__).resolve().parents[2]
        self._known: dict[int, Contents] = {}

    def run(self, rounds: int) -> Tally:
        """Kill `rounds` builds."""
        # Twice: the first one also sets up the Dagster instance.
        self._build(None)
        self._change(0)
        self.tally.seconds = self._build(None)
        self._compare(0)
        strata: list[int] = []
        for number in range(1, rounds + 1):
            if not strata:
                strata = self.random.sample(range(STRATA), STRATA)
            share = (strata.pop() + self.random.random()) / STRATA
            self._change(number)
            before = self.corpus.lake().current().number
            self._build(share * self.tally.seconds * 1.1)
            self.tally.committed += self.corpus.lake().current().number > before
            self._check(number)
            if number % COMPARED_EVERY == 0 or number == rounds:
                self._build(None)
                self._compare(number)
        return self.tally

    def _build(self, kill_after: float | None) -> float:
        """Start a build and kill it after some seconds, or let it finish; seconds that it took."""
        process = subprocess.Popen(
            [sys.executable, "-c", BUILD, "build", "--lake", str(self.corpus.root / "lake")],
            cwd=self.corpus.root,
            env=_environment(self._repository),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        started = time.monotonic()
        process.stdin.write("\n")
        process.stdin.flush()
        try:
            process.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self.tally.killed += process.returncode == -9
        self.tally.finished += kill_after is not None and process.returncode == 0
        if process.returncode not in (0, -9):
            self.tally.faults.append(f"a build ended with exit code {process.returncode}")
        return time.monotonic() - started

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


def _environment(repository: Path) -> dict[str, str]:
    import os

    kept = {k: v for k, v in os.environ.items() if k not in ("LINKRAG_LAKE", "DAGSTER_HOME")}
    return {**kept, "PYTHONPATH": str(repository), "PYTHONWARNINGS": "ignore"}


def main() -> int:
    """Print what was found; 1 where anything was broken."""
    parser = argparse.ArgumentParser(description="Kill builds at random instants.")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="an empty folder to work in; it stays")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tally = Harness(asked.folder or Path(temporary), asked.seed).run(asked.rounds)
    print(
        f"{asked.rounds} rounds, seed {asked.seed}: {tally.killed} builds killed, {tally.committed} of them and of the "
        f"{tally.finished} that were faster had committed; {tally.compared} compared with a full build; "
        f"a build takes {tally.seconds:.1f} s; {len(tally.faults)} faults"
    )
    for fault in tally.faults:
        print(fault)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
