"""What no kept generation names: which files of a corpus may go, and their removal (LA-01).

| in a corpus's folder | stays where |
| --- | --- |
| `generations/N.json` | N is the current one, or among the last that are kept |
| `tables/*/*.parquet` | a kept or the staged generation names it |
| `staging.json` | it goes on from the current generation |
| `.*.tmp` | nowhere: it is what a killed writer left |

Everything here holds under the writer's lock alone: files of a build in progress are named only when they are written.
Manifests go before the files that they name, so that a kill in between leaves files without a manifest, never a
manifest without its files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from linkrag_dagster.disk.whole import remove
from linkrag_dagster.lake.lake import GENERATIONS, CorpusLake
from linkrag_dagster.lake.manifest import Generation

KINDS = ("generation", "staging", "table", "temporary")
"""Kinds of files that go, in the order in which they go."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """A file that may go.

    Attributes:
        kind: one of `KINDS`.
        path: the file.
        size: bytes.
    """

    kind: str
    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class CorpusGarbage:
    """What may go of a corpus, and what stays.

    Attributes:
        kept: the current generation, the last ones before it, and the staged one; oldest first.
        files: what may go, in the order in which it must.
    """

    kept: tuple[Generation, ...]
    files: tuple[Garbage, ...]


def kept_generations(
    committed: Sequence[Generation], staged: Generation | None, keep: int
) -> tuple[Generation, ...]:
    """The current generation, the last `keep` before it, and the staged one.

    Args:
        committed: oldest first; the last is current.
        staged: what an unfinished build goes on from.
        keep: generations beside the current one.
    """
    last = committed[max(0, len(committed) - keep - 1) :]
    return (*last, staged) if staged is not None else tuple(last)


def named_files(generations: Iterable[Generation]) -> frozenset[str]:
    """The table files that generations name, relative to the corpus's folder."""
    return frozenset(
        file.path
        for generation in generations
        for shards in generation.tables.values()
        for file in shards.values()
    )


def corpus_garbage(lake: CorpusLake, keep: int) -> CorpusGarbage:
    """What may go of a corpus; nothing is removed. Call it under the writer's lock.

    Raises:
        LakeError: a manifest can't be read: nothing may be concluded from the others.
    """
    staged = lake.staged()
    kept = kept_generations(lake.committed(), staged, keep)
    numbers = {generation.number for generation in kept if generation is not staged}
    named = named_files(kept)
    found: list[Garbage] = []
    for path in sorted((lake.folder / GENERATIONS).glob("[0-9]*.json")):
        if not path.stem.isdigit() or int(path.stem) not in numbers:
            found.append(_garbage("generation", path))
    staging = lake.folder / "staging.json"
    if staged is None and staging.exists():
        found.append(_garbage("staging", staging))
    for path in sorted((lake.folder / "tables").glob("*/[!.]*.parquet")):
        if path.relative_to(lake.folder).as_posix() not in named:
            found.append(_garbage("table", path))
    found += [_garbage("temporary", path) for path in sorted(lake.folder.rglob(".*.tmp")) if path.is_file()]
    return CorpusGarbage(kept, tuple(found))


def remove_garbage(files: Iterable[Garbage]) -> None:
    """Remove files in the given order.

    Raises:
        OSError: the disk is read-only, or not ours; it names the file. What is left goes next time.
    """
    for garbage in files:
        remove(garbage.path, "garbage")


def _garbage(kind: str, path: Path) -> Garbage:
    return Garbage(kind, path, path.stat().st_size)
