"""Checking candidate rows against their contract, before the commit (CO-02, CO-03)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandera.polars as pa
import polars as pl
from pandera.config import ValidationDepth, config_context

from linkrag_dagster.contracts.columns import Contract

CASES_SHOWN = 20
CASE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Violation:
    """One row, or one document, that breaks a rule.

    Attributes:
        rule: the rule's id, such as `EX-07`.
        doc_key: the document; "" where no single document is to blame.
        message: what is wrong, with the row's key.
    """

    rule: str
    doc_key: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check over the candidate rows of a stage.

    Attributes:
        name: the check, a name that Dagster accepts.
        rules: ids of the rules that it holds.
        description: what it promises.
        rows: rows looked at.
        violations: what breaks it.
    """

    name: str
    rules: tuple[str, ...]
    description: str
    rows: int
    violations: tuple[Violation, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether nothing breaks it."""
        return not self.violations

    @property
    def documents(self) -> frozenset[str]:
        """Documents that break it."""
        return frozenset(v.doc_key for v in self.violations if v.doc_key)

    def cases(self) -> list[Mapping[str, str]]:
        """The first cases, capped, for people."""
        return [
            {"rule": v.rule, "document": v.doc_key, "case": v.message[:CASE_CHARACTERS]}
            for v in self.violations[:CASES_SHOWN]
        ]


def check_schema(contract: Contract, frame: pl.DataFrame, *, document: str = "doc_key") -> CheckResult:
    """Columns, types, nulls, values and unique keys of candidate rows, with data depth on.

    Args:
        contract: the table's contract.
        frame: candidate rows; validated as a frame, for a lazy one would check its schema alone.
        document: the column that names the document to blame.
    """
    violations: list[Violation] = []
    # A stage promises its checks over no rows, many times in a build: with the right columns nothing can be wrong.
    if not frame.is_empty() or frame.schema != contract.polars:
        with config_context(validation_depth=ValidationDepth.SCHEMA_AND_DATA):
            try:
                contract.schema.validate(frame, lazy=True)
            except pa.errors.SchemaErrors as errors:
                violations = list(_violations(errors.failure_cases, frame, document))
    return CheckResult(
        name=f"{contract.name}_contract",
        rules=("CO-01", "CO-02"),
        description=f"Columns, types, nulls, allowed values and unique keys of {contract.name}.",
        rows=frame.height,
        violations=tuple(violations),
    )


def _violations(cases: pl.DataFrame, frame: pl.DataFrame, document: str) -> Iterable[Violation]:
    keys: Sequence[str] = frame[document].to_list() if document in frame.columns else []
    for case in cases.iter_rows(named=True):
        index = case.get("index")
        key = keys[index] if index is not None and index < len(keys) else ""
        column = case.get("column") or "row"
        yield Violation("CO-01", key, f"{column}: {case.get('check')}: {case.get('failure_case')}")
