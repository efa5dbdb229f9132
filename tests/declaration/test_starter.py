"""What `linkrag init` writes loads again and means the defaults (PI-01)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.declaration import Declaration, load_declaration, starter


def written(root: Path, source: Path) -> Path:
    home = root / "assets" / "x"
    home.mkdir(parents=True, exist_ok=True)
    (home / "defs.yaml").write_text(starter("x", source, root), "utf-8")
    return home / "defs.yaml"


def test_every_key_is_there_with_its_default(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    file = written(tmp_path, tmp_path / "docs")
    said = yaml.safe_load(file.read_text("utf-8"))["attributes"]
    loaded = load_declaration(file)
    assert loaded.source == (tmp_path / "docs").resolve()
    assert said["source"]["path"] == "../../docs"
    assert loaded.declaration == Declaration.model_validate({"source": {"path": "../../docs"}})
    assert set(said) == set(Declaration.model_fields)
    for name in (
        "source",
        "extraction",
        "chunking",
        "embedding",
        "lexical",
        "retrieval",
        "evaluation",
        "limits",
    ):
        assert set(said[name]) == set(loaded.declaration.model_dump()[name]), name


def test_a_source_beside_the_project_is_relative_one_far_away_absolute(tmp_path: Path) -> None:
    root, beside, far = tmp_path / "a" / "project", tmp_path / "a" / "source", tmp_path / "b"
    for folder in (root, beside, far):
        folder.mkdir(parents=True)
    assert load_declaration(written(root, beside)).declaration.source.path == "../../../source"
    loaded = load_declaration(written(root, far))
    assert loaded.declaration.source.path == str(far.resolve())


def test_a_relative_source_is_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_declaration(written(tmp_path, Path("docs"))).source == (tmp_path / "docs").resolve()


def test_links_in_the_way_do_not_lead_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er" / "project").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "docs").mkdir()
    (tmp_path / "short").symlink_to(tmp_path / "deep" / "er" / "project")
    source = tmp_path / "deep" / "er" / "docs"
    assert load_declaration(written(tmp_path / "short", source)).source == source.resolve()


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_odd_names_are_quoted_right(name: str) -> None:
    if name in (".", "..") or len(os.fsencode(name)) > 200:
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / name).mkdir()
        assert load_declaration(written(root / "p", root / name)).source == (root / name).resolve()
