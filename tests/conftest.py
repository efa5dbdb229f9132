"""Shared fixtures: where the outside cases and oracles lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of cases and oracles, named by LINKRAG_SHARED (default: `../shared` beside the repository)."""
    folder = Path(os.environ.get("LINKRAG_SHARED", REPOSITORY / ".." / "shared")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no cases and oracles: {folder} is not a folder (set LINKRAG_SHARED)")
    return folder
