"""The experiment's records as a table of plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """One aligned row a record: what it is, each question's recall, the mean over the answerable ones (`-`: none)."""
    questions = [question["questionId"] for question in records[0]["questions"]] if records else []
    rows = [["strategy", "versions", "selection", *questions, "macro"]]
    rows += [
        [
            record["strategy"],
            "current" if record["versionFilter"] else "all",
            record["selection"],
            *(question["evidenceRecall"] or "-" for question in record["questions"]),
            record["macroEvidenceRecall"] or "-",
        ]
        for record in records
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    # Names to the left, numbers to the right.
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
