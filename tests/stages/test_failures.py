"""One bad document costs no other (FA-01, FA-03, CO-03, XT-11)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.lake.status import corpus_status
from linkrag_dagster.sources.errors import SourceUnreachable
from linkrag_dagster.stages.chunks import Chunks
from linkrag_dagster.stages.documents import EmptySource

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
