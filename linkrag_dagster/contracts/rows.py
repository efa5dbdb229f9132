"""Between frozen records and frames: one codec for every table, and the hash of a row's content."""

from __future__ import annotations

import hashlib
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

import polars as pl

from linkrag_dagster.contracts.columns import Contract

HASH_CHARACTERS = 32

Record = TypeVar("Record")


def row_of(record: Any) -> dict[str, Any]:
    """A frozen record as plain data: tuples become lists, nested records mappings."""
    return {f.name: _plain(getattr(record, f.name)) for f in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in typing.cast("tuple[Any, ...]", value)]
    return row_of(value) if is_dataclass(value) else value


def records_of(kind: type[Record], frame: pl.DataFrame) -> list[Record]:
    """Rows of a frame as records of `kind`; further columns are passed over."""
    makers = _makers(kind)
    names = [name for name, _ in makers]
    return [
        kind(**{name: make(value) for (name, make), value in zip(makers, row, strict=True)})
        for row in frame.select(names).iter_rows()
    ]


@cache
def _makers(kind: type[Any]) -> list[tuple[str, Callable[[Any], Any]]]:
    hints = typing.get_type_hints(kind)
    return [(f.name, _maker(hints[f.name])) for f in fields(kind)]


def _maker(hint: Any) -> Callable[[Any], Any]:
    """How a value of plain data becomes a field of that type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        inner = next(a for a in arguments if a is not type(None))
        make = _maker(inner)
        return lambda value: None if value is None else make(value)
    if origin is tuple:
        make_item = _maker(arguments[0])
        return lambda value: tuple(make_item(item) for item in value)
    if is_dataclass(hint):
        nested = _makers(typing.cast("type[Any]", hint))
        return lambda value: typing.cast("type[Any]", hint)(
            **{name: make(value[name]) for name, make in nested}
        )
    return lambda value: value


def content_hashes(contract: Contract, frame: pl.DataFrame) -> list[str]:
    """Hash of every row's content: its columns without provenance (VE-03)."""
    columns = [name for name in contract.content_columns if name in frame.columns]
    return [_hash(row) for row in frame.select(columns).iter_rows()]


def _hash(row: Sequence[Any]) -> str:
    # repr of plain data (text, numbers, booleans, None, lists, mappings in schema order) is one text for equal rows,
    # quotes what it holds, and is made in C.
    return hashlib.sha256(repr(row).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARACTERS]
