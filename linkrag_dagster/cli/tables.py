"""Tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

PLAIN_WIDTH = 120


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under a title; numbers stand right. Without a terminal the table is 120 characters wide."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=PLAIN_WIDTH)
    kept = [list(row) for row in rows]
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for position, column in enumerate(columns):
        number = all(isinstance(row[position], int | float) for row in kept) and bool(kept)
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in kept:
        table.add_row(*(f"{value:.2f}" if isinstance(value, float) else str(value) for value in row))
    console.print(table)
