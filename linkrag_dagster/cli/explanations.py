"""`linkrag chunk --explain` and `--html`: where an explanation is printed or written."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linkrag_dagster.cli.console import write_page

if TYPE_CHECKING:
    from linkrag_dagster.chunking import ChunkSet
    from linkrag_dagster.explain.limits import Limits


def show_explanation(
    name: str, text: str, made: ChunkSet, limits: Limits, *, in_terminal: bool, page: str | None
) -> None:
    """Print the explanation of one file, write it as a page, or both.

    Args:
        name: of the file.
        text: its canonical text.
        made: its chunks.
        limits: what they were cut under.
        in_terminal: whether to print it.
        page: where to write the page; `-` for standard output, None for nowhere.
    """
    from linkrag_dagster import explain

    if in_terminal:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        width = shutil.get_terminal_size((100, 24)).columns
        click.echo(
            explain.terminal(made, text, name=name, limits=limits, width=width, colour=colour), nl=False
        )
    if page is None:
        return
    drawn = explain.page(made, text, name=Path(name).name, limits=limits)
    write_page(page, drawn, f"{explain.counted(len(made.chunks), 'chunk')} of {name}")
