"""`linkrag gc`: old generations, files that nobody names, and vectors of texts that are gone (LA-01, VE-06, VE-07)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from linkrag_dagster.declaration import DeclarationError
from linkrag_dagster.embedding.queries import query_hashes
from linkrag_dagster.embedding.sweep import Swept, sweep
from linkrag_dagster.lake import catalogue
from linkrag_dagster.lake.garbage import CorpusGarbage, corpus_garbage, remove_garbage
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.lock import LockHeld
from linkrag_dagster.lake.manifest import Generation

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

MEMO = "memo"


@dataclass(frozen=True, slots=True)
class Collected:
    """What `linkrag gc` removed, or would remove.

    Attributes:
        corpora: by name; only those that are in the lake.
        memo: by model fingerprint, in all lakes concerned.
        memo_left: why the vectors of a lake were left as they are, by the lake's folder.
    """

    corpora: Mapping[str, CorpusGarbage] = field(default_factory=dict[str, CorpusGarbage])
    memo: Mapping[str, Swept] = field(default_factory=dict[str, Swept])
    memo_left: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def size(self) -> int:
        """Bytes in all."""
        files = sum(file.size for found in self.corpora.values() for file in found.files)
        return files + sum(swept.size for swept in self.memo.values())


def collect(
    roads: Sequence[Road], declared: Sequence[Road], *, keep: int | None = None, dry_run: bool = False
) -> Collected:
    """Remove what no kept generation needs of some corpora, and of the memo of their lakes.

    The memo belongs to all corpora of a lake, so all of them are locked for it; where one is being built, or the
    model of a declaration can't be found, the memo stays as it is.

    Args:
        roads: the corpora whose old generations go.
        declared: all declared corpora: the vectors of their models stay, though no generation names them yet.
        keep: generations beside the current one; None: as declared (`limits.generations`).
        dry_run: tell what would go, and leave it.

    Raises:
        LockHeld: one of `roads` is being built; nothing was removed.
        LakeError: a manifest or a table can't be read.
        OSError: the lake can't be written.
    """
    corpora: dict[str, CorpusGarbage] = {}
    memo: dict[str, Swept] = {}
    left: dict[str, str] = {}
    by_lake: dict[Path, list[Road]] = {}
    for road in roads:
        if road.lake.folder.is_dir():
            by_lake.setdefault(road.lake_root, []).append(road)
    with ExitStack() as locks:
        for road in (road for mine in by_lake.values() for road in mine):
            locks.enter_context(road.lake.writer(wait=road.wait))
        for root, mine in by_lake.items():
            found = {
                road.corpus: corpus_garbage(
                    road.lake, road.declaration.limits.generations if keep is None else keep
                )
                for road in mine
            }
            if not dry_run:
                _remove(root, mine, found)
            corpora |= found
            mates = [road for road in declared if road.lake_root == root]
            try:
                memo |= _collect_memo(root, mine, mates, found, dry_run=dry_run)
            except (LockHeld, DeclarationError) as error:
                left[str(root)] = str(error)
    return Collected(corpora, memo, left)


def _remove(root: Path, roads: Iterable[Road], found: Mapping[str, CorpusGarbage]) -> None:
    # A catalogue that a killed build left behind names files of the generation before.
    if any(road.lake.shown().tables and not catalogue.is_current(road.lake) for road in roads):
        catalogue.rebuild(root)
    for garbage in found.values():
        remove_garbage(garbage.files)


def _collect_memo(
    root: Path,
    locked: Sequence[Road],
    declared: Sequence[Road],
    found: Mapping[str, CorpusGarbage],
    *,
    dry_run: bool,
) -> dict[str, Swept]:
    folders = sorted(path for path in (root / MEMO).glob("[!.]*") if path.is_dir())
    if not folders:
        return {}
    models = {fingerprint for road in declared for fingerprint in _declared_models(road)}
    lakes = catalogue.corpora(root)
    names = {road.corpus for road in locked}
    with ExitStack() as locks:
        for lake in lakes:
            if lake.corpus not in names:
                locks.enter_context(lake.writer(wait=locked[0].wait))
        kept = [(lake, _kept(lake, found)) for lake in lakes]
        models |= {
            str(generation.facts["model_fingerprint"])
            for _, generations in kept
            for generation in generations
            if "model_fingerprint" in generation.facts
        }
        used = {mark for lake, generations in kept for mark in texts_in_use(lake, generations)}
        swept = {
            folder.name: sweep(folder, used if folder.name in models else frozenset(), dry_run=dry_run)
            for folder in folders
        }
    return {name: what for name, what in swept.items() if not what.idle}


def _kept(lake: CorpusLake, found: Mapping[str, CorpusGarbage]) -> Sequence[Generation]:
    if lake.corpus in found:
        return found[lake.corpus].kept
    staged = lake.staged()
    return [*lake.committed(), *([staged] if staged is not None else [])]


def _declared_models(road: Road) -> Iterator[str]:
    yield road.model.fingerprint
    if road.settings.uses_scorer:
        yield road.scorer_model.fingerprint


def texts_in_use(lake: CorpusLake, generations: Iterable[Generation]) -> set[str]:
    """Keys in the memo of all texts that generations embed: their chunks, and the questions they were measured by."""
    used: set[str] = set()
    seen: set[str] = set()
    for generation in generations:
        for table in ("chunks", "chunk_windows", "evaluation_questions"):
            files = {
                shard: file
                for shard, file in generation.tables.get(table, {}).items()
                if file.path not in seen
            }
            seen.update(file.path for file in files.values())
            part = Generation(shards=generation.shards, tables={table: files})
            if table == "chunks":
                rows = lake.read(part, table, columns=["text_hash"], where=pl.col("searchable"))
                used.update(rows["text_hash"].to_list())
            elif table == "chunk_windows":
                used.update(lake.read(part, table, columns=["text_hash"])["text_hash"].to_list())
            else:
                for question in lake.read(part, table, columns=["question"])["question"].to_list():
                    used.update(query_hashes(question))
    return used
