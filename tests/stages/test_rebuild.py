"""What partial rebuilds leave alone, and what their plan says (VE-02 to VE-06); all kinds of change: tests/upgrades."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.extraction.html import HTML_EXTRACTOR, HtmlExtractor
from linkrag_dagster.stages.build import BuildResult
from linkrag_dagster.stages.road import STAGES, Road

from .conftest import Project


def rows(road: Road) -> dict[str, dict[tuple[object, ...], str]]:
    """Content of every row of the current generation, by table and key; vectors rounded."""
    generation = road.lake.current()
    found: dict[str, dict[tuple[object, ...], str]] = {}
    for stage in STAGES:
        for table in stage.tables:
            rules = contract(table, dimensions=road.dimensions)
            frame = road.lake.read(generation, table, dimensions=road.dimensions)
            frame = frame.select(rules.content_columns)
            if "vector" in frame.columns:
                frame = frame.with_columns(pl.col("vector").arr.to_list().list.eval(pl.element().round(3)))
            found[table] = {
                tuple(row[k] for k in rules.key): repr(sorted(row.items()))
                for row in frame.iter_rows(named=True)
            }
    return found


def files(lake: Path) -> dict[str, tuple[int, int]]:
    """Files of a lake with size and time; lock files are no files of the lake (VE-06)."""
    return {
        str(p.relative_to(lake)): (p.stat().st_size, p.stat().st_mtime_ns)
        for p in lake.rglob("*")
        if p.is_file() and not p.name.endswith(".lock")
    }


def edit(project: Project) -> None:
    path = project.source / "ferry.md"
    path.write_text(path.read_text().replace("Saturday", "Sunday"))


def rename(project: Project) -> None:
    (project.source / "old").mkdir()
    (project.source / "crane.md").rename(project.source / "old" / "crane.md")


def add(project: Project) -> None:
    project.write("bell.md", "# Fog bell\n\nThe fog bell was cast in Odense.\n")


def copy(project: Project) -> None:
    project.write("copy/ferry.md", (project.source / "ferry.md").read_bytes())


def delete(project: Project) -> None:
    (project.source / "crane.md").unlink()


def line_ends(project: Project) -> None:
    path = project.source / "ferry.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def header_off(project: Project) -> None:
    project.set("chunking.header", False)


def test_a_second_build_writes_nothing(project: Project) -> None:
    """VE-06: no row, no text, no file; a touched file changes nothing."""
    project.build()
    lake = project.root / "lake"
    before = files(lake)
    os.utime(project.source / "ferry.md", (40_000_000, 40_000_000))
    result = project.build()
    assert files(lake) == before
    assert result.plan is not None and result.plan.idle
    assert result.embedded_texts == 0
    assert all(r.new == r.stale == r.removed == 0 for r in result.stages.values())


def test_one_paragraph_is_one_document_and_one_text(project: Project) -> None:
    """VE-06: only the document's rows, only the text that changed."""
    project.set("chunking.min_candidate_tokens", 4)
    project.build()
    edit(project)
    result = project.build()
    assert (result.stages["raw_documents"].stale, result.stages["raw_documents"].unchanged) == (1, 3)
    assert result.embedded_texts == 1
    assert result.stages["embeddings"].new == 1 and result.stages["embeddings"].stale == 0


def test_line_ends_stop_at_the_text(project: Project) -> None:
    """VE-03: recomputed to the same content, nothing after `extracted_text` is stale."""
    project.build()
    line_ends(project)
    result = project.build()
    assert result.stages["extracted_text"].stale == 1
    for name in ("elements", "coarse_chunks", "final_chunks", "chunks", "embeddings", "bm25"):
        assert (result.stages[name].new, result.stages[name].stale, result.stages[name].removed) == (0, 0, 0)


@pytest.mark.parametrize("change", [rename, copy, delete], ids=lambda change: change.__name__)
def test_known_texts_are_not_embedded_again(project: Project, change: Callable[[Project], None]) -> None:
    """VE-06, EM-02, PI-05: a rename, a copy and a deletion embed nothing."""
    project.build()
    change(project)
    assert project.build().embedded_texts == 0


def test_the_plan_is_kept(project: Project) -> None:
    """VE-05: a build computes no more than its plan said, and exactly that for `raw_documents`."""
    project.build()
    edit(project)
    add(project)
    rename(project)
    result = project.build()
    assert result.plan is not None
    for name, report in result.stages.items():
        planned = result.plan.stages[name]
        computed = report.new + report.stale + report.retried
        said = planned.new + planned.stale + planned.retry
        assert computed <= said, name
        if name == "raw_documents":
            assert computed == said and report.removed == planned.removed
    assert result.embedded_texts <= result.plan.texts_to_embed


def test_reasons_name_what_changed(project: Project) -> None:
    """VE-05: the reason of a stale row is the setting, with both values."""
    project.build()
    header_off(project)
    plan = project.build().plan
    assert plan is not None
    (reason,) = plan.stages["chunks"].reasons
    assert "header true → false" in reason.split(", ")
    assert plan.stages["coarse_chunks"].stale == 0


def test_limits_and_schedule_belong_to_no_spec(project: Project) -> None:
    """VE-01."""
    project.build()
    project.set("limits.failed_documents", 0.9)
    project.set("schedule", "0 2 * * *")
    project.set("retrieval.k", 9)
    result = project.build()
    assert result.plan is not None and result.plan.idle


def _computed(result: BuildResult) -> dict[str, int]:
    return {name: report.new + report.stale + report.retried for name, report in result.stages.items()}


def test_changed_and_changed_back(project: Project) -> None:
    """VE-03, VE-06: the second change is a change like any other, and embeds nothing that was known."""
    project.build()
    before = rows(project.road())
    header_off(project)
    project.build()
    project.set("chunking.header", True)
    result = project.build()
    assert rows(project.road()) == before
    assert result.embedded_texts == 0
    assert _computed(result)["coarse_chunks"] == _computed(result)["final_chunks"] == 0


def test_deleted_and_restored(project: Project) -> None:
    """VE-06, FA-03: what comes back is computed again and embeds nothing; the others are left alone."""
    project.build()
    before = rows(project.road())
    text = (project.source / "crane.md").read_bytes()
    delete(project)
    project.build()
    project.write("crane.md", text)
    result = project.build()
    assert rows(project.road()) == before
    assert _computed(result)["raw_documents"] == _computed(result)["extracted_text"] == 1
    assert result.embedded_texts == 0


def test_an_upgrade_of_one_library_touches_its_documents_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VE-02, VE-03, VE-05: only the formats it reads are read again; equal words stop it there; the reason names it."""
    project.write(
        "page.html", "<html><body><h1>Lamp</h1><p>The lamp turns every nine seconds.</p></body></html>"
    )
    project.build()
    kept = HTML_EXTRACTOR.libraries

    def upgraded(self: HtmlExtractor) -> dict[str, str]:
        del self
        return {**kept(), "justhtml": "99.0"}

    monkeypatch.setattr(HtmlExtractor, "libraries", upgraded)
    result = project.build()
    computed = _computed(result)
    assert computed.pop("extracted_text") == 1
    assert set(computed.values()) == {0} and result.embedded_texts == 0
    assert result.plan is not None
    (reason,) = result.plan.stages["extracted_text"].reasons
    assert reason.startswith("justhtml ") and reason.endswith("→ 99.0")
