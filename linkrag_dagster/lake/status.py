"""What a corpus has: counted from what is stored, never from what a run said (FA-02)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from linkrag_dagster.contracts.stages import COUNTED
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation, LakeError

TOLD = ("doc_name", "doc_id", "stage", "kind", "message", "attempts", "retryable")


def what_to_do(failure: Mapping[str, Any], corpus: str) -> str:
    """The next step for a failed document, as the view `failures_help` says it."""
    if failure["retry"]:
        return f"it is marked: linkrag build {corpus} tries it again"
    if failure["stage"] == "raw_documents":
        return "mend the file; each build looks at it again"
    if failure["retryable"]:
        return f"linkrag retry {corpus} {failure['doc_id']}, then linkrag build {corpus}"
    if failure["kind"] == "contract":
        return "see its cases in quarantine; mend the document or the settings, then build"
    return "mend or replace the file, or leave it out by source.exclude; the next build tries it again"


@dataclass(frozen=True, slots=True)
class CorpusStatus:
    """What is stored of a corpus.

    Attributes:
        corpus: its name.
        rows: rows by asset.
        failures: failed documents by kind.
        failed: the failures' rows.
        active_model: name, fingerprint and dimensions of the model of the current generation; None before one.
        generation: number of the current generation, 0 before the first.
        last_run: its run; None before one.
    """

    corpus: str
    rows: dict[str, int]
    failures: dict[str, int]
    failed: list[dict[str, Any]]
    active_model: dict[str, Any] | None
    generation: int
    last_run: dict[str, Any] | None

    def as_dict(self) -> dict[str, Any]:
        """As `linkrag status --json` prints it."""
        return {
            "rows": self.rows,
            "failures": self.failures,
            "active_model": self.active_model,
            "generation": self.generation,
            "last_run": self.last_run,
            "failed_documents": [
                {
                    **{name: f[name] for name in TOLD},
                    "what_to_do": what_to_do(f, self.corpus),
                }
                for f in self.failed
            ],
        }


def corpus_status(lake: CorpusLake) -> CorpusStatus:
    """Count what a corpus's files hold.

    Raises:
        LakeError: a file that the manifest names is missing or damaged.
    """
    generation = lake.shown()
    failed = lake.read(generation, "failures").sort("doc_name").to_dicts()
    kinds: dict[str, int] = {}
    for failure in failed:
        kinds[failure["kind"]] = kinds.get(failure["kind"], 0) + 1
    facts = generation.facts
    model = (
        {"name": facts["model"], "fingerprint": facts["model_fingerprint"], "dimensions": facts["dimensions"]}
        if "model" in facts
        else None
    )
    runs = lake.read(
        generation, "runs", columns=["run_id", "started", "finished", "seconds", "embedded_texts"]
    )
    last = runs.sort("finished").tail(1).to_dicts()
    return CorpusStatus(
        corpus=lake.corpus,
        rows={asset: _rows(lake, generation, table) for asset, table in COUNTED.items()},
        failures=dict(sorted(kinds.items())),
        failed=failed,
        active_model=model,
        generation=lake.current().number,
        last_run=last[0] if last else None,
    )


def _rows(lake: CorpusLake, generation: Generation, table: str) -> int:
    """Rows as the files themselves say."""
    try:
        files = generation.tables.get(table, {}).values()
        return sum(pq.read_metadata(lake.folder / file.path).num_rows for file in files)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    except (OSError, ValueError) as error:
        raise LakeError(f"{lake.folder}: a file of table {table} is missing or damaged ({error})") from error
