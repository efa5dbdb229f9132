"""`linkrag search --mode`: what is asked of the search (HY-02)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from linkrag_dagster.cli.main import linkrag
from linkrag_dagster.retrieval import search as searching
from linkrag_dagster.retrieval.search import DEFAULT_FUSION, MODES, Answer


@pytest.mark.parametrize("declared", [None, "rrf", "zscore"])
@pytest.mark.parametrize("mode", [None, *MODES])
def test_the_declared_fusion_is_asked_for(
    declared: str | None, mode: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HY-02: `--mode` names what ranks, and `retrieval.fusion` what `hybrid`, the default, is."""
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    asked: list[dict[str, Any]] = []

    def search(*_: object, **options: Any) -> Answer:
        asked.append(options)
        return Answer(False, (), "NO ANSWER", "")

    monkeypatch.setattr(searching, "search", search)
    runner = CliRunner()
    assert runner.invoke(linkrag, ["init", "harbour", "--source", "docs"]).exit_code == 0
    path = tmp_path / "assets" / "harbour" / "defs.yaml"
    if declared is not None:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        content["attributes"]["retrieval"]["fusion"] = declared
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
    ended = runner.invoke(linkrag, ["search", "harbour", "ferry", *(["--mode", mode] if mode else [])])
    assert ended.exit_code == 0, ended.output
    assert [(options["mode"], options["fusion"]) for options in asked] == [
        (mode or "hybrid", declared or DEFAULT_FUSION)
    ]


def test_an_unknown_fusion_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HY-02: a fusion that there is not is refused where it is declared."""
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    runner = CliRunner()
    assert runner.invoke(linkrag, ["init", "harbour", "--source", "docs"]).exit_code == 0
    path = tmp_path / "assets" / "harbour" / "defs.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("fusion: zscore", "fusion: mean"), encoding="utf-8"
    )
    ended = runner.invoke(linkrag, ["search", "harbour", "ferry"])
    assert ended.exit_code == 2 and "retrieval.fusion" in ended.output
