"""One bad document costs no other (FA-01, FA-03, CO-03, XT-11)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.lake.status import corpus_status
from linkrag_dagster.sources.errors import SourceUnreachable
from linkrag_dagster.stages.chunks import Chunks
from linkrag_dagster.stages.documents import EmptySource
from linkrag_dagster.stages.road import STAGES
from linkrag_dagster.stages.stage import Computed, DocumentFailure
from linkrag_dagster.stages.text import ExtractedText

from .conftest import Project

GBK = "港口办公室每天清晨登记进港的船只，记录船主、货物和泊位。书记员中午和傍晚各核对一次账簿。" * 4
GOOD = (
    "raw_documents",
    "extracted_text",
    "elements",
    "coarse_chunks",
    "final_chunks",
    "chunks",
    "embeddings",
    "bm25",
)


def chunk_owners(project: Project) -> set[str]:
    road = project.road()
    generation = road.lake.current()
    names = {key: row["doc_name"] for key, row in road.documents(generation).items()}
    return {
        names[key] for key in road.lake.read(generation, "chunks", columns=["doc_key"])["doc_key"].unique()
    }


def test_hostile_files_fail_by_name_and_the_rest_is_built(project: Project) -> None:
    """XT-11, FA-01: empty, too large, one long line, GBK, random bytes, among good documents."""
    project.write("empty.md", b"")
    project.write("large.md", b"word " * 4_200_000)
    project.write("line.md", "one line without an end " * 20_000)
    project.write("gbk.md", GBK.encode("gbk"))
    project.write("noise.md", random.Random(7).randbytes(4096))
    project.write("blank.md", " \n\t\n")
    project.set("limits.failed_documents", 1.0)
    project.set("lexical.analyzer", "reference")
    result = project.build()
    failures = corpus_status(project.road().lake).failures
    assert result.failed == 4
    assert failures.pop("empty") == failures.pop("too_large") == failures.pop("no_text") == 1
    assert set(failures) <= {"decode", "unsupported"} and sum(failures.values()) == 1
    assert {"line.md", "gbk.md", "ferry.md", "灯.md"} <= chunk_owners(project)
    road = project.road()
    texts = road.lake.read(road.lake.current(), "extracted_text", columns=["text"])["text"].to_list()
    assert GBK in texts
    assert not any("\ufffd" in text for text in texts)


def test_an_old_failure_is_not_tried_again(project: Project) -> None:
    """FA-01: a build with an old failure computes nothing; another content of the file is tried."""
    project.write("soon.md", b"")
    project.build()
    again = project.build()
    assert again.plan is not None and again.plan.idle and again.failed == 1
    project.write("soon.md", "# Pilot boats\n\nTwo pilot boats lie ready.\n")
    healed = project.build()
    assert healed.failed == 0 and "soon.md" in chunk_owners(project)


def test_a_failed_document_keeps_its_last_good_rows(project: Project) -> None:
    """FA-01: all its tables stay of one piece, the raw row tells the new bytes."""
    project.build()
    road = project.road()
    before = {
        t: road.lake.read(road.lake.current(), t, columns=["doc_key"]).height for t in ("chunks", "elements")
    }
    project.write("ferry.md", b"")
    result = project.build()
    assert result.failed == 1 and result.stages["raw_documents"].stale == 1
    road = project.road()
    after = {
        t: road.lake.read(road.lake.current(), t, columns=["doc_key"]).height for t in ("chunks", "elements")
    }
    assert after == before
    assert "ferry.md" in chunk_owners(project)


def test_a_broken_contract_fails_its_document_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CO-03: the document's rows are not committed, the failure shows the cases, the others go on."""
    _break_chunks_of(monkeypatch, "herring")
    result = project.build()
    failed = corpus_status(project.road().lake).failed
    assert result.failed == 1 and not result.refused
    assert (failed[0]["kind"], failed[0]["stage"], failed[0]["doc_name"]) == (
        "contract",
        "chunks",
        "notes.txt",
    )
    assert "EX-07" in failed[0]["message"] and "EX-07" in failed[0]["cases"]
    assert "notes.txt" not in chunk_owners(project) and "ferry.md" in chunk_owners(project)
    for table in GOOD[1:-1]:
        road = project.road()
        keys = road.lake.read(road.lake.current(), table, columns=["doc_key"])["doc_key"].to_list()
        assert failed[0]["doc_key"] not in keys


def test_a_contract_failure_keeps_text_and_chunks_together(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FA-01, EX-07: the text goes back with the chunks, so that every slice still holds."""
    project.build()
    _break_chunks_of(monkeypatch, "mackerel")
    project.write("notes.txt", "plain words about mackerel\n")
    project.build()
    road = project.road()
    generation = road.lake.current()
    joined = road.lake.read(generation, "chunks").join(
        road.lake.read(generation, "extracted_text", columns=["doc_key", "text"]),
        on="doc_key",
        suffix="_canonical",
    )
    assert joined.height
    for row in joined.iter_rows(named=True):
        assert (
            not row["verbatim"]
            or row["text_canonical"][row["start_char"] : row["end_char"]] == row["content"]
        )
    assert any("herring" in text for text in joined["text_canonical"].to_list())


def test_too_many_failures_refuse_the_commit(empty_project: Callable[[], Project]) -> None:
    """CO-03: above limits.failed_documents, counted from ten documents up, nothing is committed."""
    project = empty_project()
    for number in range(7):
        project.write(f"good-{number}.md", f"# Day {number}\n\nShips came in.\n")
    for number in range(3):
        project.write(f"bad-{number}.md", b"")
    result = project.build()
    assert "3 of 10 documents failed" in result.refused
    assert project.road().lake.current().number == 0


def test_an_empty_source_deletes_only_when_told(project: Project) -> None:
    """FA-03."""
    project.build()
    for path in project.source.iterdir():
        path.unlink()
    with pytest.raises(EmptySource, match="--allow-empty"):
        project.build()
    assert corpus_status(project.road().lake).rows["chunks"] > 0
    project.build(allow_empty=True)
    assert set(corpus_status(project.road().lake).rows.values()) == {0}


def test_an_unreachable_source_changes_nothing(project: Project) -> None:
    """FA-03."""
    project.build()
    road = project.road()
    project.source.rename(project.root / "away")
    with pytest.raises(SourceUnreachable):
        road.source(road.lake.current(), fresh=True)
    assert corpus_status(road.lake).rows["raw_documents"] == 4


def test_two_documents_of_one_id_are_a_named_failure(project: Project) -> None:
    """PI-05."""
    project.write("a.md", "---\nid: same\n---\n\n# A\n\nOne.\n")
    project.write("b.md", "---\nid: same\n---\n\n# B\n\nTwo.\n")
    project.build()
    failed = corpus_status(project.road().lake).failed
    assert [f["kind"] for f in failed] == ["source"] and "a.md" in failed[0]["message"]
    assert "a.md" in chunk_owners(project)


def test_the_highest_declared_version_is_current(project: Project) -> None:
    """PI-05: 1.10 comes after 1.9."""
    for version in ("1.9", "1.10"):
        project.write(
            f"v{version}.md", f'---\nid: guide\nversion: "{version}"\n---\n\n# Guide\n\nText {version}.\n'
        )
    project.build()
    road = project.road()
    found = road.lake.read(road.lake.current(), "raw_documents").filter(pl.col("doc_id") == "guide")
    assert dict(found.select("version", "current").iter_rows()) == {"1.9": False, "1.10": True}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=() if name in ("extracted_text", "final_chunks", "chunks") else pytest.mark.slow
        )
        for name in (stage.name for stage in STAGES[1:] if not stage.whole_corpus)
    ],
)
def test_a_failure_at_any_stage_keeps_the_last_good_rows(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """FA-01, CO-03: every row of every table stays, what else changed is committed, now and in the build after."""
    project.build()
    before = _rows_of(project, "ferry.md")
    stage = next(stage for stage in STAGES if stage.name == name)
    kept = type(stage).compute
    key = next(key for key, row in _documents(project).items() if row["doc_name"] == "ferry.md")

    def compute(self: Any, road: Any, generation: Any, keys: Any, progress: Any) -> Computed:
        done = kept(self, road, generation, [k for k in keys if k != key], progress)
        failed = [DocumentFailure(key, "embedding", "made to fail")] if key in keys else []
        return replace(done, failures=[*done.failures, *failed])

    monkeypatch.setattr(type(stage), "compute", compute)
    project.write("ferry.md", "# Ferry\n\nThe ferry leaves the south quay at nine.\n")
    project.write("crane.md", "# Crane rules\n\nThe green crane lifts at most twelve tonnes.\n")
    result = project.build()
    assert result.failed == 1 and not result.refused
    assert project.road().lake.staged() is None
    for _ in range(2):
        assert _rows_of(project, "ferry.md") == before
        assert any("green crane" in row for row in _rows_of(project, "crane.md")["chunks"])
        again = project.build()
        assert again.plan is not None and again.plan.idle
    monkeypatch.setattr(type(stage), "compute", kept)
    project.write("ferry.md", "# Ferry\n\nThe ferry leaves the south quay at ten.\n")
    assert project.build().failed == 0
    assert any("at ten" in row for row in _rows_of(project, "ferry.md")["chunks"])


def test_a_file_that_changes_while_the_build_runs_costs_no_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CO-03, FA-01: the rest is committed, once; the next build looks at that file again."""
    project.build()
    kept = ExtractedText.compute
    turn = iter(range(100))

    def compute(self: ExtractedText, road: Any, generation: Any, keys: Any, progress: Any) -> Computed:
        project.write("notes.txt", f"a log with {next(turn)} lines more\n")
        return kept(self, road, generation, keys, progress)

    monkeypatch.setattr(ExtractedText, "compute", compute)
    project.write("notes.txt", "a log\n")
    project.write("crane.md", "# Crane rules\n\nThe green crane lifts at most twelve tonnes.\n")
    assert project.build().failed == 1
    lake = project.road().lake
    assert lake.current().number == 2 and lake.staged() is None
    assert any("green crane" in row for row in _rows_of(project, "crane.md")["chunks"])
    monkeypatch.setattr(ExtractedText, "compute", kept)
    assert project.build().failed == 0
    assert any("lines more" in row for row in _rows_of(project, "notes.txt")["chunks"])


def _documents(project: Project) -> dict[str, dict[str, Any]]:
    road = project.road()
    return road.documents(road.lake.current())


def _rows_of(project: Project, name: str) -> dict[str, list[str]]:
    """Every row of a document in every table after the source, as text; what marks it as stale is no part of it."""
    road = project.road()
    generation = road.lake.current()
    keys = [key for key, row in _documents(project).items() if row["doc_name"] == name]
    return {
        table: sorted(
            repr(row)
            for row in road.lake.read(
                generation, table, doc_keys=keys, dimensions=road.dimensions
            ).iter_rows()
        )
        for stage in road.document_stages
        for table in stage.tables
    }


def _break_chunks_of(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """A contract that documents with `word` break."""
    kept = Chunks.checks

    def checks(self: Chunks, road: Any, generation: Any, frames: Any, keys: Any) -> Iterator[CheckResult]:
        yield from kept(self, road, generation, frames, keys)
        broken = frames["chunks"].filter(pl.col("content").str.contains(word))
        yield CheckResult(
            "scripted", ("EX-07",), "", 0, tuple(Violation("EX-07", k, "scripted") for k in broken["doc_key"])
        )

    monkeypatch.setattr(Chunks, "checks", checks)
