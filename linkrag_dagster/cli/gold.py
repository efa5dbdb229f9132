"""`linkrag gold check`: are a corpus's own questions sound."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkrag_dagster.cli.console import (
    DONE,
    REFUSED,
    USAGE,
    WITH_FAILURES,
    as_json,
    declared,
    ends_clearly,
    lake_option,
    print_json,
    road_of,
    stop,
)

if TYPE_CHECKING:
    from linkrag_dagster.declaration import LoadedDeclaration
    from linkrag_dagster.evaluation.gold import CheckedGold, Finding
    from linkrag_dagster.stages.road import Road


@click.group()
def gold() -> None:
    """Gold questions: what a corpus is measured against."""


@gold.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--questions",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Questions to check instead of the declared ones (evaluation.questions); may be given several times.",
)
@lake_option
@as_json
@ends_clearly
def check(names: tuple[str, ...], files: tuple[str, ...], lake: str | None, json_output: bool) -> None:
    """Find every passage that questions name in the texts of the last build, and tell what is wrong with which.

    A passage must stand once in the corpus and be no heading; a `ticket` phrasing must not repeat its words.
    """
    from linkrag_dagster.evaluation.gold import GoldError

    asked = [
        (loaded, paths)
        for loaded in declared(names, check_source=False)
        if (paths := tuple(map(Path, files)) or loaded.questions) or names
    ]
    if not asked:
        stop(USAGE, "no corpus declares evaluation.questions; declare them, or give --questions FILE")
    try:
        checked = {loaded.name: _check(loaded, paths, road_of(loaded, lake=lake)) for loaded, paths in asked}
    except GoldError as error:
        stop(USAGE, str(error))
    if json_output:
        print_json({"corpora": {name: _as_dict(found) for name, found in checked.items()}})
    else:
        for name, found in checked.items():
            _show(name, found)
    sys.exit(WITH_FAILURES if any(found.findings for found in checked.values()) else DONE)


def _check(loaded: LoadedDeclaration, paths: tuple[Path, ...], road: Road) -> CheckedGold:
    from linkrag_dagster.evaluation.gold import check_tables, read_gold_files, read_own

    if not paths:
        raise loaded.error("evaluation.questions", "no questions; name their files, or give --questions FILE")
    questions = read_own(read_gold_files(paths))
    generation = road.lake.shown()
    tables = {
        "raw_documents": ["doc_key", "doc_name", "current"],
        "extracted_text": ["doc_key", "doc_id", "version", "text"],
        "elements": ["doc_key", "kind", "start_char", "end_char"],
    }
    if any(table not in generation.tables for table in tables):
        stop(REFUSED, f"{loaded.name} has no texts yet: run linkrag build {loaded.name}")
    documents, texts, elements = (
        road.lake.read(generation, table, columns=columns) for table, columns in tables.items()
    )
    return check_tables(questions, documents, texts, elements)


def _as_dict(found: CheckedGold) -> dict[str, Any]:
    return {
        **asdict(found.counts),
        "usable": len(found.questions),
        "left_out": [asdict(question) for question in found.left_out],
        "findings": [asdict(finding) for finding in found.findings],
    }


def _show(name: str, found: CheckedGold) -> None:
    from linkrag_dagster.cli.tables import print_table

    counts = found.counts
    rows: list[tuple[str, int]] = [
        ("questions", counts.questions),
        ("usable", len(found.questions)),
        ("left out", len(found.left_out)),
        ("needles", counts.needles),
        ("answerable", counts.answerable),
        *((f"unanswerable: {kind}", count) for kind, count in counts.unanswerable.items()),
        *((f"phrasing: {phrasing or 'none'}", count) for phrasing, count in counts.phrasings.items()),
        ("findings", len(found.findings)),
    ]
    print_table(name, ("gold", "number"), rows)
    for finding in found.findings:
        _show_finding(finding)


def _show_finding(finding: Finding) -> None:
    field = f" {finding.field}" if finding.field else ""
    click.echo(
        f"{finding.file}:{finding.line}: {click.style(finding.kind, bold=True)} "
        f"{finding.question_id}{field}: {finding.message}"
    )
    if finding.suggestion:
        click.echo(f"    {finding.suggestion}")
