"""A project in a temporary folder, and builds of it without Dagster: the road itself is under test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from linkrag_dagster.declaration import load_declaration, starter
from linkrag_dagster.stages.build import BuildResult, build
from linkrag_dagster.stages.finish import finish
from linkrag_dagster.stages.road import Road
from linkrag_dagster.stages.stage import Refused
from tests.embedding.tiny_model import build_tiny_model

TEXTS = {
    "ferry.md": "# Ferry\n\n## Summer\n\nThe ferry to Lundholm leaves the north quay at seven.\n\n"
    "## Winter\n\nIn winter only the Saturday crossing runs, and a red pennant tells passengers.\n",
    "crane.md": "# Crane rules\n\nThe blue crane lifts at most eleven tonnes.\n\n"
    "| part | code |\n| --- | --- |\n| hook | R-17 |\n",
    "notes.txt": "plain words about herring\n\n# no heading here\n",
    "灯.md": "# 灯塔\n\n灯每九秒转一圈。看守每天擦拭棱镜，并记下每一块破损的玻璃。\n",
}


SMALL_CHUNKS = {
    "chunking.tokenizer": "cl100k_base",
    "chunking.max_tokens": 8,
    "chunking.min_candidate_tokens": 4,
    "chunking.hard_max_tokens": 8,
    "chunking.header": False,
}
"""Chunks that fit the small models' window, and do not depend on the model."""


def run_here(road: Road, stages: Sequence[str], source_digest: str) -> bool:
    """Stages one after another, as Dagster's face runs them."""
    del source_digest
    for name in stages:
        try:
            road.reports[name] = road.materialise(name, lambda line: None)
        except Refused as refused:
            road.reports[name] = refused.report
            return False
    finish(road, "test-run")
    return True


class Project:
    """A declared corpus with its source and lake."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = root / "docs"
        self.source.mkdir(parents=True)
        self.declaration = root / "assets" / "harbour" / "defs.yaml"
        self.declaration.parent.mkdir(parents=True)
        self.declaration.write_text(starter("harbour", self.source, root), encoding="utf-8")

    def write(self, name: str, content: str | bytes) -> None:
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def set(self, key: str, value: object) -> None:
        declared = yaml.safe_load(self.declaration.read_text(encoding="utf-8"))
        at = declared["attributes"]
        *path, last = key.split(".")
        for part in path:
            at = at.setdefault(part, {})
        at[last] = value
        self.declaration.write_text(yaml.safe_dump(declared, allow_unicode=True), encoding="utf-8")

    def use(self, model: Path) -> None:
        """Declare a small model, with chunks that fit its window."""
        for key, value in SMALL_CHUNKS.items():
            self.set(key, value)
        self.set("embedding.model", str(model))

    def road(self, lake: str = "lake", *, allow_empty: bool = False) -> Road:
        return Road(load_declaration(self.declaration), lake=self.root / lake, allow_empty=allow_empty)

    def build(self, lake: str = "lake", *, allow_empty: bool = False) -> BuildResult:
        return build(self.road(lake, allow_empty=allow_empty), run_here)


@pytest.fixture(autouse=True)
def _no_other_lake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Four small documents: Markdown, a table, plain text, Chinese."""
    made = Project(tmp_path / "work")
    for name, text in TEXTS.items():
        made.write(name, text)
    return made


@pytest.fixture
def empty_project(tmp_path: Path) -> Callable[[], Project]:
    """Makes a project without documents."""
    return lambda: Project(tmp_path / "bare")


@pytest.fixture(scope="session")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two real encoders, quick to load, of different dimensions and weights: `old` has 32, `new` has 48."""
    folder = tmp_path_factory.mktemp("models")
    return {
        name: build_tiny_model(folder / name, seed=seed, dimensions=dimensions)
        for seed, (name, dimensions) in enumerate({"old": 32, "new": 48}.items())
    }
