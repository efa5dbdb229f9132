"""The one edge that reads from disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkrag_dagster.evaluation.gold import GoldError, read_gold_files


def test_all_unreadable_files_are_named(tmp_path: Path) -> None:
    """GO-04: a missing file, a folder and bytes that are no text, together."""
    (tmp_path / "latin.jsonl").write_bytes("é".encode("latin-1"))
    with pytest.raises(GoldError) as caught:
        read_gold_files([tmp_path / "none.jsonl", tmp_path, tmp_path / "latin.jsonl"])
    assert len(caught.value.faults) == 3
    assert {Path(f.file).name for f in caught.value.faults} == {"none.jsonl", tmp_path.name, "latin.jsonl"}


def test_a_file_named_twice_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its questions are no duplicates of themselves; names are short where they can be."""
    (tmp_path / "q.jsonl").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    read = read_gold_files([Path("q.jsonl"), tmp_path / "q.jsonl"])
    assert [(f.name, f.text) for f in read] == [("q.jsonl", "{}")]
