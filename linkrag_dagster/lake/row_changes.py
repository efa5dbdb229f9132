"""Which rows two generations of a corpus differ in, by table and key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from linkrag_dagster.contracts.columns import Contract
from linkrag_dagster.contracts.rows import content_hashes
from linkrag_dagster.contracts.tables import CONTRACTS, VECTOR_TABLES, contract
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation

KEYS_SHOWN = 20
COMPARED = (*(name for name in CONTRACTS if name != "runs"), *VECTOR_TABLES)
"""Tables whose rows are compared: all but the record of runs."""


@dataclass(frozen=True, slots=True)
class TableChange:
    """How a table's rows differ.

    Attributes:
        added, removed, changed: rows, by primary key; changed ones hold something else, provenance left out.
        added_keys, removed_keys, changed_keys: the first of them, in order.
    """

    added: int
    removed: int
    changed: int
    added_keys: tuple[tuple[object, ...], ...] = ()
    removed_keys: tuple[tuple[object, ...], ...] = ()
    changed_keys: tuple[tuple[object, ...], ...] = ()


def row_changes(
    lake: CorpusLake, old: Generation, new: Generation, *, shown: int = KEYS_SHOWN
) -> dict[str, TableChange]:
    """Changes by table; tables without any are left out. Files that both generations name are not read.

    Args:
        lake: the corpus.
        old, new: generations whose files are kept.
        shown: keys listed of each kind.

    Raises:
        LakeError: a file is missing or damaged.
    """
    found: dict[str, TableChange] = {}
    for table in COMPARED:
        before, after = _only(lake, old, new, table), _only(lake, new, old, table)
        names = list(contract(table).key)
        both = before.join(after, on=names, how="inner", suffix="_after")
        changed = both.filter(pl.col("content") != pl.col("content_after"))
        added = after.join(before, on=names, how="anti")
        removed = before.join(after, on=names, how="anti")
        if added.height or removed.height or changed.height:
            found[table] = TableChange(
                added.height,
                removed.height,
                changed.height,
                _keys(added, names, shown),
                _keys(removed, names, shown),
                _keys(changed, names, shown),
            )
    return found


def _only(lake: CorpusLake, one: Generation, other: Generation, table: str) -> pl.DataFrame:
    """Key and content of the rows in files that the other generation does not name."""
    shared = {file.path for file in other.tables.get(table, {}).values()}
    files = {n: file for n, file in one.tables.get(table, {}).items() if file.path not in shared}
    part = replace(one, tables={table: files})
    dimensions = int(str(one.facts.get("dimensions", 1)))
    rules = contract(table, dimensions=dimensions)
    if "content_hash" in rules.polars:
        columns = [*rules.key, "content_hash"]
        return lake.read(part, table, columns=columns).rename({"content_hash": "content"})
    frame = lake.read(part, table)
    return frame.select(rules.key).with_columns(_content(rules, frame))


def _content(rules: Contract, frame: pl.DataFrame) -> pl.Series:
    return pl.Series("content", content_hashes(rules, frame), dtype=pl.String)


def _keys(frame: pl.DataFrame, names: list[str], shown: int) -> tuple[tuple[object, ...], ...]:
    return tuple(frame.select(names).sort(names).head(shown).iter_rows())


def as_dict(changes: Mapping[str, TableChange]) -> dict[str, dict[str, object]]:
    """As `linkrag diff --json` prints them."""
    return {
        table: {name: getattr(change, name) for name in TableChange.__slots__}
        for table, change in changes.items()
    }
