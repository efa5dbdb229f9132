"""The planner at scale: a build that finds nothing to do, and one with one changed document, among 10,000.

    python benchmarks/planner_scale.py [--documents 10000] [--sections 20] [--folder DIR] [--peers]

The documents are variations of each other; vectors come from hashes of the texts, since no model is measured here. The
builds run in processes of their own, through Dagster as `linkrag build` runs them; what is timed begins after the
imports. Beside the seconds stand what another load of the machine changes little or not at all: processor seconds,
files and bytes that the build left. Budgets: nothing to do ≤ 3 s; one changed document ≤ 5 s more than in a corpus of
ten; at most 2 GiB of memory. Exit code 1 beyond them.

`--peers` times the frameworks of `planner_peers.py` that are installed, on the same files.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

IDLE_SECONDS, CHANGED_SECONDS, MEMORY_GIB = 3.0, 5.0, 2.0
CORPUS = "many"
FEW = 10
"""Documents of the corpus that shows what one changed document costs by itself: the run, its stages, the commit."""
LINKRAG = "linkrag"
DIMENSIONS = {"llama_index": 8}
"""Numbers of a peer's vectors where they are not as many as the model's 384: 200,000 of those are 3 GB of JSON."""
FULL, IDLE, CHANGED = "full (or what is left to do)", "nothing to do", "one changed document"
GOODS = ("herring", "timber", "salt", "rope", "barley", "coal", "glass", "tar")


class HashEncoder:
    """Unit vectors that depend on the text alone, and cost nothing."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def embed(
        self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """Vectors `[texts, dimensions]`."""
        del on_progress
        seeds = b"".join(hashlib.shake_128(text.encode()).digest(self.dimensions) for text in texts)
        rows = np.frombuffer(seeds, dtype=np.uint8).reshape(-1, self.dimensions).astype(np.float32) - 127.5
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def document(number: int, sections: int, word: str = "Ship") -> str:
    """One document: a heading and a sentence a section."""
    parts = [f"# Log {number}\n"]
    for section in range(sections):
        goods = GOODS[(number + section) % len(GOODS)]
        parts.append(
            f"\n## {word} {number}-{section}\n\nIt came in with {number * 7 + section} barrels of {goods}.\n"
        )
    return "".join(parts)


def prepare(root: Path, documents: int, sections: int) -> None:
    """Write the source and its declaration."""
    from linkrag_dagster.declaration import starter

    source = root / "docs"
    for number in range(documents):
        path = source / f"{number % 100:02d}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document(number, sections), encoding="utf-8")
    declaration = root / "assets" / CORPUS / "defs.yaml"
    declaration.parent.mkdir(parents=True)
    # Every section a chunk of its own.
    declared = starter(CORPUS, source, root).replace("min_candidate_tokens: null", "min_candidate_tokens: 1")
    declaration.write_text(declared, encoding="utf-8")


def build_once(root: Path) -> dict[str, float]:
    """One build in this process: seconds after the imports, peak memory in GiB, what it did."""
    from linkrag_dagster.dag.run import run
    from linkrag_dagster.declaration import load_declaration
    from linkrag_dagster.stages.build import build
    from linkrag_dagster.stages.road import Road

    gc.set_threshold(200_000, 30, 30)  # as `linkrag build` does
    started, processor = time.perf_counter(), time.process_time()
    road = Road(load_declaration(root / "assets" / CORPUS / "defs.yaml"), lake=root / "lake")
    road.__dict__["encoder"] = HashEncoder(road.dimensions)
    result = build(road, run)
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "processor": time.process_time() - processor,
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "texts": result.embedded_texts,
        "chunks": result.stages["chunks"].rows,
        "generation": result.generation,
    }


def build_with_peer(name: str, root: Path) -> dict[str, float]:
    """As `build_once`, by another framework."""
    from planner_peers import PEERS

    build = PEERS[name](root, DIMENSIONS.get(name, 384))
    started, processor = time.perf_counter(), time.process_time()
    done = build()
    return {
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - processor,
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "texts": done.texts,
        "chunks": done.chunks,
    }


def measured(root: Path, who: str) -> dict[str, float]:
    """One build in a process of its own, with the files and bytes that it left where its results lie."""
    folder = root / ("lake" if who == LINKRAG else who)
    before = files(folder)
    command = [sys.executable, __file__, "--build", str(root), "--with", who]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    row = json.loads(done.stdout.splitlines()[-1])
    new = {path: mark for path, mark in files(folder).items() if before.get(path) != mark}
    return row | {"files": len(new), "megabytes": sum(size for size, _ in new.values()) / 1e6}


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of every file but locks, which are no files of a lake."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path): ((status := path.stat()).st_size, status.st_mtime_ns) for path in found}


def three_builds(
    root: Path, documents: int, sections: int, who: str = LINKRAG
) -> dict[str, dict[str, float]]:
    """A full build, one with nothing to do, one with a changed document."""
    if not (root / "assets").exists():
        prepare(root, documents, sections)
    rows = {FULL: measured(root, who), IDLE: measured(root, who)}
    path = root / "docs" / "00" / "0.md"
    path.write_text(document(0, sections, f"Boat {time.time_ns()}"), encoding="utf-8")
    return rows | {CHANGED: measured(root, who)}


def print_table(rows: dict[str, dict[str, float]], ratios_to: dict[str, dict[str, float]] | None) -> None:
    """One line a build; with `ratios_to`, the seconds as a multiple of linkrag's for the same build."""
    print(
        "| build | seconds | processor seconds | GiB | texts embedded | files written | MB written | times linkrag |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, row in rows.items():
        base = (ratios_to or {}).get(name)
        ratio = f"{row['processor'] / base['processor']:.2f}" if base else ""
        print(
            f"| {name} | {row['seconds']:.2f} | {row['processor']:.2f} | {row['gib']:.2f} | {int(row['texts'])} "
            f"| {int(row['files'])} | {row['megabytes']:.1f} | {ratio} |"
        )


def main() -> int:
    """Print the tables; 1 where a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--sections", type=int, default=20, help="chunks a document")
    parser.add_argument("--folder", type=Path, help="keep the corpus here, and use it again")
    parser.add_argument("--peers", action="store_true", help="time the frameworks that are installed, too")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--with", dest="who", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.build:
        row = build_once(asked.build) if asked.who == LINKRAG else build_with_peer(asked.who, asked.build)
        print(json.dumps(row))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        own = three_builds(Path(temporary) / "few", FEW, asked.sections)[CHANGED]
        root = asked.folder or Path(temporary) / "many"
        rows = three_builds(root, asked.documents, asked.sections)
        print(f"\n{asked.documents} documents, {int(rows[IDLE]['chunks'])} chunks\n")
        print_table(rows | {f"{CHANGED}, of {FEW}": own}, None)
        if asked.peers:
            from planner_peers import PEERS

            for name in PEERS:
                if importlib.util.find_spec(name) is None:
                    print(f"\n{name}: not installed")
                    continue
                found = three_builds(root, asked.documents, asked.sections, name)
                print(f"\n{name}: {int(found[IDLE]['chunks'])} chunks\n")
                print_table(found, rows)
    idle, changed = rows[IDLE], rows[CHANGED]
    beyond = changed["seconds"] - own["seconds"]
    print(
        f"\nOne changed document beyond its own work: {beyond:.2f} s, "
        f"{changed['processor'] - own['processor']:.2f} processor seconds."
    )
    within = idle["seconds"] <= IDLE_SECONDS and beyond <= CHANGED_SECONDS
    return 0 if within and max(row["gib"] for row in rows.values()) <= MEMORY_GIB else 1


if __name__ == "__main__":
    sys.exit(main())
