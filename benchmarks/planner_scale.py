"""The planner at scale: a build that finds nothing to do, and one with one changed document, among 10,000.

    python benchmarks/planner_scale.py [--documents 10000] [--sections 20] [--folder DIR]

The documents are variations of each other; vectors come from hashes of the texts, since no model is measured here. The
builds run in processes of their own, through Dagster as `linkrag build` runs them; what is timed begins after the
imports; processor seconds stand beside, for a machine that has other work. Budgets: nothing to do ≤ 3 s; one changed
document ≤ 5 s more than in a corpus of ten; at most 2 GiB of memory. Exit code 1 beyond them.
"""

from __future__ import annotations

import argparse
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
PEERS = ("llama_index", "haystack", "langchain")
"""Frameworks whose ingestion caches do a like job; timed beside only by who has them installed."""
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


def measured(root: Path) -> dict[str, float]:
    """`build_once` in a process of its own."""
    command = [sys.executable, __file__, "--build", str(root)]
    return json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
    )


def three_builds(root: Path, documents: int, sections: int) -> dict[str, dict[str, float]]:
    """A full build, one with nothing to do, one with a changed document."""
    if not (root / "assets").exists():
        prepare(root, documents, sections)
    rows = {"full (or what is left to do)": measured(root), "nothing to do": measured(root)}
    path = root / "docs" / "00" / "0.md"
    turn = int(rows["nothing to do"]["generation"])
    path.write_text(document(0, sections, f"Boat {turn}"), encoding="utf-8")
    return rows | {"one changed document": measured(root)}


def main() -> int:
    """Print the table; 1 where a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--sections", type=int, default=20, help="chunks a document")
    parser.add_argument("--folder", type=Path, help="keep the corpus here, and use it again")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.build:
        print(json.dumps(build_once(asked.build)))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        rows = three_builds(Path(temporary) / "few", FEW, asked.sections)
        own = rows["one changed document"]
        rows = three_builds(asked.folder or Path(temporary) / "many", asked.documents, asked.sections)
        rows[f"one changed document, of {FEW}"] = own
    print(f"\n{asked.documents} documents, {int(rows['nothing to do']['chunks'])} chunks\n")
    print(
        "| build | seconds | processor seconds | GiB | texts embedded |\n| --- | ---: | ---: | ---: | ---: |"
    )
    for name, row in rows.items():
        print(
            f"| {name} | {row['seconds']:.2f} | {row['processor']:.2f} | {row['gib']:.2f} | {int(row['texts'])} |"
        )
    there = [peer for peer in PEERS if importlib.util.find_spec(peer)]
    print(f"\nPeers installed here: {', '.join(there) or 'none'}; none was timed.")
    idle, changed = rows["nothing to do"], rows["one changed document"]
    beyond = changed["seconds"] - own["seconds"]
    print(f"One changed document beyond its own work: {beyond:.2f} s.")
    within = idle["seconds"] <= IDLE_SECONDS and beyond <= CHANGED_SECONDS
    return 0 if within and max(idle["gib"], changed["gib"]) <= MEMORY_GIB else 1


if __name__ == "__main__":
    sys.exit(main())
