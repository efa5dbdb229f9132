"""Files that are whole or absent: written beside, synced, renamed into place."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUP_ROWS = 20_000
"""Small enough that a filter on a sorted column reads few rows (postings by term)."""


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, sync it, and rename it into place.

    Raises:
        OSError: when the disk is full or read-only; nothing stays at `path` that was not there before.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        write(beside)
        _sync(beside)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write a small text file whole."""

    def write(beside: Path) -> None:
        beside.write_text(text, encoding="utf-8")

    write_whole(path, write)


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as one Parquet file, whole. Fixed-size vectors stay `FixedSizeList` (LA-04)."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())

    def write(beside: Path) -> None:
        pq.write_table(_plain_strings(table), beside, compression="zstd", row_group_size=ROW_GROUP_ROWS)  # pyright: ignore[reportUnknownMemberType]

    write_whole(path, write)


def _plain_strings(table: pa.Table) -> pa.Table:
    """Without Arrow's large strings and lists, which some readers do not know."""
    fields = [field.with_type(_plain(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind.fields])
    return kind


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
