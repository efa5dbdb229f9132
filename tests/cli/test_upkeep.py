"""`linkrag gc, retry, models, rollback, activate, history, diff`: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from linkrag_dagster.cli.main import linkrag
from tests.embedding.tiny_model import build_tiny_model
from tests.stages.conftest import TEXTS, Project


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two real encoders, quick to load, of different dimensions."""
    folder = tmp_path_factory.mktemp("models")
    return {
        name: build_tiny_model(folder / name, seed=size, dimensions=size)
        for name, size in (("old", 32), ("new", 48))
    }


@pytest.fixture
def project(tmp_path: Path, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Project:
    """Four documents built twice: a document came; commands run in the project's root and find its lake."""
    made = Project(tmp_path / "work")
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)
    monkeypatch.chdir(made.root)
    for name, text in TEXTS.items():
        made.write(name, text)
    made.use(models["old"])
    made.set("lake", "../../lake")
    made.build()
    made.write("bell.md", "the bell\n")
    made.build()
    return made


def run(*arguments: str) -> Result:
    return CliRunner().invoke(linkrag, list(arguments))


def said(*arguments: str, code: int = 0) -> Any:
    """The one JSON object on standard output."""
    done = run(*arguments, "--json")
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def test_history_and_diff(project: Project) -> None:
    """VE-08: both runs, and what came with the second; an unknown run ends with 2 and names those there are."""
    runs = said("history", "harbour")["runs"]
    assert [(r["generation"], r["kept"]) for r in runs] == [(1, True), (2, True)]
    assert runs[1]["why"] == ["new document"] and runs[1]["stages"]["raw_documents"]["new"] == 1
    found = said("diff", "harbour", "1", "2")
    assert (found["from"]["generation"], found["to"]["generation"]) == (1, 2)
    assert found["settings"] == {} and found["libraries"] == [] and found["no_longer_kept"] == []
    assert found["rows"]["raw_documents"]["added"] == 1 and found["rows"]["raw_documents"]["changed"] == 0
    shown = run("diff", "harbour", "1", "2")
    assert "settings and versions: the same" in shown.stdout and "raw_documents" in shown.stdout
    assert "new document" in run("history", "harbour").stdout, run("history", "harbour").stdout
    unknown = run("diff", "harbour", "1", "7")
    assert unknown.exit_code == 2 and "no run '7' on record" in unknown.stderr


def test_gc_prints_what_went(project: Project) -> None:
    """LA-01: files and bytes by kind; a dry run removes nothing."""
    lake = project.root / "lake"
    before = len(list(lake.rglob("*.parquet")))
    planned = said("gc", "harbour", "--keep", "0", "--dry-run")
    assert planned["dry_run"] and len(list(lake.rglob("*.parquet"))) == before
    done = said("gc", "--keep", "0")
    assert {**done, "dry_run": True} == planned and done["bytes"] > 0
    corpus = done["corpora"]["harbour"]
    assert corpus["kept"] == [2] and corpus["staged"] is None
    assert corpus["removed"]["generation"]["files"] == 1 and corpus["removed"]["table"]["files"] > 0
    assert len(list(lake.rglob("*.parquet"))) == before - corpus["removed"]["table"]["files"]
    shown = run("gc")
    assert (
        shown.exit_code == 0 and "keeps generation 2" in shown.stdout and "0 bytes are free" in shown.stdout
    )
    assert run("gc", "nowhere").exit_code == 2


def test_models_and_rollback(project: Project, models: dict[str, Path]) -> None:
    """VE-07: side by side; back in one command, which says what the next build would do."""
    project.use(models["new"])
    project.build()
    found = said("models", "harbour")
    assert [(g["state"], g["dimensions"]) for g in found["generations"]] == [
        ("kept", 32),
        ("kept", 32),
        ("active", 48),
    ]
    assert all(g["covered"] == g["chunks"] > 0 for g in found["generations"])
    assert found["declared"]["active"] and found["declared"]["model"] == str(models["new"])
    assert "its index answers" in run("models", "harbour").stdout

    back = said("rollback", "harbour", "--reason", "worse answers")
    assert (back["from"], back["to"], back["generation"]) == (3, 2, 4)
    assert back["model"] == str(models["old"]) and not back["dropped_unfinished_build"]
    assert any("model" in reason for reason in back["next_build"]["embeddings"])
    assert said("plan", "harbour", code=10)["corpora"]["harbour"]["stages"]["embeddings"]["stale"] > 0
    assert said("status", "harbour")["corpora"]["harbour"]["active_model"]["dimensions"] == 32
    assert "rolled back to generation 2: worse answers" in said("history", "harbour")["runs"][-1]["why"]
    project.use(models["old"])
    shown = run("rollback", "harbour", "1")
    assert shown.exit_code == 0 and "generation 1 answers again, as generation 5" in shown.stdout
    assert "the next build goes forward again, for: new document" in shown.stdout
    assert run("rollback", "harbour", "99").exit_code == 2


def test_activation_by_hand(project: Project, models: dict[str, Path]) -> None:
    """VE-07: a build says that the new index waits; `activate` lets it answer, once."""
    project.set("embedding.activate", "manual")
    project.use(models["new"])
    built = run("build", "harbour")
    assert built.exit_code == 0 and "linkrag activate harbour" in built.stderr
    assert said("status", "harbour")["corpora"]["harbour"]["active_model"]["dimensions"] == 32
    assert "a whole generation waits" in run("models", "harbour").stdout
    done = said("activate", "harbour")
    assert (done["from"], done["generation"], done["model"]) == (2, 3, str(models["new"]))
    again = run("activate", "harbour")
    assert again.exit_code == 3 and "no whole generation waits" in again.stderr


def test_retry_marks_and_the_build_tries(project: Project) -> None:
    """FA-01: by path; what is no failed document ends with 2; plan shows the mark, the build counts the try."""
    project.write("empty.md", b"")
    assert run("build", "harbour").exit_code == 1
    assert run("plan", "harbour").exit_code == 0
    found = said("retry", "harbour", "empty.md")
    assert [d["doc_name"] for d in found["corpora"]["harbour"]["marked"]] == ["empty.md"]
    stages = said("plan", "harbour", code=10)["corpora"]["harbour"]["stages"]
    assert stages["extracted_text"]["reasons"][0]["reason"] == "marked for retry"
    assert run("build", "harbour").exit_code == 1
    failure = said("status", "harbour")["corpora"]["harbour"]["failed_documents"][0]
    assert (failure["doc_name"], failure["attempts"]) == ("empty.md", 2)
    shown = run("retry", "--kind", "empty")
    assert shown.exit_code == 0 and "linkrag build harbour" in shown.stdout
    assert "nothing was marked" in run("retry", "--kind", "corrupt").stdout
    unknown = run("retry", "harbour", "nowhere.md")
    assert unknown.exit_code == 2 and "nowhere.md" in unknown.stderr
