"""Killed, or refused by the disk, at every point of every write: nothing breaks, the next build goes on (FA-04)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from linkrag_dagster.cli.console import REFUSED, clear_errors
from linkrag_dagster.dag.run import INSTANCE, instance
from linkrag_dagster.disk.points import POINTS, watched
from linkrag_dagster.lake import catalogue
from tests.crash.conftest import Prepared
from tests.crash.small_corpus import (
    CONTEXT,
    SmallCorpus,
    collect_killed_at,
    contents,
    killed_at,
    shown,
    without_versions,
)

COLLECTED = ("garbage.", "swept.")
"""Points of `linkrag gc`."""
COLLECTION_POINTS = sorted(point for point in POINTS if point.startswith(COLLECTED))
BUILD_POINTS = sorted(point for point in POINTS if not point.startswith(("instance.", *COLLECTED)))
OFTEN = ("table.", "staging.", "lock.")
"""Points that a build reaches many times: what is whole then depends on how far it has come."""
PLACES = ("first", "middle", "last")


def killings() -> Iterator[ParameterSet]:
    """Point and which visit of it. By default the points of the commit, and each renaming; all where there is time."""
    for point in BUILD_POINTS:
        quick = point.startswith("manifest.") or point.endswith((".renamed", ".taken", ".dropped"))
        yield pytest.param(point, "first", marks=() if quick else pytest.mark.slow)
        if point.startswith(OFTEN):
            yield from (pytest.param(point, place, marks=pytest.mark.slow) for place in PLACES[1:])


def refusals() -> Iterator[ParameterSet]:
    """Point and error. By default a full disk where a file is written; all where there is time."""
    for point in BUILD_POINTS:
        quick = point.endswith(".written")
        yield pytest.param(point, errno.ENOSPC, id=f"{point}-full", marks=() if quick else pytest.mark.slow)
        yield pytest.param(point, errno.EROFS, id=f"{point}-read-only", marks=pytest.mark.slow)


def nothing_is_broken(corpus: SmallCorpus, prepared: Prepared) -> None:
    """The old or the new generation is whole, in the lake and in the catalogue; the next build ends right."""
    lake = corpus.lake()
    assert contents(lake) in (prepared.old, prepared.new)
    number, rows = shown(lake)
    assert without_versions(rows) == without_versions({1: prepared.old, 2: prepared.new}[number])
    assert number <= lake.current().number
    corpus.build()
    assert lake.current().number == 2 and lake.staged() is None
    assert contents(lake) == prepared.new
    assert catalogue.is_current(lake)
    assert without_versions(shown(lake)[1]) == without_versions(prepared.new)
    before = corpus.encoder.texts
    assert corpus.build().plan is not None and corpus.encoder.texts == before


@pytest.mark.parametrize(("point", "place"), list(killings()))
def test_killed_at(point: str, place: str, prepared: Prepared, changed: SmallCorpus) -> None:
    """FA-04, LA-01: SIGKILL exactly there."""
    visits = prepared.visits[point]
    visit = {"first": 1, "middle": visits // 2, "last": visits}[place]
    assert killed_at(changed.root, point, max(visit, 1)) == -9
    nothing_is_broken(changed, prepared)


@pytest.mark.parametrize(("point", "number"), list(refusals()))
def test_the_disk_refuses_at(
    point: str, number: int, prepared: Prepared, changed: SmallCorpus, capsys: pytest.CaptureFixture[str]
) -> None:
    """FA-04: exit 3, the file and what to do are named, nothing is broken."""
    refused: list[Path] = []

    def refuse(name: str, path: Path) -> None:
        if name == point and not refused:
            refused.append(path)
            raise OSError(number, os.strerror(number))

    with watched(refuse), pytest.raises(SystemExit) as end, clear_errors():
        changed.build()
    assert end.value.code == REFUSED
    said = capsys.readouterr().err
    assert str(refused[0]) in said and os.strerror(number) in said and "build again" in said
    assert not list(changed.root.rglob(".*.tmp"))
    nothing_is_broken(changed, prepared)


@pytest.fixture
def littered(changed: SmallCorpus) -> SmallCorpus:
    """Two generations, of which one is to be kept; the memo holds texts of both."""
    changed.build()
    return changed


@pytest.mark.parametrize("visit", [1, 3])
@pytest.mark.parametrize("point", COLLECTION_POINTS)
def test_a_collection_killed_at(point: str, visit: int, prepared: Prepared, littered: SmallCorpus) -> None:
    """FA-04, LA-01: what is kept stays whole, the next collection removes the rest, a build finds nothing to do."""
    # Only one block of the memo holds texts that nobody has any more.
    visit = visit if point.startswith("garbage.") else 1
    assert collect_killed_at(littered.root, point, visit) == -9
    lake = littered.lake()
    assert contents(lake) == prepared.new
    assert without_versions(shown(lake)[1]) == without_versions(prepared.new)
    for generation in lake.committed():
        assert contents(lake, generation) == (prepared.new if generation.number == 2 else prepared.old)
    littered.collect()
    assert [generation.number for generation in lake.committed()] == [2]
    assert contents(lake) == prepared.new
    named = {file.path for shards in lake.current().tables.values() for file in shards.values()}
    assert {path.relative_to(lake.folder).as_posix() for path in lake.folder.rglob("*.parquet")} == named
    before = littered.encoder.texts
    littered.build()
    assert lake.current().number == 2 and littered.encoder.texts == before


def _open_instance(root: Path, point: str) -> None:
    def kill(name: str, path: Path) -> None:
        del path
        if name == point:
            os.kill(os.getpid(), 9)

    with watched(kill), instance(root):
        pass


@pytest.mark.parametrize("point", sorted(point for point in POINTS if point.startswith("instance.")))
def test_the_dagster_instance_is_never_half_set_up(point: str, tmp_path: Path) -> None:
    """FA-04, PI-04: telemetry stays off whatever happens to the first build."""
    process = CONTEXT.Process(target=_open_instance, args=(tmp_path, point))
    process.start()
    process.join()
    assert process.exitcode == -9
    settings = tmp_path / ".dagster" / "dagster.yaml"
    assert not settings.exists() or settings.read_text(encoding="utf-8") == INSTANCE
    with instance(tmp_path) as found:
        assert not found.telemetry_enabled
    assert settings.read_text(encoding="utf-8") == INSTANCE


def test_every_listed_point_is_reached(prepared: Prepared, littered: SmallCorpus, tmp_path: Path) -> None:
    """A point that nothing reaches tests nothing, and one that is not listed is tested by nobody."""
    reached = set(prepared.visits)

    def note(point: str, path: Path) -> None:
        del path
        reached.add(point)

    with watched(note), instance(tmp_path / "home"):
        littered.collect()
    assert reached == set(POINTS)
