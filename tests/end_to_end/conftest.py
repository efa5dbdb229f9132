"""The command as a user runs it: a process, a folder, an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-c", "from linkrag_dagster.cli import main; main()"]


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """A folder to run `linkrag` in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k not in ("LINKRAG_LAKE", "DAGSTER_HOME")}
        return {**kept, "PYTHONWARNINGS": "ignore", "COLUMNS": "160"}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def linkrag(self, *arguments: str) -> Done:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        return Done(process.returncode, out, err)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder with three small documents in `docs`."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "crane.md").write_text(
        "# Crane rules\n\nThe blue crane lifts at most eleven tonnes, error `E0412`.\n"
    )
    (docs / "ferry.md").write_text("# Ferry\n\nThe ferry to Lundholm leaves the north quay at seven.\n")
    (docs / "lamp.md").write_text("# 灯塔\n\n灯每九秒转一圈。看守每天擦拭棱镜。\n")
    return Shell(tmp_path)
