"""Bounds the memo: vectors of texts that nobody has any more go, block by block (VE-06).

A block of which some vectors stay is written anew before the old one is removed: killed at any instant, every kept
vector lies in one of the two. Readers take a block that is gone for one that never was.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from linkrag_dagster.disk.whole import naming, remove
from linkrag_dagster.embedding.blocks import BadBlock, read_hashes, read_vectors, write_block


@dataclass(frozen=True, slots=True)
class Swept:
    """What went of one model's vectors.

    Attributes:
        vectors: vectors that went.
        kept: vectors that stay.
        removed: blocks that went whole.
        rewritten: blocks of which a part went.
        damaged: blocks that could not be read, and went: their texts counted as not embedded before.
        temporary: files that killed writers had left.
        size: bytes that became free; for a rewritten block, in proportion to its vectors.
    """

    vectors: int = 0
    kept: int = 0
    removed: int = 0
    rewritten: int = 0
    damaged: int = 0
    temporary: int = 0
    size: int = 0

    @property
    def idle(self) -> bool:
        """Whether nothing went."""
        return not (self.removed or self.rewritten or self.damaged or self.temporary)


def sweep(folder: Path, used: Set[str], *, dry_run: bool = False) -> Swept:
    """Drop the vectors of one model's folder whose text hash is not in `used`; an empty folder goes too.

    No writer may be at work in the folder: what it left half-written would be taken from it.

    Args:
        folder: blocks of one model's fingerprint.
        used: hashes of the texts that stay.
        dry_run: tell what would go, and leave it.

    Raises:
        OSError: disk full or read-only; what stays is whole all the same.
    """
    vectors = kept = removed = rewritten = damaged = size = 0
    for path in sorted(folder.glob("[!.]*.parquet")):
        whole = path.stat().st_size
        try:
            hashes = read_hashes(path)
            rows = [row for row, mark in enumerate(hashes) if mark in used]
            if len(rows) == len(hashes) and rows:
                kept += len(rows)
                continue
            if rows and not dry_run:
                write_block(folder, [hashes[row] for row in rows], read_vectors(path, rows))
        except BadBlock:
            damaged += 1
            size += whole
        else:
            removed += not rows
            rewritten += bool(rows)
            vectors += len(hashes) - len(rows)
            kept += len(rows)
            size += whole * (len(hashes) - len(rows)) // len(hashes) if rows else whole
        if not dry_run:
            _unlink(path)
    left = sorted(folder.glob(".*.tmp"))
    for path in left:
        size += path.stat().st_size
        if not dry_run:
            _unlink(path)
    if not dry_run and folder.is_dir() and not any(folder.iterdir()):
        with naming(folder):
            folder.rmdir()
    return Swept(vectors, kept, removed, rewritten, damaged, len(left), size)


def _unlink(path: Path) -> None:
    remove(path, "swept")
