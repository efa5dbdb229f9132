"""The memo keeps what it was given, whatever happens to its files: EM-02, EM-06, DE-01, VE-06."""
# PyArrow has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from linkrag_dagster.embedding.memo import Memo, text_hash


def unit(count: int, dimensions: int = 8, seed: int = 0) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@given(st.lists(st.text(st.characters()), unique=True, max_size=8))
def test_different_texts_have_different_hashes(texts: list[str]) -> None:
    """EM-02: lone surrogates and trailing blanks included."""
    assert len({text_hash(text) for text in texts}) == len(texts)


def test_the_hash_is_sha256_of_the_text() -> None:
    """EM-02: anyone can compute it."""
    assert text_hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert text_hash("é") != text_hash("e\u0301")


def test_vectors_come_back_exactly_in_the_order_asked_for(tmp_path: Path) -> None:
    """EM-02: over several blocks, by another instance; what is absent is marked."""
    vectors = unit(5)
    writer = Memo(tmp_path / "memo")
    writer.append(["a", "b", "c"], vectors[:3])
    writer.append(["d", "e"], vectors[3:])
    memo = Memo(tmp_path / "memo")
    found, got = memo.lookup(["e", "absent", "a", "c"], dimensions=8)
    assert found.tolist() == [True, False, True, True]
    np.testing.assert_array_equal(got[found], vectors[[4, 0, 2]])
    assert not got[1].any()
    assert memo.known(["e", "absent", "a"]) == {"a", "e"}
    assert memo.problems == []


def test_an_empty_memo_knows_nothing_and_makes_no_folder(tmp_path: Path) -> None:
    """VE-06: looking writes no file."""
    memo = Memo(tmp_path / "memo")
    assert memo.known(["a"]) == set()
    assert not memo.lookup(["a"], dimensions=8)[0].any()
    memo.append([], unit(0))
    assert not memo.folder.exists()


def test_blocks_are_parquet_with_vectors_of_fixed_size(tmp_path: Path) -> None:
    """LA-04: FixedSizeList<float32>, and nothing beside the block."""
    Memo(tmp_path).append(["a"], unit(1))
    (block,) = tmp_path.iterdir()
    assert pq.read_schema(block).field("vector").type == pa.list_(pa.float32(), 8)


@pytest.mark.parametrize("damage", ["torn", "empty", "foreign", "flipped", "columns", "dimensions", "nulls"])
def test_a_file_that_can_not_be_used_is_reported_and_the_others_serve(tmp_path: Path, damage: str) -> None:
    """EM-06: what it held counts as absent."""
    memo = Memo(tmp_path)
    memo.append(["bad"], unit(1, 400))
    (block,) = tmp_path.iterdir()
    data = bytearray(block.read_bytes())
    if damage == "torn":
        block.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        block.write_bytes(b"")
    elif damage == "foreign":
        block.write_bytes(b"PAR1 is how this text begins, and it is no block at all: PAR1")
    elif damage == "flipped":
        column = pq.read_metadata(block).row_group(0).column(1)
        data[column.data_page_offset + column.total_compressed_size - 100] ^= 1
        block.write_bytes(data)
    elif damage == "columns":
        pq.write_table(pa.table({"text_hash": ["bad"], "vector": ["no vector"]}), block)
    elif damage == "nulls":
        vectors = pa.array([None], pa.list_(pa.float32(), 400))
        pq.write_table(pa.table({"text_hash": ["bad"], "vector": vectors}), block)
    dimensions = 8 if damage == "dimensions" else 400
    good = unit(1, dimensions, seed=1)
    memo.append(["good"], good)
    found, got = memo.lookup(["bad", "good"], dimensions=dimensions)
    assert found.tolist() == [False, True]
    np.testing.assert_array_equal(got[1], good[0])
    (problem,) = memo.problems
    assert problem.startswith(f"{block} is passed over: ")


def test_what_a_killed_writer_leaves_is_no_block(tmp_path: Path) -> None:
    """EM-06, FA-04."""
    Memo(tmp_path).append(["a"], unit(1))
    (tmp_path / ".half.parquet.tmp").write_bytes(b"PAR1")
    (tmp_path / "notes.txt").write_text("mine")
    memo = Memo(tmp_path)
    assert memo.known(["a", "b"]) == {"a"}
    assert memo.problems == []


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, 0.5, 1e30])
def test_a_vector_that_is_not_finite_and_of_unit_length_is_refused(tmp_path: Path, value: float) -> None:
    """DE-01: checked on write; nothing of the block is written."""
    vectors = unit(3)
    vectors[1] = value if not 0 < value < 1 else vectors[1] * value
    with pytest.raises(ValueError, match="text b: its vector"):
        Memo(tmp_path / "memo").append(["a", "b", "c"], vectors)
    assert not (tmp_path / "memo").exists()


def test_vectors_are_checked_when_they_are_read(tmp_path: Path) -> None:
    """DE-01: only the bad one is absent."""
    vectors = unit(2)
    vectors[0] *= 2
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 8)
    pq.write_table(pa.table({"text_hash": ["bad", "good"], "vector": column}), tmp_path / "x.parquet")
    memo = Memo(tmp_path)
    assert memo.lookup(["bad", "good"], dimensions=8)[0].tolist() == [False, True]
    assert "1 of its vectors" in memo.problems[0]


def test_hashes_and_vectors_must_fit(tmp_path: Path) -> None:
    """EM-01: wrong counts are refused."""
    for hashes in (["a"], ["a", "a"]):
        with pytest.raises(ValueError, match="do not fit"):
            Memo(tmp_path).append(hashes, unit(2))


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """EM-06: they share no file; a text of two of them is found once."""

    def write(number: int) -> None:
        memo = Memo(tmp_path / "memo")
        for block in range(5):
            memo.append([f"{number}.{block}", f"shared.{block}"], unit(2, seed=block))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    wanted = [f"{number}.{block}" for number in [*range(4), "shared"] for block in range(5)]
    found, _ = Memo(tmp_path / "memo").lookup(wanted, dimensions=8)
    assert found.all()
