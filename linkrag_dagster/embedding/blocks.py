"""Immutable Parquet files of vectors by text hash: whole or absent, checked when they are read."""
# PyArrow has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from linkrag_dagster.disk.whole import write_whole

HASH, VECTOR = "text_hash", "vector"


class BadBlock(Exception):
    """A file that is torn, damaged, unreadable, or no block of vectors."""


def write_block(folder: Path, hashes: Sequence[str], vectors: NDArray[np.float32]) -> Path:
    """Write one new block: a temporary file, synced, then renamed to a name that no other writer uses.

    Args:
        folder: made where it does not exist.
        hashes: the texts' hashes.
        vectors: shape (texts, dimensions).

    Raises:
        OSError: disk full or read-only; no block appears.
    """
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    column = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    table = pa.table({HASH: pa.array(hashes, pa.string()), VECTOR: column})
    path = folder / f"{uuid.uuid4().hex}.parquet"

    def write(beside: Path) -> None:
        pq.write_table(
            table,
            beside,
            compression="zstd",
            use_dictionary=False,
            write_page_checksum=True,
            write_statistics=False,
        )

    write_whole(path, "block", write)
    return path


def read_hashes(path: Path) -> list[str]:
    """The hash column of a block alone.

    Raises:
        FileNotFoundError: it is gone.
        BadBlock: it can't be used.
    """
    return _read(path, HASH).to_pylist()


def read_vectors(path: Path, rows: Sequence[int]) -> NDArray[np.float32]:
    """Vectors of some rows of a block, shape (rows, dimensions); raises as `read_hashes` does."""
    column = _read(path, VECTOR).combine_chunks()
    matrix = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, column.type.list_size)
    return matrix[np.asarray(rows, dtype=np.int64)]


def _read(path: Path, name: str) -> Any:
    """One column of a block, without nulls."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            schema = file.schema_arrow
            kinds = {field.name: field.type for field in schema}
            vector = kinds.get(VECTOR, pa.null())
            if kinds.get(HASH) != pa.string() or not (
                pa.types.is_fixed_size_list(vector) and vector.value_type == pa.float32()
            ):
                raise BadBlock(f"it is no block of vectors, its columns are {kinds}")
            column = file.read(columns=[name]).column(name)
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise BadBlock(str(error)) from error
    if column.null_count or (name == VECTOR and any(chunk.flatten().null_count for chunk in column.chunks)):
        raise BadBlock("it holds nulls")
    return column
