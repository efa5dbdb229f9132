"""`linkrag build` and `linkrag plan`."""

from __future__ import annotations

import gc
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from linkrag_dagster.cli.console import (
    DONE,
    REFUSED,
    TO_DO,
    WITH_FAILURES,
    as_json,
    declared,
    ends_clearly,
    lake_option,
    print_json,
    road_of,
    say,
)
from linkrag_dagster.contracts.stages import COUNTED

if TYPE_CHECKING:
    from linkrag_dagster.stages.build import BuildResult
    from linkrag_dagster.stages.plan import RoadPlan


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--through",
    type=click.Choice(tuple(COUNTED)),
    help="Stop after this stage; search keeps reading the last whole build.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Seconds to wait for another build of the corpus.",
)
@click.option("--allow-empty", is_flag=True, help="The source is meant to be empty: remove all its rows.")
@lake_option
@as_json
@ends_clearly
def build(
    names: tuple[str, ...],
    through: str | None,
    wait: float,
    allow_empty: bool,
    lake: str | None,
    json_output: bool,
) -> None:
    """Build what is stale of the named corpora, or of all."""
    # A plan makes hundreds of thousands of small objects, none in a cycle: to look for cycles among them as often as
    # Python does takes a seventh of the time.
    gc.set_threshold(200_000, 30, 30)
    from linkrag_dagster.dag.run import run
    from linkrag_dagster.stages.activation import waiting
    from linkrag_dagster.stages.build import build as build_road

    started = time.monotonic()
    results: dict[str, BuildResult] = {}
    for loaded in declared(names):
        road = road_of(loaded, lake=lake, wait=wait, allow_empty=allow_empty)
        road.progress = lambda stage, line, name=loaded.name: say(f"{name}/{stage}: {line}")
        results[loaded.name] = build_road(road, run, through=through)
        for failure in (f for r in results[loaded.name].stages.values() for f in r.failures):
            say(f"{loaded.name}: {failure.kind}: {failure.message}")
        if results[loaded.name].refused:
            say(f"linkrag: {results[loaded.name].refused}")
        elif waiting(road) is not None:
            say(f"{loaded.name}: the new model's index is whole and waits: linkrag activate {loaded.name}")
    seconds = time.monotonic() - started
    if json_output:
        print_json(_done(results, seconds))
    else:
        _show_builds(results, seconds)
    if any(result.refused for result in results.values()):
        sys.exit(REFUSED)
    sys.exit(WITH_FAILURES if any(result.failed for result in results.values()) else DONE)


def _done(results: dict[str, BuildResult], seconds: float) -> dict[str, Any]:
    return {
        "corpora": {
            name: {
                "stages": {
                    table: {
                        **report.counts(),
                        "kept": result.kept(table),
                        "planned": _planned_stage(result.plan, table),
                    }
                    for table, report in result.stages.items()
                },
                "failed_documents": result.failed,
                "generation": result.generation,
                **({"refused": result.refused} if result.refused else {}),
            }
            for name, result in results.items()
        },
        "embedded_texts": sum(result.embedded_texts for result in results.values()),
        "embedded_tokens": sum(result.embedded_tokens for result in results.values()),
        "seconds": round(seconds, 2),
    }


def _planned_stage(plan: RoadPlan | None, table: str) -> dict[str, int | bool]:
    stage = plan.stages.get(table) if plan else None
    if stage is None:
        return {}
    names = ("new", "stale", "retry", "removed", "upper_bound")
    return {name: getattr(stage, name) for name in names}


def _show_builds(results: dict[str, BuildResult], seconds: float) -> None:
    from linkrag_dagster.cli.tables import print_table

    columns = ("new", "stale", "retried", "removed", "unchanged", "failed", "rows", "seconds")
    for name, result in results.items():
        rows: list[list[object]] = []
        for table, report in result.stages.items():
            counts = report.counts()
            done = report.new + report.stale + report.retried
            rows.append([table, _bound(result.plan, table), done, *(counts[column] for column in columns)])
        title = f"{name}, generation {result.generation}: rows planned, and done"
        print_table(title, ("table", "planned", "done", *columns), rows)
        _show_cut_off(result)
        if result.failed:
            click.echo(f"{result.failed} documents have failed: linkrag status {name}")
    texts = sum(result.embedded_texts for result in results.values())
    tokens = sum(result.embedded_tokens for result in results.values())
    click.echo(f"embedded {texts} texts ({tokens} tokens) in {seconds:.1f} s")


def _bound(plan: RoadPlan | None, table: str) -> str:
    stage = plan.stages.get(table) if plan else None
    if stage is None:
        return ""
    rows = stage.new + stage.stale + stage.retry
    return f"≤ {rows}" if stage.upper_bound and rows else str(rows)


def _show_cut_off(result: BuildResult) -> None:
    """Where rows that might have changed did not: why less was done than planned (VE-03)."""
    cause = "their input came out the same"
    if any(report.failures for report in result.stages.values()):
        cause += ", or their document failed"
    for table, report in result.stages.items():
        if kept := result.kept(table):
            done = report.new + report.stale + report.retried
            planned = _bound(result.plan, table)
            click.echo(f"{table}: planned {planned}, done {done}: {kept} stayed as they were, for {cause}")


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--allow-empty", is_flag=True, help="Plan the removal of all rows where the source is empty.")
@lake_option
@as_json
@ends_clearly
def plan(names: tuple[str, ...], allow_empty: bool, lake: str | None, json_output: bool) -> None:
    """Say what a build would do, and why, without doing it. Exit code 10 when there is something to do."""
    from linkrag_dagster.stages.plan import plan_road
    from linkrag_dagster.stages.road import STAGES as ROAD

    plans = {
        loaded.name: plan_road(road_of(loaded, lake=lake, allow_empty=allow_empty), ROAD)
        for loaded in declared(names)
    }
    if json_output:
        print_json(_planned(plans))
    else:
        _show_plans(plans)
    sys.exit(DONE if all(found.idle for found in plans.values()) else TO_DO)


def _planned(plans: dict[str, RoadPlan]) -> dict[str, Any]:
    return {
        "corpora": {
            name: {
                "stages": {
                    table: {
                        "new": stage.new,
                        "stale": stage.stale,
                        "retry": stage.retry,
                        "unchanged": stage.unchanged,
                        "removed": stage.removed,
                        "failed": stage.failed,
                        "reasons": [
                            {"reason": reason, "rows": rows} for reason, rows in stage.reasons.items()
                        ],
                        "upper_bound": stage.upper_bound,
                    }
                    for table, stage in found.stages.items()
                },
                "left_out": dict(found.left_out),
                "failed_documents": found.failed,
            }
            for name, found in plans.items()
        },
        "texts_to_embed": sum(found.texts_to_embed for found in plans.values()),
        "tokens_to_embed": sum(found.tokens_to_embed for found in plans.values()),
        "seconds_estimated": round(sum(found.seconds for found in plans.values()), 1),
    }


def _show_plans(plans: dict[str, RoadPlan]) -> None:
    from linkrag_dagster.cli.tables import print_table

    for name, found in plans.items():
        if found.idle:
            note = (
                f"; {found.failed} documents have failed before: linkrag status {name}"
                if found.failed
                else ""
            )
            click.echo(f"{name}: nothing to do{note}")
        else:
            rows = [
                [
                    table,
                    *(
                        f"≤ {n}" if stage.upper_bound and n else n
                        for n in (stage.new, stage.stale, stage.retry)
                    ),
                    stage.removed,
                    stage.unchanged,
                    ", ".join(f"{reason} ({rows})" for reason, rows in list(stage.reasons.items())[:3]),
                ]
                for table, stage in found.stages.items()
            ]
            print_table(name, ("table", "new", "stale", "retry", "removed", "unchanged", "why"), rows)
            click.echo(
                f"to embed: at most {found.texts_to_embed} texts, {found.tokens_to_embed} tokens, "
                f"about {found.seconds:.0f} s"
            )
        for reason, count in found.left_out.items():
            click.echo(f"left out: {count} {reason}")
