"""Where things lie: the project's root, its declarations, the lake."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from linkrag_dagster.declaration.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from linkrag_dagster.declaration.loading import LoadedDeclaration

FILE_NAME = "defs.yaml"
FOLDER = "assets"
LAKE_VARIABLE = "LINKRAG_LAKE"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
# DuckDB keeps these schemas for itself, and every corpus is a schema in the catalogue.
_RESERVED = frozenset({"information_schema", "main", "pg_catalog", "system", "temp"})
# A corpus is a folder of the lake, beside these.
_LAKE_FOLDERS = frozenset({"memo", "experiments"})


def name_problem(name: str) -> str | None:
    """Why `name` cannot name a corpus, None when it can.

    It is a folder, an asset key and a schema: letters, digits, `_` and `-`, at most 64 characters.
    """
    if _NAME.fullmatch(name) is None:
        return (
            f"the corpus's name {name!r} must be letters, digits, _ and - only, "
            "of ASCII, at most 64, and begin with a letter or digit"
        )
    if name.lower() in _RESERVED:
        return f"the name {name!r} is reserved by DuckDB; take another"
    if name.lower() in _LAKE_FOLDERS:
        return f"the name {name!r} is that of a folder that every lake has; take another"
    return None


def twin_problem(path: Path) -> str | None:
    """Why a declaration's folder cannot stand beside another one; None when it can.

    Names that differ in case alone are one schema in DuckDB, and one folder on some systems.
    """
    name = path.parent.name
    twins = sorted(
        other.parent.name
        for other in path.parent.parent.glob(f"*/{FILE_NAME}")
        if other.parent.name != name and other.parent.name.lower() == name.lower()
    )
    return f"the names {name!r} and {twins[0]!r} differ in case alone; rename one" if twins else None


def check_name(name: str) -> None:
    """Refuses a name that no corpus can have, before a folder is made of it.

    Raises:
        DeclarationError: the name does not fit.
    """
    problem = name_problem(name)
    if problem is not None:
        raise DeclarationError([Problem(f"{FOLDER}/{name}", None, None, problem)])


def find_root(start: Path) -> Path:
    """The project that `start` lies in: the nearest folder, from `start` upwards, with declarations under `assets`.

    `start` itself where there is none; a folder above that has an `assets` for something else is no project.
    """
    start = start.absolute()
    if (start / FOLDER).is_dir():
        return start
    return next((folder for folder in start.parents if find_declarations(folder)), start)


def find_declarations(root: Path) -> list[Path]:
    """All `assets/*/defs.yaml` under `root`, sorted by name; folders that start with a dot or `_` are left out."""
    return sorted(
        path for path in (root / FOLDER).glob(f"*/{FILE_NAME}") if not path.parent.name.startswith((".", "_"))
    )


def root_of(file: Path) -> Path:
    """The project's root of a declaration: the folder that holds the nearest `assets` above it.

    In another Dagster project's layout, the nearest folder with a `pyproject.toml`, else the one above the
    declaration's own.
    """
    for folder in file.parents:
        if folder.name == FOLDER:
            return folder.parent
        if (folder / "pyproject.toml").is_file():
            return folder
    return file.parent.parent


def lake_path(
    loaded: LoadedDeclaration, override: str | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """Folder (absolute) or URL of the lake.

    The strongest first: `LINKRAG_LAKE` in `environment` (default: the process's), `override` (`--lake`), `lake:` in
    the declaration, `data/lake` under the root. Relative ones are relative to the working directory for the first
    two, to the declaration's file for the third. An empty variable counts as none.
    """
    environment = os.environ if environment is None else environment
    given = environment.get(LAKE_VARIABLE) or override
    if given:
        return given if is_url(given) else str(Path(given).expanduser().absolute())
    declared = loaded.declaration.lake
    if declared is None:
        return str(loaded.root / "data" / "lake")
    return declared if is_url(declared) else os.path.realpath(loaded.path.parent / declared)


def is_url(place: str) -> bool:
    """Has `place` a scheme (`s3://bucket/lake`)? A drive letter is none."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", place) is not None
