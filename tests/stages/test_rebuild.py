"""Partial rebuilds against an oracle: a full build into an empty lake, row by row (VE-02, VE-03, VE-06)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.extraction.html import HTML_EXTRACTOR, HtmlExtractor
from linkrag_dagster.stages.build import BuildResult
from linkrag_dagster.stages.embeddings import Embeddings
from linkrag_dagster.stages.road import STAGES, Road
from linkrag_dagster.stages.stage import Computed

from .conftest import Project

Change = Callable[[Project], None]
_lakes = itertools.count()


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


def full_build(project: Project) -> dict[str, dict[tuple[object, ...], str]]:
    """The oracle."""
    lake = f"oracle-{next(_lakes)}"
    project.build(lake)
    return rows(project.road(lake))


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


def other_constants(project: Project) -> None:
    project.set("lexical.k1", 1.7)


def smaller_chunks(project: Project) -> None:
    project.set("chunking.max_tokens", 24)
    project.set("chunking.min_candidate_tokens", 8)


def two_at_once(project: Project) -> None:
    edit(project)
    header_off(project)


def exclude(project: Project) -> None:
    project.set("source.exclude", ["*.txt"])


def retitle(project: Project) -> None:
    path = project.source / "ferry.md"
    path.write_text(path.read_text().replace("# Ferry\n", "# Southern ferry\n", 1))


def other_analyzer(project: Project) -> None:
    project.set("lexical.analyzer", "reference")


def other_tokenizer(project: Project) -> None:
    project.set("chunking.tokenizer", "cl100k_base")
    for name, tokens in (("min_candidate_tokens", 16), ("max_tokens", 48), ("hard_max_tokens", 96)):
        project.set(f"chunking.{name}", tokens)


def overlap(project: Project) -> None:
    smaller_chunks(project)
    project.set("chunking.overlap_tokens", 8)


def by_meaning(project: Project) -> None:
    smaller_chunks(project)
    project.set("chunking.strategy", "semantic_depth_window")


def by_structure_alone(project: Project) -> None:
    project.set("chunking.strategy", "noop")


def for_comparison(project: Project) -> None:
    project.set("chunking.strategy", "fixed")
    project.set("chunking.size", 60)


CHANGES: list[Change] = [
    edit,
    rename,
    add,
    delete,
    line_ends,
    header_off,
    other_constants,
    smaller_chunks,
    two_at_once,
]


SLOW_CHANGES: list[Change] = [
    copy,
    exclude,
    retitle,
    other_analyzer,
    other_tokenizer,
    overlap,
    by_meaning,
    by_structure_alone,
    for_comparison,
]


@pytest.mark.parametrize(
    "change",
    [*CHANGES, *(pytest.param(change, marks=pytest.mark.slow) for change in SLOW_CHANGES)],
    ids=lambda change: change.__name__,
)
def test_a_changed_corpus_equals_a_full_build(project: Project, change: Change) -> None:
    """VE-06, VE-05: the lake after a change is the lake of a full build, and counts say by key what came and went."""
    project.build()
    before = rows(project.road())
    change(project)
    result = project.build()
    after = rows(project.road())

    assert after == full_build(project)
    for stage in STAGES:
        table = stage.tables[0]
        report = result.stages[stage.name]
        assert report.new == len(after[table].keys() - before[table].keys()), table
        assert report.removed == len(before[table].keys() - after[table].keys()), table
        changed = sum(
            before[table][key] != after[table][key] for key in before[table].keys() & after[table].keys()
        )
        assert report.stale >= changed, table
        assert report.rows == len(after[table]), table


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
def test_known_texts_are_not_embedded_again(project: Project, change: Change) -> None:
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
    assert list(plan.stages["chunks"].reasons) == ["header true → false"]
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


def test_an_upgrade_while_a_build_was_interrupted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """FA-04, VE-06: what was staged for other settings is not taken for today's; the end is that of a full build."""
    project.build()
    edit(project)
    header_off(project)
    stopped = Embeddings.compute

    def stop(self: Embeddings, *arguments: object) -> Computed:
        raise KeyboardInterrupt

    monkeypatch.setattr(Embeddings, "compute", stop)
    with pytest.raises(KeyboardInterrupt):
        project.build()
    monkeypatch.setattr(Embeddings, "compute", stopped)
    assert project.road().lake.staged() is not None
    add(project)
    project.set("chunking.header", True)
    project.set("lexical.k1", 1.7)
    project.build()
    assert rows(project.road()) == full_build(project)
