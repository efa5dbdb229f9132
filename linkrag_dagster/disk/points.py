"""Every point at which a write can be interrupted, by name: the one list (FA-04).

`reach` stands at each of them and does nothing. Tests hang a kill or an error there (`watched`); no setting and no
variable of the environment can, so that what runs in production is what was tested.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

FILES: Mapping[str, str] = MappingProxyType(
    {
        "table": "a shard of a table: no manifest names it yet",
        "block": "a block of the memo of vectors",
        "staging": "the staged generation: the next stage goes on from it",
        "generation": "a generation under its number",
        "manifest": "the current generation: its renaming is the commit",
        "catalogue": "warehouse.duckdb",
        "instance": "the settings of the Dagster instance",
    }
)
"""Kinds of files that are written whole, each with the points of `STEPS`."""
STEPS: Mapping[str, str] = MappingProxyType(
    {
        "begin": "nothing is written",
        "written": "the file beside is written, not synced",
        "synced": "the file beside is synced, and does not have its name",
        "renamed": "it has its name, its folder is not synced",
        "durable": "it survives a loss of power",
    }
)
"""Steps of writing a file whole."""
OTHERS: Mapping[str, str] = MappingProxyType(
    {
        "lock.take": "the lock is about to be taken",
        "lock.taken": "it is held, and does not say by whom",
        "lock.signed": "it says by whom",
        "lock.release": "it is about to be given back",
        "lock.released": "it has been given back",
        "staging.drop": "the generation is committed, its staging file still there",
        "staging.dropped": "its staging file is gone",
        "garbage.drop": "a file that no kept generation names is about to go",
        "garbage.dropped": "it is gone",
        "swept.drop": "a block of the memo is about to go; what stays of it lies in a new one",
        "swept.dropped": "it is gone",
    }
)
POINTS: Mapping[str, str] = MappingProxyType(
    {f"{kind}.{step}": f"{what}: {then}" for kind, what in FILES.items() for step, then in STEPS.items()}
    | OTHERS
)
"""All points with what has happened when they are reached."""

Watcher = Callable[[str, Path], None]
_watcher: Watcher | None = None


def reach(point: str, path: Path) -> None:
    """Be at a point of writing `path`."""
    if _watcher is not None:
        _watcher(point, path)


@contextmanager
def watched(watcher: Watcher) -> Generator[None]:
    """Call `watcher` with every point that this process reaches, and the file it is about: for tests.

    What the watcher raises is raised where the point stands, as if the write itself had failed there.
    """
    global _watcher
    before, _watcher = _watcher, watcher
    try:
        yield
    finally:
        _watcher = before
