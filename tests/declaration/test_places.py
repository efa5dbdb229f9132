"""Where the project, its declarations and its lake lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkrag_dagster.declaration import (
    DeclarationError,
    check_name,
    find_declarations,
    find_root,
    lake_path,
    load_declaration,
    starter,
)


def project(tmp_path: Path, lake: str | None = None) -> Path:
    (tmp_path / "docs").mkdir(exist_ok=True)
    home = tmp_path / "assets" / "x"
    home.mkdir(parents=True, exist_ok=True)
    text = "type: linkrag_dagster.Corpus\nattributes:\n  source: {path: ../../docs}\n"
    (home / "defs.yaml").write_text(text + (f"  lake: {lake}\n" if lake else ""))
    return home / "defs.yaml"


def test_lake_the_strongest_wins(tmp_path: Path) -> None:
    """interfaces.md: the variable, then `--lake`, then the declaration, then data/lake."""
    plain, declared = (
        load_declaration(project(tmp_path)),
        load_declaration(project(tmp_path, "../../elsewhere")),
    )
    nothing: dict[str, str] = {}
    assert lake_path(plain, None, nothing) == str(tmp_path / "data" / "lake")
    assert lake_path(declared, None, nothing) == str((tmp_path / "elsewhere").resolve())
    assert lake_path(declared, "/given", nothing) == "/given"
    assert lake_path(declared, "/given", {"LINKRAG_LAKE": "/variable"}) == "/variable"
    assert lake_path(declared, "/given", {"LINKRAG_LAKE": ""}) == "/given"
    assert lake_path(plain, "relative", nothing) == str(Path.cwd() / "relative")


def test_lake_urls_stay_as_they_are(tmp_path: Path) -> None:
    loaded = load_declaration(project(tmp_path, "s3://bucket/lake"))
    assert lake_path(loaded, None, {}) == "s3://bucket/lake"
    assert lake_path(loaded, "s3://other/lake", {}) == "s3://other/lake"


def test_lake_reads_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKRAG_LAKE", str(tmp_path / "env"))
    assert lake_path(load_declaration(project(tmp_path))) == str(tmp_path / "env")


def test_root_is_found_from_below(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "docs" / "deep").mkdir()
    assert find_root(tmp_path / "docs" / "deep") == tmp_path
    assert find_root(tmp_path / "assets" / "x") == tmp_path


def test_without_a_project_the_start_is_the_root(tmp_path: Path) -> None:
    assert find_root(tmp_path) == tmp_path


def test_someone_elses_assets_above_are_no_project(tmp_path: Path) -> None:
    (tmp_path / "assets" / "images").mkdir(parents=True)
    (tmp_path / "new").mkdir()
    assert find_root(tmp_path / "new") == tmp_path / "new"


def test_declarations_are_found_sorted(tmp_path: Path) -> None:
    project(tmp_path)
    for name in ("b", "a", ".hidden", "__pycache__", "empty"):
        (tmp_path / "assets" / name).mkdir()
        if name != "empty":
            (tmp_path / "assets" / name / "defs.yaml").write_text("")
    assert [path.parent.name for path in find_declarations(tmp_path)] == ["a", "b", "x"]
    assert find_declarations(tmp_path / "docs") == []


def test_a_declaration_in_another_projects_layout(tmp_path: Path) -> None:
    """PI-01: the component works the same from any other Dagster project."""
    (tmp_path / "assets" / "other").mkdir(parents=True)
    (tmp_path / "assets" / "other" / "pyproject.toml").write_text("")
    home = tmp_path / "assets" / "other" / "defs" / "x"
    home.mkdir(parents=True)
    (home / "docs").mkdir()
    (home / "defs.yaml").write_text("type: linkrag_dagster.Corpus\nattributes: {source: {path: docs}}\n")
    assert load_declaration(home).root == tmp_path / "assets" / "other"


def test_names(tmp_path: Path) -> None:
    """PI-01: a corpus is a folder of the lake, a schema of DuckDB and an asset key of Dagster: ASCII, and not taken."""
    for name in ("handbook", "v2-docs", "a_b"):
        check_name(name)
    for name in ("", "a/b", "..", "a b", "手册", "memo", "experiments", "information_schema"):
        with pytest.raises(DeclarationError):
            check_name(name)


def test_names_that_differ_in_case_alone(tmp_path: Path) -> None:
    """PI-01: they would be one schema in the catalogue."""
    for name in ("base", "BASE"):
        folder = tmp_path / "assets" / name
        folder.mkdir(parents=True)
        (folder / "defs.yaml").write_text(starter(name, tmp_path, tmp_path), encoding="utf-8")
    with pytest.raises(DeclarationError, match="differ in case alone"):
        load_declaration(tmp_path / "assets" / "base")
