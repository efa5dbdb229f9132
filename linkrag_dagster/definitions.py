"""The code location of this repository: every corpus declared under `assets/`."""

from pathlib import Path

from linkrag_dagster.dag.load import load_project
from linkrag_dagster.declaration import find_root

defs = load_project(find_root(Path.cwd()))
