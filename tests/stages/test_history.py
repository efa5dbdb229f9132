"""Runs on record, and why two of them differ (VE-08)."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkrag_dagster.stages.collect import collect
from linkrag_dagster.stages.history import NoSuchRun, RunRecord, difference, find_run, run_records
from linkrag_dagster.stages.roll_back import roll_back

from .conftest import Project


@pytest.fixture(autouse=True)
def _small(project: Project, small_models: dict[str, Path]) -> None:
    project.use(small_models["old"])


def records(project: Project) -> list[RunRecord]:
    return run_records(project.road().lake)


def test_every_commit_is_on_record(project: Project) -> None:
    """VE-08: generations, what was done and why, texts; a build that did nothing leaves no record."""
    assert records(project) == []
    project.build()
    project.build()
    project.write("bell.md", "the bell\n")
    project.set("lexical.k1", 1.7)
    project.build()
    first, second = records(project)
    assert (first.before, first.generation, second.before, second.generation) == (0, 1, 1, 2)
    assert second.stages["raw_documents"]["new"] == 1 and second.texts == 1
    assert second.rows("new") > 0 and second.rows("removed") == 0
    assert set(second.why) == {"new document", "k1 1.2 → 1.7"}
    assert first.kept and second.kept and first.rolled_back_to is None


def test_settings_and_rows_that_differ(project: Project) -> None:
    """VE-08: in words, by stage; rows by key, capped, provenance left out."""
    project.build()
    project.set("lexical.k1", 1.7)
    for number in range(3):
        project.write(f"bell-{number}.md", f"the bell {number}\n")
    (project.source / "crane.md").unlink()
    project.write("notes.txt", "plain words about mackerel\n")
    project.build()
    one, other = records(project)
    found = difference(project.road().lake, one, other, shown=2)
    assert found.settings == {"bm25": ["k1 1.2 → 1.7"]}
    assert found.libraries == [] and found.gone == () and not found.equal
    assert found.rows is not None
    raw = found.rows["raw_documents"]
    assert (raw.added, raw.removed, raw.changed) == (3, 1, 1)
    assert len(raw.added_keys) == 2 and len(raw.removed_keys) == 1
    road = project.road()
    names = {row["doc_name"]: key for key, row in road.documents(road.lake.current()).items()}
    assert raw.changed_keys == ((names["notes.txt"],),)
    assert found.documents is not None
    assert found.documents.as_dict() == {
        "edited": ["notes.txt"],
        "added": ["bell-0.md", "bell-1.md", "bell-2.md"],
        "removed": ["crane.md"],
        "renamed": [],
    }
    assert found.documents.words(2)[1] == "3 added (bell-0.md, bell-1.md, …)"
    back = difference(project.road().lake, other, one, shown=0)
    assert back.settings == {"bm25": ["k1 1.7 → 1.2"]} and back.rows is not None
    assert (back.rows["raw_documents"].added, back.rows["raw_documents"].removed) == (1, 3)
    assert back.rows["raw_documents"].added_keys == ()
    assert difference(project.road().lake, one, one, shown=2).equal


def test_a_generation_that_is_gone_is_named(project: Project) -> None:
    """LA-01, VE-08: settings can still be compared, rows can't."""
    project.build()
    project.set("lexical.b", 0.5)
    project.build()
    road = project.road()
    collect([road], [road], keep=0)
    one, other = records(project)
    assert (one.kept, other.kept) == (False, True)
    found = difference(project.road().lake, one, other, shown=2)
    assert found.rows is None and found.documents is None and found.gone == (1,)
    assert found.settings == {"bm25": ["b 0.75 → 0.5"]}


def test_a_roll_back_equals_what_it_went_back_to(project: Project) -> None:
    """VE-08, LA-01: the same settings, the same rows."""
    project.build()
    project.write("bell.md", "the bell\n")
    project.build()
    roll_back(project.road(), "back-to-one", reason="too early")
    one, _, back = records(project)
    assert back.rolled_back_to == 1 and back.texts == 0
    assert difference(project.road().lake, one, back, shown=5).equal


def test_runs_are_found_by_generation_or_name(project: Project) -> None:
    """A number is a generation, whatever runs are called; an unclear name is refused with what there is."""
    project.build()
    project.write("bell.md", "the bell\n")
    project.build()
    roll_back(project.road(), "2-back")
    found = records(project)
    assert find_run(found, "2").generation == 2
    assert find_run(found, "2-b").generation == 3
    with pytest.raises(NoSuchRun, match="beginning of several runs"):
        find_run(found, "test")
    for name in ("9", "nowhere", ""):
        with pytest.raises(NoSuchRun, match="last generations"):
            find_run(found, name)
