"""The lake's files: small texts and Parquet, whole or absent."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from linkrag_dagster.disk.whole import write_whole

ROW_GROUP_ROWS = 20_000
"""Small enough that a filter on a sorted column reads few rows (postings by term)."""


def write_text(path: Path, kind: str, text: str) -> None:
    """Write a small text file of some kind (`points.FILES`) whole."""

    def write(beside: Path) -> None:
        beside.write_text(text, encoding="utf-8")

    write_whole(path, kind, write)


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as one Parquet file, whole. Fixed-size vectors stay `FixedSizeList` (LA-04)."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())

    def write(beside: Path) -> None:
        pq.write_table(_plain_strings(table), beside, compression="zstd", row_group_size=ROW_GROUP_ROWS)  # pyright: ignore[reportUnknownMemberType]

    write_whole(path, "table", write)


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
