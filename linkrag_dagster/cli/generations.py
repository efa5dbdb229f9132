"""`linkrag models`, `linkrag rollback`, `linkrag activate`: which generation answers, and which model made it."""

from __future__ import annotations

import sys
import uuid
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
    say,
    wait_option,
)

if TYPE_CHECKING:
    from linkrag_dagster.lake.manifest import Generation
    from linkrag_dagster.stages.models import DeclaredModel, GenerationModel
    from linkrag_dagster.stages.road import Road


@click.command()
@click.argument("name")
@lake_option
@as_json
@ends_clearly
def models(name: str, lake: str | None, json_output: bool) -> None:
    """Show which model made which generation: rows covered, metrics, and which one answers."""
    from linkrag_dagster.stages.models import declared_model, generation_models

    road = road_of(declared((name,), check_source=False)[0], lake=lake)
    found, today = generation_models(road), declared_model(road)
    if json_output:
        print_json({"generations": [model.as_dict() for model in found], "declared": today.as_dict()})
    else:
        _show_models(name, found, today)
    sys.exit(DONE)


def _show_models(name: str, found: list[GenerationModel], today: DeclaredModel) -> None:
    from linkrag_dagster.cli.tables import print_table

    measured = sorted(
        {(run, metric) for g in found for run, values in g.metrics.items() for metric in values}
    )
    columns = (
        "generation",
        "state",
        "model",
        "fingerprint",
        "dimensions",
        "covered",
        *(f"{r} {m}" for r, m in measured),
    )
    rows: list[list[object]] = [
        [
            g.generation,
            g.state,
            g.model,
            g.fingerprint[:12],
            g.dimensions,
            f"{g.covered}/{g.chunks}",
            *(_number(g.metrics.get(run, {}).get(metric)) for run, metric in measured),
        ]
        for g in found
    ]
    print_table(name, columns, rows)
    if today.problem:
        click.echo(f"declared: {today.problem}")
        return
    state = "its index answers" if today.active else "its index does not answer"
    click.echo(
        f"declared: {today.model} ({today.fingerprint[:12]}, {today.dimensions} dimensions): {state}; "
        f"vectors of {today.remembered} of {today.chunks} chunks are there"
    )
    if any(g.state == "waiting" for g in found):
        click.echo(f"a whole generation waits: linkrag activate {name}")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


@click.command()
@click.argument("name")
@click.argument("generation", required=False, type=click.IntRange(min=1))
@click.option("--reason", default="", help="Why, for the record of runs.")
@wait_option
@lake_option
@as_json
@ends_clearly
def rollback(
    name: str, generation: int | None, reason: str, wait: float, lake: str | None, json_output: bool
) -> None:
    """Let an earlier GENERATION answer again: the one before the current, unless it is named.

    It is one swap: searches see the one or the other. What an unfinished build had staged is dropped, its vectors are
    kept. The declaration stays as it is, so the next build goes forward again; the output says to what.
    """
    from linkrag_dagster.stages.roll_back import next_build, roll_back

    road = road_of(declared((name,), check_source=False)[0], lake=lake, wait=wait)
    done = roll_back(road, uuid.uuid4().hex, generation, reason)
    note: dict[str, str | int] = {"rolled_back_to": done.to.number, "rolled_back_from": done.before.number}
    _tell_dagster(road, done.now, done.to.run_id, {**note, **({"reason": reason} if reason else {})})
    ahead, problem = next_build(road)
    if json_output:
        print_json(
            {
                "from": done.before.number,
                "to": done.to.number,
                "generation": done.now.number,
                "model": done.now.facts.get("model"),
                "model_fingerprint": done.now.facts.get("model_fingerprint"),
                "dropped_unfinished_build": done.dropped,
                "next_build": ahead,
                **({"plan_problem": problem} if problem else {}),
            }
        )
        sys.exit(DONE)
    click.echo(
        f"{name}: generation {done.to.number} answers again, as generation {done.now.number} "
        f"(model {done.now.facts.get('model')}); generation {done.before.number} is kept"
    )
    if done.dropped:
        click.echo("what an unfinished build had staged was dropped; its vectors are kept")
    if problem:
        say(f"what the next build would do can't be told: {problem}")
    elif ahead:
        reasons = dict.fromkeys(reason for found in ahead.values() for reason in found)
        click.echo(
            f"the next build goes forward again, for: {'; '.join(reasons)}; to stay, declare what generation "
            f"{done.to.number} was made with (linkrag diff {name} {done.before.number} {done.now.number})"
        )
    else:
        click.echo("the next build has nothing to do")
    sys.exit(DONE)


def _tell_dagster(road: Road, now: Generation, made_by: str, note: dict[str, str | int]) -> None:
    """The swap is done; that Dagster's record can't be written does not undo it."""
    from linkrag_dagster.dag.report import report_generation
    from linkrag_dagster.lake.manifest import LakeError

    try:
        report_generation(road, now, made_by, note)
    except LakeError as error:
        say(f"Dagster was not told, its UI shows the generation before until the next build: {error}")


@click.command()
@click.argument("name")
@wait_option
@lake_option
@as_json
@ends_clearly
def activate(name: str, wait: float, lake: str | None, json_output: bool) -> None:
    """Let the whole index of a new model answer, where embedding.activate is manual."""
    from linkrag_dagster.stages.finish import activate as activate_road

    road = road_of(declared((name,), check_source=False)[0], lake=lake, wait=wait)
    before = road.lake.current()
    now = activate_road(road, uuid.uuid4().hex)
    _tell_dagster(road, now, now.run_id, {"activated_from": before.number})
    found: dict[str, Any] = {
        "from": before.number,
        "generation": now.number,
        "model": now.facts.get("model"),
        "model_fingerprint": now.facts.get("model_fingerprint"),
    }
    if json_output:
        print_json(found)
    else:
        click.echo(
            f"{name}: generation {now.number} answers (model {found['model']}); generation {before.number} is kept: "
            f"linkrag rollback {name}"
        )
    sys.exit(DONE)
