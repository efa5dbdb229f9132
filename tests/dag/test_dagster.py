"""Dagster's face: the graph, its versions and checks, refusals, and builds from elsewhere (PI-03, PI-04, VE-09)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.dag.assets import code_version
from linkrag_dagster.dag.load import load_project
from linkrag_dagster.dag.run import run
from linkrag_dagster.declaration import load_declaration, starter
from linkrag_dagster.stages.build import build
from linkrag_dagster.stages.chunks import Chunks
from linkrag_dagster.stages.road import STAGES, Road

pytestmark = pytest.mark.filterwarnings("ignore")
SNAPSHOT = Path(__file__).parent / "graph.json"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one corpus, with a Dagster home of its own."""
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "crane.md").write_text("# Crane\n\nThe blue crane lifts eleven tonnes.\n")
    path = folder / "assets" / "harbour" / "defs.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(starter("harbour", folder / "docs", folder))
    return folder


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


def materialise(root: Path, instance: dg.DagsterInstance, *tables: str) -> dg.ExecuteInProcessResult:
    job = load_project(root).resolve_implicit_global_asset_job_def()
    keys = [dg.AssetKey(["harbour", table]) for table in tables] or None
    return job.execute_in_process(instance=instance, asset_selection=keys, raise_on_error=False)


def road(root: Path) -> Road:
    return Road(load_declaration(root / "assets" / "harbour"))


def graph(root: Path) -> dict[str, dict[str, object]]:
    """Keys, parents, kinds, groups, checks and pools of all assets."""
    nodes = load_project(root).resolve_asset_graph().asset_nodes
    return {
        "/".join(node.key.path): {
            "parents": sorted("/".join(key.path) for key in node.parent_keys),
            "group": node.group_name,
            "kinds": sorted(node.kinds),
            "checks": sorted(key.name for key in node.check_keys),
            "pools": sorted(node.pools or ()),
        }
        for node in sorted(nodes, key=lambda node: node.key)
    }


def test_the_graph_is_what_it_was(root: Path) -> None:
    """PI-03: a snapshot of keys, parents, groups, kinds, checks and pools."""
    assert graph(root) == json.loads(SNAPSHOT.read_text())


def test_assets_tell_their_columns_and_versions(root: Path) -> None:
    """CO-01, VE-09: table schema with descriptions, code versions from the specs."""
    found = load_project(root)
    for stage in STAGES:
        node = found.resolve_asset_graph().get(dg.AssetKey(["harbour", stage.name]))
        assert node.code_version == code_version(road(root), stage)
        schema = node.metadata["dagster/column_schema"]
        assert all(column.description for column in schema.columns)


def test_the_ui_and_the_command_build_the_same(root: Path, instance: dg.DagsterInstance) -> None:
    """PI-04, VE-09: a run from the UI commits; the command then has nothing to do; counts and versions are seen."""
    result = materialise(root, instance)
    assert result.success
    event = instance.get_latest_materialization_event(dg.AssetKey(["harbour", "chunks"]))
    assert event is not None and event.asset_materialization is not None
    metadata = event.asset_materialization.metadata
    assert metadata["dagster/row_count"].value == metadata["new"].value == 1
    assert {"stale", "unchanged", "failed"} <= metadata.keys()
    again = build(road(root), run)
    assert again.plan is not None and again.plan.idle and again.generation == 1


def test_an_unchanged_run_keeps_data_versions(root: Path, instance: dg.DagsterInstance) -> None:
    """VE-03: equal rows, equal data version."""
    versions: list[list[str]] = []
    for _ in range(2):
        result = materialise(root, instance)
        events = result.get_asset_materialization_events()
        tags = [e.materialization.tags or {} for e in events]
        versions.append(sorted(t["dagster/data_version"] for t in tags))
    assert versions[0] == versions[1] and len(versions[0]) == len(STAGES)


def test_a_single_asset_leaves_search_as_it_was(root: Path, instance: dg.DagsterInstance) -> None:
    """LA-01: what search reads changes when the road is whole, not before."""
    materialise(root, instance)
    (root / "docs" / "bell.md").write_text("# Bell\n\nThe bell was cast in Odense.\n")
    assert materialise(root, instance, "raw_documents", "extracted_text").success
    lake = road(root).lake
    assert lake.current().number == 1 and lake.current().rows("raw_documents") == 1
    assert lake.staged() is not None
    assert materialise(root, instance).success
    assert lake.current().number == 2 and lake.current().rows("chunks") == 2


def test_a_refused_commit_fails_the_run_and_stops_downstream(
    root: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CO-02: the failed check is recorded with its cases, nothing is committed, nothing downstream runs."""

    def checks(self: Chunks, road: Any, generation: Any, frames: Any, keys: Any) -> Iterator[CheckResult]:
        broken = (Violation("EX-07", "", "a scripted case"),) if keys else ()
        yield CheckResult("chunks_say_where_their_words_came_from", ("EX-07",), "", 1, broken)

    monkeypatch.setattr(Chunks, "checks", checks)
    result = materialise(root, instance)
    assert not result.success
    done = {
        event.asset_key.path[-1] for event in result.get_asset_materialization_events() if event.asset_key
    }
    assert "final_chunks" in done and not done & {"chunks", "embeddings", "bm25"}
    failed = [e for e in result.get_asset_check_evaluations() if not e.passed]
    assert [e.check_name for e in failed] == ["chunks_say_where_their_words_came_from"]
    assert failed[0].severity == dg.AssetCheckSeverity.ERROR
    assert "a scripted case" in str(failed[0].metadata["cases"].value)
    assert road(root).lake.current().number == 0
