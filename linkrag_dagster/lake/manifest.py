"""A generation: which files hold which table. One small file says which generation is current (LA-01)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

FORMAT = 1


class LakeError(Exception):
    """The lake can't be read or written as it stands: says which file, and what to do."""


@dataclass(frozen=True, slots=True)
class ShardFile:
    """One immutable Parquet file.

    Attributes:
        path: relative to the corpus's folder in the lake.
        rows: rows in it.
    """

    path: str
    rows: int


@dataclass(frozen=True, slots=True)
class Generation:
    """All tables of a corpus at one moment.

    Attributes:
        number: grows by one with every commit; 0 before the first.
        shards: number of hash shards, a power of two (PI-03).
        tables: files by table and shard.
        specs: specs as plain data, by fingerprint: what made the rows.
        data_versions: hash over the content of each stage's rows (VE-03).
        facts: small facts that readers need: the model and its dimensions, the analyzer, k1 and b.
        run_id: the run that committed it.
        committed: UTC time, ISO 8601; "" while staged.
    """

    number: int = 0
    shards: int = 16
    tables: Mapping[str, Mapping[int, ShardFile]] = field(default_factory=dict[str, dict[int, ShardFile]])
    specs: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, dict[str, object]])
    data_versions: Mapping[str, str] = field(default_factory=dict[str, str])
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    run_id: str = ""
    committed: str = ""

    def with_files(self, table: str, files: Mapping[int, ShardFile | None]) -> Generation:
        """The generation with some of a table's shards replaced; None removes a shard that has become empty."""
        shards = {**self.tables.get(table, {})}
        for shard, file in files.items():
            if file is None:
                shards.pop(shard, None)
            else:
                shards[shard] = file
        return replace(self, tables={**self.tables, table: dict(sorted(shards.items()))})

    def rows(self, table: str) -> int:
        """Rows of a table, as its files hold them."""
        return sum(file.rows for file in self.tables.get(table, {}).values())

    def as_json(self) -> str:
        """The text of a manifest."""
        tables = {
            table: {shard: {"path": file.path, "rows": file.rows} for shard, file in files.items()}
            for table, files in self.tables.items()
        }
        plain = {
            "format": FORMAT,
            "number": self.number,
            "shards": self.shards,
            "tables": tables,
            "specs": self.specs,
            "data_versions": self.data_versions,
            "facts": self.facts,
            "run_id": self.run_id,
            "committed": self.committed,
        }
        # On one line: json indents in Python, which takes ten times as long, and every stage writes one.
        return json.dumps(plain, ensure_ascii=False, sort_keys=True)


def generation_from_json(text: str, where: str) -> Generation:
    """Read a manifest's text.

    Raises:
        LakeError: for text that is no manifest, or one of another format.
    """
    try:
        plain = json.loads(text)
        if plain.pop("format") != FORMAT:
            raise LakeError(
                f"{where}: written by another version of linkrag; use that version, or build a new lake"
            )
        tables = {
            table: {int(shard): ShardFile(**file) for shard, file in shards.items()}
            for table, shards in plain.pop("tables").items()
        }
        return Generation(tables=tables, **plain)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LakeError(
            f"{where}: not a manifest of a lake ({error}); restore it, or build into a new lake"
        ) from error
