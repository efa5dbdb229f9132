"""Which documents two generations differ in: edited, added, removed, renamed (VE-08, PI-05)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from linkrag_dagster.lake.document_changes import COLUMNS, DocumentChanges, document_changes
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation

Rows = list[tuple[str, str, str]]


def _changes(folder: Path, old: Rows, new: Rows) -> DocumentChanges:
    lake = CorpusLake(folder, "harbour")
    made: list[Generation] = []
    for number, rows in enumerate((old, new), start=1):
        frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
        made.append(lake.write_shards(Generation(number=number), "raw_documents", {0: frame}))
    return document_changes(lake, *made)


def test_each_kind_by_name(tmp_path: Path) -> None:
    """VE-08: the same bytes under another path are a renaming; a copy is an addition; what stays is not named."""
    old = [("k1", "a.md", "1"), ("k2", "b.md", "2"), ("k3", "c.md", "3"), ("k4", "d.md", "4")]
    new = [("k1", "a.md", "1"), ("k2", "b.md", "22"), ("k5", "old/c.md", "3"), ("k6", "copy.md", "1")]
    found = _changes(tmp_path, old, new)
    assert found == DocumentChanges(
        edited=("b.md",), added=("copy.md",), removed=("d.md",), renamed=(("c.md", "old/c.md"),)
    )
    assert found.any and not _changes(tmp_path, new, new).any
    assert found.words(5)[-1] == "1 renamed (c.md → old/c.md)"


def test_twins_are_paired_once(tmp_path: Path) -> None:
    """PI-05: of two documents of the same bytes that go, each is taken for one new one at most."""
    old = [("k1", "a.md", "1"), ("k2", "b.md", "1")]
    new = [("k3", "x.md", "1"), ("k4", "y.md", "1"), ("k5", "z.md", "1")]
    found = _changes(tmp_path, old, new)
    assert found.renamed == (("a.md", "x.md"), ("b.md", "y.md")) and found.added == ("z.md",)


def test_a_declared_id_is_kept_under_another_name(tmp_path: Path) -> None:
    """PI-05: moved and edited at once, for its id says that it is the same document."""
    found = _changes(tmp_path, [("guide", "a.md", "1")], [("guide", "b.md", "2")])
    assert found == DocumentChanges(edited=("b.md",), renamed=(("a.md", "b.md"),))
