"""What contracts are made of: described, checked columns, and the contract of a table (CO-01)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandera.polars as pa
import polars as pl

MARK_CHARACTERS = 32


@dataclass(frozen=True)
class Contract:
    """A table's contract.

    Attributes:
        name: the table.
        description: what one row is.
        key: columns that identify a row.
        schema: the pandera schema.
        stage: the stage that writes it.
    """

    name: str
    description: str
    key: tuple[str, ...]
    schema: pa.DataFrameSchema
    stage: str

    @cached_property
    def polars(self) -> pl.Schema:
        """Column names and polars types, in order."""
        return pl.Schema({name: column.dtype.type for name, column in self.schema.columns.items()})

    @property
    def content_columns(self) -> list[str]:
        """Columns that `content_hash` covers."""
        return [n for n, c in self.schema.columns.items() if not (c.metadata or {}).get("provenance")]

    @cached_property
    def mark(self) -> str:
        """Hash of what it demands: key, columns in order, types, nulls, value checks; descriptions are no demands."""
        columns = [
            (
                str(name),
                str(column.dtype.type),
                column.nullable,
                bool((column.metadata or {}).get("provenance")),
                sorted((str(check.name), repr(check.statistics)) for check in column.checks),
            )
            for name, column in self.schema.columns.items()
        ]
        demands = repr((self.name, self.key, columns))
        return hashlib.sha256(demands.encode()).hexdigest()[:MARK_CHARACTERS]

    def empty(self) -> pl.DataFrame:
        """A frame of no rows with the table's columns."""
        return pl.DataFrame(schema=self.polars)


def column(
    dtype: Any,
    description: str,
    *,
    null: bool = False,
    provenance: bool = False,
    checks: list[pa.Check] | None = None,
) -> pa.Column:
    """A column of any type; `provenance` says where a row came from, not what it holds (VE-03)."""
    return pa.Column(
        dtype, checks=checks, nullable=null, description=description, metadata={"provenance": provenance}
    )


def text(
    description: str, *, null: bool = False, provenance: bool = False, among: tuple[str, ...] = ()
) -> pa.Column:
    """A column of texts, of the given ones alone where `among` names some."""
    checks = [pa.Check.isin(among)] if among else None
    return column(pl.String, description, null=null, provenance=provenance, checks=checks)


def count(description: str, *, null: bool = False, provenance: bool = False, least: int = 0) -> pa.Column:
    """A column of whole numbers, none below `least`."""
    return column(pl.Int64, description, null=null, provenance=provenance, checks=[pa.Check.ge(least)])


def flag(description: str, *, null: bool = False, provenance: bool = False) -> pa.Column:
    """A column of yes and no."""
    return column(pl.Boolean, description, null=null, provenance=provenance)


def number(description: str, *, null: bool = False) -> pa.Column:
    """A column of floating-point numbers."""
    return column(pl.Float64, description, null=null)


def table(
    name: str, stage: str, key: tuple[str, ...], description: str, columns: dict[str, pa.Column]
) -> Contract:
    """The contract of a table: these columns in this order, no others, `key` unique."""
    schema = pa.DataFrameSchema(
        columns, strict=True, ordered=True, unique=list(key) or None, name=name, description=description
    )
    return Contract(name, description, key, schema, stage)
