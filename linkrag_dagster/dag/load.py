"""All corpora of a project folder as one set of definitions, wherever the folder lies."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import ModuleType

import dagster as dg


def load_project(root: Path) -> dg.Definitions:
    """Definitions of every corpus declared under `root`/assets.

    The folder needs no Python package: it is given a module name of its own, stable for its path.
    """
    tree = dg.ComponentTree.from_module(defs_module=_module(root / "assets"), project_root=root)
    return dg.Definitions.merge(tree.build_defs(), dg.Definitions(executor=dg.in_process_executor))


def _module(folder: Path) -> ModuleType:
    name = f"linkrag_assets_{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__path__ = [str(folder)]
        module.__file__ = None
        sys.modules[name] = module
    return sys.modules[name]
