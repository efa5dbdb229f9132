"""`linkrag history` and `linkrag diff`: what was done when, and why two runs differ."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from linkrag_dagster.cli.console import (
    DONE,
    as_json,
    declared,
    ends_clearly,
    lake_option,
    print_json,
    road_of,
)

if TYPE_CHECKING:
    from linkrag_dagster.lake.row_changes import TableChange
    from linkrag_dagster.stages.history import RunDifference, RunRecord

REASONS_SHOWN = 3
KEYS_ON_SCREEN = 5
NAMES_ON_SCREEN = 10


@click.command()
@click.argument("name")
@lake_option
@as_json
@ends_clearly
def history(name: str, lake: str | None, json_output: bool) -> None:
    """List the runs that changed a corpus: what was done, why, and what it cost."""
    from linkrag_dagster.stages.history import COUNTS, run_records

    road = road_of(declared((name,), check_source=False)[0], lake=lake)
    records = run_records(road.lake)
    if json_output:
        print_json({"runs": [record.as_dict() for record in records]})
        sys.exit(DONE)
    from linkrag_dagster.cli.tables import print_table

    columns = ("generation", "finished (UTC)", "run", "rows", "texts", "tokens", "seconds", "why")
    rows: list[list[object]] = [
        [
            f"{r.generation}" if r.kept else f"{r.generation} (gone)",
            r.finished.replace("T", " ").removesuffix("+00:00"),
            r.run_id[:8],
            ", ".join(f"{r.rows(count)} {count}" for count in COUNTS if r.rows(count)),
            r.texts,
            r.tokens,
            r.seconds,
            "; ".join(r.why[:REASONS_SHOWN]),
        ]
        for r in records
    ]
    print_table(f"{name}: runs, and rows over all tables", columns, rows)
    sys.exit(DONE)


@click.command()
@click.argument("name")
@click.argument("run1")
@click.argument("run2")
@click.option(
    "--keys",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="At most this many keys of rows for each table and kind of change.",
)
@lake_option
@as_json
@ends_clearly
def diff(name: str, run1: str, run2: str, keys: int, lake: str | None, json_output: bool) -> None:
    """Say why two runs differ: settings, versions, libraries, machine, and rows.

    RUN1 and RUN2 are generations' numbers, or beginnings of runs' names, as linkrag history shows them.
    """
    from linkrag_dagster.lake.row_changes import as_dict
    from linkrag_dagster.stages.history import difference, find_run, run_records

    road = road_of(declared((name,), check_source=False)[0], lake=lake)
    records = run_records(road.lake)
    one, other = find_run(records, run1), find_run(records, run2)
    found = difference(road.lake, one, other, shown=keys)
    if json_output:
        print_json(
            {
                "from": _run(one),
                "to": _run(other),
                "settings": found.settings,
                "libraries": found.libraries,
                "environment": found.environment,
                "documents": None if found.documents is None else found.documents.as_dict(),
                "rows": None if found.rows is None else as_dict(found.rows),
                "no_longer_kept": found.gone,
            }
        )
    else:
        _show_difference(one, other, found)
    sys.exit(DONE)


def _run(record: RunRecord) -> dict[str, Any]:
    names = ("run_id", "generation", "finished", "seconds", "texts", "tokens", "rolled_back_to", "why")
    return {name: getattr(record, name) for name in names}


def _show_difference(one: RunRecord, other: RunRecord, found: RunDifference) -> None:
    from linkrag_dagster.cli.tables import print_table

    for record in (one, other):
        why = f"; {'; '.join(record.why[:REASONS_SHOWN])}" if record.why else ""
        click.echo(
            f"generation {record.generation}, run {record.run_id[:8]}, {record.finished}: "
            f"{record.texts} texts, {record.seconds:.1f} s{why}"
        )
    lines = [f"{stage}: {words}" for stage, changes in found.settings.items() for words in changes]
    for title, changes in (
        ("settings and versions", lines),
        ("libraries", found.libraries),
        ("package, revision, machine", found.environment),
    ):
        click.echo(f"{title}: {'; '.join(changes) or 'the same'}")
    if found.documents is not None:
        click.echo(f"documents: {'; '.join(found.documents.words(NAMES_ON_SCREEN)) or 'the same'}")
    if found.rows is None:
        numbers = ", ".join(str(number) for number in found.gone)
        click.echo(f"rows: generation {numbers} is no longer kept, so they can't be compared")
    elif found.rows:
        rows: list[list[object]] = [
            [table, change.added, change.removed, change.changed, _keys(change)]
            for table, change in found.rows.items()
        ]
        print_table("rows", ("table", "added", "removed", "changed", "keys"), rows)
    else:
        click.echo("rows: the same")


def _keys(change: TableChange) -> str:
    kinds = (("+", change.added_keys), ("-", change.removed_keys), ("~", change.changed_keys))
    return " ".join(
        sign + "/".join(str(part) for part in key) for sign, keys in kinds for key in keys[:KEYS_ON_SCREEN]
    )
