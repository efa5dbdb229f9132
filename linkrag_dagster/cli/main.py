"""The command and its subcommands. What a subcommand needs is imported when it runs (EM-07)."""

from __future__ import annotations

import io
import sys

import click

from linkrag_dagster.cli.build import build, plan
from linkrag_dagster.cli.evaluate import evaluate
from linkrag_dagster.cli.files import chunk, extract
from linkrag_dagster.cli.generations import activate, models, rollback
from linkrag_dagster.cli.gold import gold
from linkrag_dagster.cli.history import diff, history
from linkrag_dagster.cli.lake import catalogue, status
from linkrag_dagster.cli.project import init
from linkrag_dagster.cli.search import search
from linkrag_dagster.cli.upkeep import gc, retry


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="linkrag-dagster")
def linkrag() -> None:
    """Documents in; searchable, traceable tables out.

    Exit codes: 0 done; 1 done, with failures reported; 2 usage or declaration error; 3 refused (contract, lock,
    model); plan: 10 when there is something to do.
    """


for command in (
    init,
    build,
    plan,
    status,
    search,
    extract,
    chunk,
    catalogue,
    gold,
    evaluate,
    gc,
    retry,
    models,
    rollback,
    activate,
    history,
    diff,
):
    linkrag.add_command(command)


def main() -> None:
    """Entry point of the console script."""
    # Names and texts may hold what the terminal's encoding can't show: that is no reason to fail.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(linkrag.main(prog_name="linkrag", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("linkrag: interrupted", err=True)
        sys.exit(130)
