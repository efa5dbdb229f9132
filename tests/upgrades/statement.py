"""The table of changes as a page: `python -m tests.upgrades.statement` writes docs/partial_rebuilds.md anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from linkrag_dagster.stages.road import STAGE_NAMES

from .changes import ALL, BASE, CHANGES, Change, Rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "partial_rebuilds.md"
INTRODUCTION = """# What a change recomputes

Made by `python -m tests.upgrades.statement` from the table that the tests hold a build to
(`tests/upgrades/changes.py`); a test fails where this page is another one.

Each change is made on a small corpus: {documents} documents (Markdown, plain text, HTML, PDF; one in Chinese),
{chunks} chunks, three questions. After each of them the tests compare

- every table with that of a full build into an empty lake, row by row, provenance left out;
- the rows recomputed with the least that was possible, which is worked out from both lakes without the planner: rows
  whose inputs' content, or whose applicable spec, is another one. **Recomputed ÷ least = 1.00 in every stage of every
  change below**;
- the plan with what was done: equal, or not below where it says that it is a bound;
- the texts given to the model with those that no earlier build had embedded.

A document that can't be read any more keeps its rows, so no full build is like it: there the rows alone are compared.

A cell holds rows of a stage's table: `~` recomputed under their key, `+` new, `-` removed. An empty cell is a stage
that did nothing: either it does not depend on what changed, or its input came out the same (early cut-off). `texts` is
what the model was given. Rows at first: {rows}, and an
evaluation with one for each metric.
"""


def page() -> str:
    """The whole page."""
    rows = ", ".join(f"{name} {count}" for name, count in BASE.items() if count != ALL)
    head = INTRODUCTION.format(documents=BASE["raw_documents"], chunks=BASE["chunks"], rows=rows)
    groups = dict.fromkeys(change.group for change in CHANGES)
    parts = [head, *("\n".join(_group(group)) + "\n" for group in groups)]
    return "\n".join(parts)


def _group(group: str) -> Iterator[str]:
    yield f"## {group}"
    yield ""
    yield f"| what changes | {' | '.join(STAGE_NAMES)} | texts |"
    yield f"| --- | {' | '.join('---:' for _ in STAGE_NAMES)} | ---: |"
    for change in CHANGES:
        if change.group == group:
            yield f"| {change.title} | {' | '.join(_cells(change))} | {change.texts or ''} |"


def _cells(change: Change) -> Iterator[str]:
    for name in STAGE_NAMES:
        rows = change.rows.get(name, Rows())
        signs = (("~", rows.stale), ("+", rows.new), ("-", rows.removed))
        yield " ".join(f"{sign}{'all' if count == ALL else count}" for sign, count in signs if count)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
