"""The memo bounded: what is used stays bit for bit, what is not goes (VE-06, FA-04)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.embedding.memo import Memo
from linkrag_dagster.embedding.sweep import Swept, sweep

DIMENSIONS = 3


def filled(folder: Path, blocks: list[list[str]]) -> Memo:
    memo = Memo(folder)
    for block in blocks:
        # One vector a text, in whichever block it lies.
        vectors = np.array(
            [np.random.default_rng(ord(mark)).normal(size=DIMENSIONS) for mark in block], np.float32
        )
        memo.append(block, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return memo


marks = st.sampled_from("abcdefgh")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(marks, unique=True, min_size=1, max_size=4), max_size=4), st.frozensets(marks))
def test_exactly_the_used_texts_stay(blocks: list[list[str]], used: frozenset[str]) -> None:
    """Vectors that stay are the same to the bit; counts add up; a dry run changes nothing; a second sweep is idle."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        memo = filled(folder, blocks)
        every = sorted({mark for block in blocks for mark in block})
        found, before = memo.lookup(every, dimensions=DIMENSIONS)
        assert found.all()
        planned = sweep(folder, used, dry_run=True)
        assert memo.known(every) == set(every)
        done = sweep(folder, used)
        assert done == planned
        assert done.vectors + done.kept == sum(len(block) for block in blocks)
        found, after = memo.lookup(every, dimensions=DIMENSIONS)
        assert [mark for mark, has in zip(every, found, strict=True) if has] == [
            m for m in every if m in used
        ]
        assert np.array_equal(after[found], before[found])
        assert sweep(folder, used).idle
        assert folder.exists() == bool(set(every) & used)


def test_damaged_and_half_written_blocks_go(tmp_path: Path) -> None:
    """FA-04: they counted as absent before; what is usable stays."""
    filled(tmp_path, [["a", "b"]])
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 torn")
    (tmp_path / ".half.parquet.tmp").write_bytes(b"half")
    done = sweep(tmp_path, {"a", "b"})
    assert (done.damaged, done.temporary, done.kept, done.size) == (1, 1, 2, 13)
    assert Memo(tmp_path).known(["a", "b"]) == {"a", "b"} and len(list(tmp_path.iterdir())) == 1


def test_a_full_disk_keeps_the_old_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FA-04: the old block goes only when the new one is there."""
    filled(tmp_path, [["a", "b"]])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("linkrag_dagster.embedding.sweep.write_block", full)
    with pytest.raises(OSError, match="No space"):
        sweep(tmp_path, {"a"})
    assert Memo(tmp_path).known(["a", "b"]) == {"a", "b"}


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Nothing to do is no error."""
    assert sweep(tmp_path / "none", {"a"}) == Swept()
