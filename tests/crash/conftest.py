"""A corpus with one committed generation and a source that has changed since."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from linkrag_dagster.disk.points import watched
from linkrag_dagster.lake import catalogue
from tests.crash.small_corpus import Contents, SmallCorpus, change_documents, contents, first_documents


@dataclass(frozen=True, slots=True)
class Prepared:
    """A project to copy, and what its builds are to give.

    Attributes:
        root: one generation is committed, the source has changed since.
        old: rows of the committed generation.
        new: rows of a full build of the changed source into an empty lake.
        visits: how often the next build reaches each point.
    """

    root: Path
    old: Contents
    new: Contents
    visits: dict[str, int]

    def copy(self, to: Path) -> SmallCorpus:
        """The project in a folder of its own; its catalogue names files by their absolute paths."""
        shutil.copytree(self.root, to)
        corpus = SmallCorpus(to)
        catalogue.rebuild(corpus.lake().root)
        return corpus


@pytest.fixture(autouse=True)
def _no_other_lake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Made once: the old generation, the full build of what comes after, and a build that counts its points."""
    folder = tmp_path_factory.mktemp("prepared")
    corpus = SmallCorpus(folder / "project")
    first_documents(corpus)
    corpus.build()
    old = contents(corpus.lake())
    change_documents(corpus)
    shutil.copytree(corpus.root, folder / "full")
    full = SmallCorpus(folder / "full")
    full.build("empty-lake")
    visits: dict[str, int] = {}

    def count(point: str, path: Path) -> None:
        del path
        visits[point] = visits.get(point, 0) + 1

    with watched(count):
        full.build()
    assert contents(full.lake()) == contents(full.lake("empty-lake"))
    return Prepared(corpus.root, old, contents(full.lake()), visits)


@pytest.fixture
def changed(prepared: Prepared, tmp_path: Path) -> SmallCorpus:
    """A project of one's own: one committed generation, a source that has changed since."""
    return prepared.copy(tmp_path / "project")
