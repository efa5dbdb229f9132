"""`linkrag status` and `linkrag catalogue`: what is stored."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from linkrag_dagster.cli.console import (
    DONE,
    REFUSED,
    as_json,
    declared,
    ends_clearly,
    lake_option,
    print_json,
    road_of,
    say,
)

if TYPE_CHECKING:
    from linkrag_dagster.lake.status import CorpusStatus


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@lake_option
@as_json
@ends_clearly
def status(names: tuple[str, ...], lake: str | None, json_output: bool) -> None:
    """Count what is stored, and tell what is wrong with which document."""
    from linkrag_dagster.lake.manifest import LakeError
    from linkrag_dagster.lake.status import corpus_status, what_to_do

    found: dict[str, CorpusStatus] = {}
    damaged: dict[str, str] = {}
    for loaded in declared(names, check_source=False):
        try:
            found[loaded.name] = corpus_status(road_of(loaded, lake=lake).lake)
        except LakeError as error:
            # The others are told all the same.
            damaged[loaded.name] = str(error)
            say(f"linkrag: {error}")
    code = REFUSED if damaged else DONE
    if json_output:
        told = {name: value.as_dict() for name, value in found.items()}
        print_json({"corpora": {**told, **{name: {"error": words} for name, words in damaged.items()}}})
        sys.exit(code)
    from linkrag_dagster.cli.tables import print_table

    for name, value in found.items():
        state = f"generation {value.generation}" if value.generation else "not built to the end yet"
        print_table(f"{name}, {state}", ("table", "rows"), [[t, n] for t, n in value.rows.items()])
        if value.active_model:
            click.echo(f"model: {value.active_model['name']} ({value.active_model['fingerprint'][:12]})")
        if value.failed:
            rows = [
                [f["doc_name"], f["stage"], f["kind"], f["message"], what_to_do(f, name)]
                for f in value.failed
            ]
            columns = ("document", "stage", "kind", "what happened", "what to do")
            print_table("failed documents", columns, rows)
            for failure in value.failed:
                for case in json.loads(failure["cases"] or "[]")[:3]:
                    click.echo(f"  {failure['doc_name']}: {case['rule']}: {case['case']}")
    sys.exit(code)


@click.command()
@lake_option
@as_json
@ends_clearly
def catalogue(lake: str | None, json_output: bool) -> None:
    """Write warehouse.duckdb anew: after the lake was moved, or to be sure."""
    from linkrag_dagster.lake.catalogue import corpora, rebuild

    roots = {road_of(loaded, lake=lake).lake_root for loaded in declared((), check_source=False)}
    written: dict[str, Any] = {}
    for root in sorted(roots):
        if corpora(root):
            written[str(rebuild(root))] = [c.corpus for c in corpora(root)]
    if json_output:
        print_json({"written": written})
    else:
        for path, names in written.items():
            click.echo(f"{path}: {', '.join(names)}")
        if not written:
            click.echo("no corpus has been built yet: linkrag build")
