"""A corpus in the lake: immutable files, a staged generation, and the swap that makes it current (LA-01, FA-04).

    <lake>/<corpus>/manifest.json        the current generation: swapping this file is the commit
    <lake>/<corpus>/staging.json         the next one while its road is not whole; readers never look at it
    <lake>/<corpus>/generations/N.json   earlier generations, for roll-back and comparison
    <lake>/<corpus>/tables/<table>/      immutable Parquet files
    <lake>/memo/<model>/                 vectors by text, shared by all corpora

A killed build leaves files that no manifest names, and at most a staged generation from which the next build goes on.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.disk.whole import remove
from linkrag_dagster.lake.files import write_frame, write_text
from linkrag_dagster.lake.lock import exclusive, held_here
from linkrag_dagster.lake.manifest import Generation, LakeError, ShardFile, generation_from_json

LOG = logging.getLogger(__name__)
LOCK = "writer.lock"
GENERATIONS = "generations"
UNITS = "units"
UNITS_SCHEMA = pl.Schema(
    {
        "stage": pl.String,
        "doc_key": pl.String,
        "spec": pl.String,
        "inputs": pl.String,
        "content_hash": pl.String,
        "rows": pl.Int64,
    }
)
"""The planner's ledger: written after the rows it speaks of, in the same staged generation."""


def shard_of(doc_key: str, shards: int) -> int:
    """The shard of a document: leading bits of its key's SHA-256 (PI-03)."""
    return int.from_bytes(hashlib.sha256(doc_key.encode()).digest()[:4], "big") * shards >> 32


class CorpusLake:
    """One corpus's folder in a lake. Reading needs no lock; staging and publishing need `writer()`."""

    def __init__(self, root: Path, corpus: str) -> None:
        self.root = root
        self.corpus = corpus
        self.folder = root / corpus

    # -- generations -------------------------------------------------------------------------------------------

    def current(self) -> Generation:
        """The committed generation; number 0 with no tables before the first commit."""
        return self._read_manifest(self.folder / "manifest.json") or Generation()

    def staged(self) -> Generation | None:
        """What an unfinished road has staged on top of the current generation; None where nothing is.

        A staged generation that started from an older commit is no more of use: its base has been replaced.
        """
        try:
            staged = self._read_manifest(self.folder / "staging.json")
        except LakeError as error:
            # Nothing is lost but work: the current generation is whole, and the next build begins from it.
            LOG.warning("%s; it is passed over, the next build begins from the current generation", error)
            return None
        return staged if staged is not None and staged.number == self.current().number + 1 else None

    def working(self) -> Generation:
        """What the next stage builds on: the staged generation, else the current one."""
        return self.staged() or self.current()

    def shown(self) -> Generation:
        """What people see: the current generation, or before the first commit what has been staged so far."""
        current = self.current()
        return current if current.number else self.staged() or current

    def committed(self) -> list[Generation]:
        """The generations that are kept, oldest first; the current one is the last.

        A manifest above the current number belongs to a commit that was killed before its swap: it was none.
        """
        current = self.current()
        found = [
            generation
            for path in sorted((self.folder / GENERATIONS).glob("[0-9]*.json"))
            if (generation := self._read_manifest(path)) is not None and generation.number < current.number
        ]
        return [*found, current] if current.number else []

    def _read_manifest(self, path: Path) -> Generation | None:
        try:
            return generation_from_json(path.read_text(encoding="utf-8"), str(path))
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise LakeError(
                f"{path}: not a manifest of a lake ({error}); restore it, or build into a new lake"
            ) from error
        except OSError as error:
            raise LakeError(
                f"{path}: can't be read ({error.strerror}); check the lake's permissions"
            ) from error

    # -- reading -----------------------------------------------------------------------------------------------

    def read(
        self,
        generation: Generation,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        where: pl.Expr | None = None,
        doc_keys: Iterable[str] | None = None,
        dimensions: int = 1,
    ) -> pl.DataFrame:
        """Rows of a table in one generation.

        Args:
            generation: which one.
            table: which table.
            columns: only these.
            where: only rows for which this holds.
            doc_keys: only rows of these documents, from their shards alone.
            dimensions: length of the vectors, for `embeddings`.
        """
        schema = UNITS_SCHEMA if table == UNITS else contract(table, dimensions=dimensions).polars
        files = generation.tables.get(table, {})
        if doc_keys is not None:
            keys = list(doc_keys)
            shards = {shard_of(key, generation.shards) for key in keys}
            files = {shard: file for shard, file in files.items() if shard in shards}
            within = pl.col("doc_key").is_in(keys)
            where = within if where is None else where & within
        if not files:
            return pl.DataFrame(schema=schema).select(columns or schema.names())
        paths = [self.folder / file.path for file in files.values()]
        try:
            frame = pl.scan_parquet(paths)
            if where is not None:
                frame = frame.filter(where)
            names = columns or schema.names()
            return frame.select(pl.col(name).cast(schema[name]) for name in names).collect()
        except pl.exceptions.ColumnNotFoundError as error:
            raise self._of_another_form(table, error) from error
        except (FileNotFoundError, pl.exceptions.ComputeError) as error:
            raise self._damaged(table, error) from error

    def _of_another_form(self, table: str, error: Exception) -> LakeError:
        column = str(error).split('"')[1] if '"' in str(error) else str(error)
        return LakeError(
            f"{self.folder}: table {table} has no column {column}: the lake was written by another version; "
            "delete the corpus's folder and build again (vectors are remembered beside it), or use that version"
        )

    def _damaged(self, table: str, error: Exception) -> LakeError:
        return LakeError(
            f"{self.folder}: a file of table {table} is missing or damaged ({error}); "
            "restore the folder, or delete it and build again"
        )

    def read_as_stored(self, generation: Generation, table: str, doc_keys: Iterable[str]) -> pl.DataFrame:
        """Rows of some documents with the columns and types that the files have."""
        keys = list(doc_keys)
        shards = {shard_of(key, generation.shards) for key in keys}
        files = [f for shard, f in generation.tables.get(table, {}).items() if shard in shards]
        if not files:
            return pl.DataFrame(schema={"doc_key": pl.String})
        try:
            paths = [self.folder / file.path for file in files]
            return pl.scan_parquet(paths).filter(pl.col("doc_key").is_in(keys)).collect()
        except (FileNotFoundError, pl.exceptions.PolarsError) as error:
            raise self._damaged(table, error) from error

    def read_shard(
        self,
        generation: Generation,
        table: str,
        shard: int,
        schema: pl.Schema,
        *,
        without: Iterable[str] = (),
    ) -> pl.DataFrame:
        """Rows of one shard but those of the documents `without`, with the given columns and types."""
        file = generation.tables.get(table, {}).get(shard)
        if file is None:
            return pl.DataFrame(schema=schema)
        try:
            kept = pl.read_parquet(self.folder / file.path).filter(~pl.col("doc_key").is_in(list(without)))
        except (FileNotFoundError, pl.exceptions.PolarsError) as error:
            raise self._damaged(table, error) from error
        # Rows that go need not have the columns of today: vectors of another model have another length.
        if kept.is_empty():
            return pl.DataFrame(schema=schema)
        try:
            return kept.select(pl.col(n).cast(t) for n, t in schema.items())
        except pl.exceptions.ColumnNotFoundError as error:
            raise self._of_another_form(table, error) from error

    # -- writing -----------------------------------------------------------------------------------------------

    @contextmanager
    def writer(self, *, wait: float = 0.0) -> Generator[None]:
        """Be the only writer of this corpus. May be entered again by the same thread.

        Raises:
            LockHeld: when another process is, after `wait` seconds.
        """
        with exclusive(self.folder / LOCK, wait=wait):
            yield

    def next_generation(self) -> Generation:
        """The staged generation, or a fresh one on top of the current."""
        staged = self.staged()
        if staged is not None:
            return staged
        current = self.current()
        return replace(current, number=current.number + 1, run_id="", committed="")

    def write_shards(
        self, generation: Generation, table: str, shards: Mapping[int, pl.DataFrame]
    ) -> Generation:
        """Write whole shards of a table as new files and name them in the generation (not yet staged)."""
        files: dict[int, ShardFile | None] = {}
        for shard, frame in shards.items():
            if frame.is_empty():
                files[shard] = None
                continue
            name = f"tables/{table}/{generation.number:06d}-{shard:02x}-{uuid.uuid4().hex[:8]}.parquet"
            write_frame(self.folder / name, frame)
            files[shard] = ShardFile(name, frame.height)
        return generation.with_files(table, files)

    def stage(self, generation: Generation) -> None:
        """Make this the staged generation: the next stage, or the next run after a crash, goes on from it."""
        self._require_lock()
        write_text(self.folder / "staging.json", "staging", generation.as_json())

    def publish(self, generation: Generation, run_id: str) -> Generation:
        """Make a whole generation current: keep it under its number, then swap the manifest."""
        self._require_lock()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        committed = replace(generation, run_id=run_id, committed=now)
        text = committed.as_json()
        write_text(self.folder / GENERATIONS / f"{committed.number:06d}.json", "generation", text)
        write_text(self.folder / "manifest.json", "manifest", text)
        remove(self.folder / "staging.json", "staging")
        return committed

    def _require_lock(self) -> None:
        if not held_here(self.folder / LOCK):
            raise LakeError(f"{self.folder}: written without the writer's lock")
