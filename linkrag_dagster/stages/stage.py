"""What a stage is, what it computes, and what is told of it (PI-03); what all of them do alike is in `commit`.

A stage file says only what is its own: its tables, its inputs, its spec, and the function from rows to rows. The unit
of work is a document; the grain of a row's fingerprint is the document too, but for the stages that say otherwise
(`row_grain`), where a recomputed row that stayed what it was counts as unchanged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.check import CheckResult
from linkrag_dagster.contracts.columns import Contract
from linkrag_dagster.contracts.tables import FAILURE_KINDS, contract
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.versions.spec import StageSpec, digest

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

FIRST = "raw_documents"
READS_BYTES = "extracted_text"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DocumentFailure:
    """One document that a stage could not do.

    Attributes:
        doc_key: the document.
        kind: the failure's kind (FA-01, XT-11).
        message: what happened and what to do next.
        retryable: whether the same input may pass another time.
        cases: failing cases of a contract, capped.
        transient: True where the next build should look again although nothing changed (a source that moved under
            the build's hands).

    Raises:
        ValueError: for a kind that is none of `FAILURE_KINDS`.
    """

    doc_key: str
    kind: str
    message: str
    retryable: bool = False
    cases: tuple[Mapping[str, str], ...] = ()
    transient: bool = False

    def __post_init__(self) -> None:
        if self.kind not in FAILURE_KINDS:
            raise ValueError(f"unknown failure kind {self.kind!r}: one of {', '.join(FAILURE_KINDS)}")


@dataclass(frozen=True, slots=True)
class Computed:
    """What a stage computed for the documents it was asked for.

    Attributes:
        frames: rows by table, without stamps; a document without rows is simply absent.
        failures: documents that failed; they have no rows in `frames`.
        texts: texts given to a model.
        tokens: tokens given to a model.
        narrow: documents whose rows depend on less than the stage's spec says (`Stage.narrowed`).
    """

    frames: Mapping[str, pl.DataFrame]
    failures: Sequence[DocumentFailure] = ()
    texts: int = 0
    tokens: int = 0
    narrow: Set[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StageReport:
    """What became of a stage: counts of rows in its counted table, by primary key.

    Attributes:
        table: the stage.
        new, stale, retried, unchanged, removed: rows.
        failed: documents that have failed at this stage, now or before.
        rows: rows there are now.
        seconds: time it took.
        reasons: rows by reason, most first.
        checks: outcomes of its contracts, before documents were failed for them.
        failures: documents that failed in this run.
        refused: why nothing was committed; "" where it was.
        data_version: hash over the content of all its rows.
        texts, tokens: given to a model.
    """

    table: str
    new: int = 0
    stale: int = 0
    retried: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: int = 0
    rows: int = 0
    seconds: float = 0.0
    reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    checks: tuple[CheckResult, ...] = ()
    failures: tuple[DocumentFailure, ...] = ()
    refused: str = ""
    data_version: str = ""
    texts: int = 0
    tokens: int = 0

    def counts(self) -> dict[str, int | float]:
        """The numbers that `linkrag build --json` prints for the stage."""
        return {
            "new": self.new,
            "stale": self.stale,
            "retried": self.retried,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "failed": self.failed,
            "rows": self.rows,
            "seconds": round(self.seconds, 3),
        }


class Refused(Exception):
    """A contract or the share of failures refuses the commit of a stage; `report` says why (CO-02, CO-03)."""

    def __init__(self, report: StageReport) -> None:
        super().__init__(report.refused)
        self.report = report


class Stage(ABC):
    """A stage of the road: table in, table out.

    Attributes:
        name: the asset's and stage's name.
        tables: the tables it writes; the first is the one whose rows are counted.
        inputs: stages whose content its own derives from.
        row_grain: True where rows carry fingerprints of their own.
        whole_corpus: True where its rows are about the corpus, not about one document: its unit of work is all of it.
        contract_revision: raised by hand whenever `checks` refuses other rows than before; what the tables' schemas
            demand is seen without it.
        may_warn: rules of its checks whose breach can be declared to warn (CO-03).
    """

    name: str
    tables: tuple[str, ...]
    inputs: tuple[str, ...]
    description: str
    row_grain: bool = False
    whole_corpus: bool = False
    contract_revision: int = 1
    may_warn: frozenset[str] = frozenset()

    def applies(self, road: Road) -> bool:
        """Whether the declaration asks for it at all."""
        del road
        return True

    @abstractmethod
    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        """The spec that applies to a document, given its `raw_documents` row."""

    def narrowed(self, road: Road, document: Mapping[str, Any]) -> StageSpec | None:
        """The spec of documents that turned out not to depend on all of `spec` (VE-02); None where there is no such.

        Which documents these are `compute` says (`Computed.narrow`); the planner knows it by the recorded spec.
        """
        del road, document
        return None

    def is_narrow(self, recorded: Mapping[str, object]) -> bool:
        """Whether a recorded spec, as plain data, is a narrowed one, of this version or an earlier."""
        del recorded
        return False

    def whole_spec(self, road: Road, document: Mapping[str, Any], *, narrow: bool = False) -> StageSpec:
        """The spec with the contract that let its rows through: rows of another one are made and checked anew."""
        made = (self.narrowed(road, document) if narrow else None) or self.spec(road, document)
        demands = digest("contract", str(self.contract_revision), *(contract(t).mark for t in self.tables))
        warned = sorted(self.may_warn.intersection(road.declaration.contracts.warn))
        return replace(
            made,
            components={**made.components, "contract": demands},
            parameters={**made.parameters, **({"warned": warned} if self.may_warn else {})},
        )

    @abstractmethod
    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        """Rows of the documents `keys`, from the staged rows of the inputs."""

    def bound(self, road: Road) -> int:
        """At most so many rows in the counted table, for a stage over the whole corpus."""
        del road
        return 0

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        """Contracts beyond the schema's, over the candidate rows of the documents `keys`."""
        del road, generation, frames, keys
        return ()

    def contract(self, road: Road, table: str) -> Contract:
        """The contract of one of its tables."""
        del road
        return contract(table)

    def facts(self, road: Road) -> Mapping[str, object]:
        """Facts that readers of the generation need (`Generation.facts`)."""
        del road
        return {}
