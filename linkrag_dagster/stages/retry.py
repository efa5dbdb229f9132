"""`linkrag retry`: recorded failures that the next build is to try again, although nothing changed (FA-01)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.stages.stage import FIRST

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

ONLY_FILE = 0
"""Failures are few: one file holds them all."""


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A failed document, as people know it.

    Attributes:
        doc_id: its id.
        doc_name: source-relative path.
        stage: where it failed.
        kind: how.
        attempts: tries so far.
    """

    doc_id: str
    doc_name: str
    stage: str
    kind: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Marked:
    """What became of a corpus's failures.

    Attributes:
        marked: the next build tries them; those marked before are among them.
        looked_at_anyway: failures of the source itself: every build looks at the files again.
        others: failures that were not asked for.
    """

    marked: tuple[FailedDocument, ...] = ()
    looked_at_anyway: tuple[FailedDocument, ...] = ()
    others: tuple[FailedDocument, ...] = ()

    @property
    def known(self) -> frozenset[str]:
        """Ids and names of all failed documents."""
        failed = (*self.marked, *self.looked_at_anyway, *self.others)
        return frozenset(name for document in failed for name in (document.doc_id, document.doc_name))


def mark_for_retry(road: Road, documents: Iterable[str] = (), kind: str | None = None) -> Marked:
    """Mark failures, so that the next build tries their documents again; nothing is built here.

    The mark is staged beside the current generation: `plan` shows it, and what readers see stays as it is.

    Args:
        road: the corpus.
        documents: ids or source-relative paths; none: all.
        kind: failures of this kind alone.

    Raises:
        LockHeld: the corpus is being built.
        LakeError: the lake can't be read.
    """
    wanted = frozenset(documents)
    with road.lake.writer(wait=road.wait):
        generation = road.lake.next_generation()
        failures = road.lake.read(generation, "failures").sort("doc_name")
        chosen: list[str] = []
        split: dict[str, list[FailedDocument]] = {"marked": [], "looked_at_anyway": [], "others": []}
        for row in failures.iter_rows(named=True):
            failed = FailedDocument(
                row["doc_id"], row["doc_name"], row["stage"], row["kind"], row["attempts"]
            )
            named = not wanted or bool(wanted & {row["doc_id"], row["doc_name"], row["doc_key"]})
            if not named or kind not in (None, row["kind"]):
                split["others"].append(failed)
            elif row["stage"] == FIRST:
                split["looked_at_anyway"].append(failed)
            else:
                split["marked"].append(failed)
                chosen.append(row["doc_key"])
        fresh = failures.filter(pl.col("doc_key").is_in(chosen) & ~pl.col("retry"))
        if fresh.height:
            mark = pl.col("doc_key").is_in(chosen)
            rows = failures.with_columns(pl.col("retry") | mark).select(contract("failures").polars.names())
            road.lake.stage(road.lake.write_shards(generation, "failures", {ONLY_FILE: rows.sort("doc_key")}))
    return Marked(**{name: tuple(found) for name, found in split.items()})
