"""`linkrag gc` and `linkrag retry`: the upkeep of a lake."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from linkrag_dagster.cli.console import (
    DONE,
    USAGE,
    as_json,
    declared,
    ends_clearly,
    lake_option,
    print_json,
    road_of,
    say,
    stop,
    wait_option,
)

if TYPE_CHECKING:
    from linkrag_dagster.stages.collect import Collected
    from linkrag_dagster.stages.retry import FailedDocument, Marked


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    metavar="N",
    help="Generations to keep beside the current one (declared: limits.generations).",
)
@click.option("--dry-run", is_flag=True, help="Tell what would go, and leave it.")
@wait_option
@lake_option
@as_json
@ends_clearly
def gc(
    names: tuple[str, ...], keep: int | None, dry_run: bool, wait: float, lake: str | None, json_output: bool
) -> None:
    """Remove generations beyond the last ones, files that none of them names, and vectors of texts that are gone.

    What an unfinished build has staged stays. A generation that went can't be rolled back to; vectors that went are
    made again where their texts come back.
    """
    from linkrag_dagster.stages.collect import collect

    everything = declared((), check_source=False)
    chosen = declared(names, check_source=False) if names else everything
    found = collect(
        [road_of(loaded, lake=lake, wait=wait) for loaded in chosen],
        [road_of(loaded, lake=lake) for loaded in everything],
        keep=keep,
        dry_run=dry_run,
    )
    if json_output:
        print_json(_collected(found, dry_run))
    else:
        _show_collected(found, dry_run)
    sys.exit(DONE)


def _by_kind(found: Collected) -> dict[str, dict[str, dict[str, int]]]:
    """Files and bytes by corpus and kind."""
    corpora: dict[str, dict[str, dict[str, int]]] = {}
    for name, garbage in found.corpora.items():
        kinds = corpora.setdefault(name, {})
        for file in garbage.files:
            counted = kinds.setdefault(file.kind, {"files": 0, "bytes": 0})
            counted["files"] += 1
            counted["bytes"] += file.size
    return corpora


def _collected(found: Collected, dry_run: bool) -> dict[str, Any]:
    kinds = _by_kind(found)
    return {
        "dry_run": dry_run,
        "bytes": found.size,
        "corpora": {
            name: {
                "kept": [generation.number for generation in garbage.kept if generation.committed],
                "staged": next((g.number for g in garbage.kept if not g.committed), None),
                "removed": kinds[name],
            }
            for name, garbage in found.corpora.items()
        },
        "memo": {
            model: {
                "vectors": swept.vectors,
                "kept": swept.kept,
                "files": swept.removed + swept.damaged + swept.temporary,
                "rewritten": swept.rewritten,
                "damaged": swept.damaged,
                "bytes": swept.size,
            }
            for model, swept in found.memo.items()
        },
        "memo_left": dict(found.memo_left),
    }


def _show_collected(found: Collected, dry_run: bool) -> None:
    from linkrag_dagster.cli.tables import print_table

    rows: list[list[object]] = []
    for name, kinds in _by_kind(found).items():
        for kind, counted in kinds.items():
            rows.append([name, kind, counted["files"], counted["bytes"]])
    for model, swept in found.memo.items():
        files = swept.removed + swept.rewritten + swept.damaged + swept.temporary
        rows.append([f"model {model[:12]}", f"{swept.vectors} vectors", files, swept.size])
    if rows:
        title = "would be removed" if dry_run else "removed"
        print_table(title, ("of", "kind", "files", "bytes"), rows)
    for name, garbage in found.corpora.items():
        kept = ", ".join(str(g.number) for g in garbage.kept if g.committed) or "none"
        staged = (
            ", and what an unfinished build has staged" if any(not g.committed for g in garbage.kept) else ""
        )
        click.echo(f"{name}: keeps generation {kept}{staged}")
    click.echo(f"{found.size:,} bytes {'would be' if dry_run else 'are'} free")
    for root, why in found.memo_left.items():
        say(f"{root}: vectors of texts that are gone were left where they are: {why}")


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME|DOC]...")
@click.option("--kind", metavar="KIND", help="Only failures of this kind, as linkrag status shows it.")
@wait_option
@lake_option
@as_json
@ends_clearly
def retry(names: tuple[str, ...], kind: str | None, wait: float, lake: str | None, json_output: bool) -> None:
    """Mark failed documents, so that the next linkrag build tries them again although nothing changed.

    A NAME that is declared is a corpus; anything else is a document, by its id or path. Nothing is built here:
    linkrag plan shows what is marked. Until a try succeeds, the document keeps its last good rows.
    """
    from linkrag_dagster.stages.retry import mark_for_retry

    everything = {loaded.name: loaded for loaded in declared((), check_source=False)}
    corpora = [name for name in names if name in everything]
    documents = [name for name in names if name not in everything]
    roads = [road_of(everything[name], lake=lake, wait=wait) for name in corpora or everything]
    found = {
        road.corpus: mark_for_retry(road, documents, kind) for road in roads if road.lake.folder.is_dir()
    }
    unknown = sorted(set(documents) - {name for marked in found.values() for name in marked.known})
    if json_output:
        print_json({"corpora": {name: _marked(marked) for name, marked in found.items()}, "unknown": unknown})
    else:
        _show_marked(found)
    if unknown:
        stop(
            USAGE,
            f"neither a corpus nor a failed document: {', '.join(unknown)}; linkrag status lists the failed documents",
        )
    sys.exit(DONE)


def _marked(marked: Marked) -> dict[str, Any]:
    return {
        "marked": [_document(document) for document in marked.marked],
        "looked_at_anyway": [_document(document) for document in marked.looked_at_anyway],
        "others": len(marked.others),
    }


def _document(document: FailedDocument) -> dict[str, Any]:
    return {name: getattr(document, name) for name in document.__slots__}


def _show_marked(found: dict[str, Marked]) -> None:
    for name, marked in found.items():
        for document in marked.marked:
            tries = "1 try" if document.attempts == 1 else f"{document.attempts} tries"
            click.echo(f"{name}: {document.doc_name}: {document.kind} at {document.stage}, {tries} so far")
        for document in marked.looked_at_anyway:
            click.echo(
                f"{name}: {document.doc_name}: every build looks at the source again, no mark is needed"
            )
    ready = [name for name, marked in found.items() if marked.marked]
    click.echo(
        f"marked; they are tried by: linkrag build {' '.join(ready)}"
        if ready
        else "nothing was marked for retry"
    )
