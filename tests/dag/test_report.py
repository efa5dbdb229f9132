"""What Dagster is told of a roll-back and of an activation: its UI then shows what answers (VE-07, VE-09)."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from linkrag_dagster.dag.load import load_project
from linkrag_dagster.dag.report import report_generation
from linkrag_dagster.dag.run import instance, run
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.build import build
from linkrag_dagster.stages.road import STAGE_NAMES
from linkrag_dagster.stages.roll_back import roll_back
from tests.upgrades.corpus import Corpus

pytestmark = pytest.mark.filterwarnings("ignore")
GOOD = {"ferry.md": b"# Ferry\n\nThe ferry leaves at seven.\n", "notes.txt": b"Plain words about herring.\n"}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    made = Corpus(tmp_path / "work", documents=GOOD)
    made.set("lake", str(made.root / "lake"))
    return made


def versions(root: Path) -> dict[str, str]:
    """Data version of each asset's latest event."""
    found: dict[str, str] = {}
    with instance(root) as record:
        for name in STAGE_NAMES:
            event = record.get_latest_materialization_event(dg.AssetKey(["harbour", name]))
            assert event is not None and event.asset_materialization is not None
            found[name] = (event.asset_materialization.tags or {})["dagster/data_version"]
    return found


def states(root: Path) -> dict[str, str]:
    """Stale assets as the UI shows them, each with the causes."""
    graph = load_project(root).resolve_asset_graph()
    with instance(root) as record:
        resolver = CachingStaleStatusResolver(record, graph, LoadingContextForTest(record))
        keys = {name: dg.AssetKey(["harbour", name]) for name in STAGE_NAMES}
        return {
            name: ", ".join(cause.reason for cause in resolver.get_stale_causes(key))
            for name, key in keys.items()
            if resolver.get_status(key) != StaleStatus.FRESH
        }


def test_a_generation_without_a_run_is_reported(corpus: Corpus) -> None:
    """VE-07, VE-09: each asset's latest event has the data version, rows and number of what answers, and says why."""
    corpus.build()
    corpus.edit("ferry.md", "seven", "nine")
    corpus.build()
    done = roll_back(corpus.road(), "back")
    report_generation(
        corpus.road(), done.now, done.to.run_id, {"rolled_back_to": 1, "reason": "worse answers"}
    )
    told = versions(corpus.root)
    assert told == {name: done.to.data_versions.get(name, "") for name in STAGE_NAMES}
    with instance(corpus.root) as record:
        event = record.get_latest_materialization_event(dg.AssetKey(["harbour", "chunks"]))
    assert event is not None and event.asset_materialization is not None
    metadata = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert metadata == {
        "dagster/row_count": 2,
        "generation": 3,
        "rolled_back_to": 1,
        "reason": "worse answers",
    }


def _built(corpus: Corpus) -> Generation:
    road = corpus.road()
    assert build(road, run).refused == ""
    return road.lake.current()


@pytest.mark.slow
def test_the_ui_shows_the_truth_after_a_roll_back(corpus: Corpus) -> None:
    """VE-07, VE-09: what the declaration and the source ask for beyond the generation is stale, by its cause, and no
    more; a build makes all fresh again."""
    first = _built(corpus)
    assert states(corpus.root) == {}
    corpus.set("chunking.header", False)
    corpus.edit("ferry.md", "seven", "nine")
    second = _built(corpus)
    assert states(corpus.root) == {} and versions(corpus.root)["chunks"] == second.data_versions["chunks"]

    done = roll_back(corpus.road(), "back")
    report_generation(corpus.road(), done.now, done.to.run_id, {"rolled_back_to": done.to.number})
    assert versions(corpus.root)["chunks"] == first.data_versions["chunks"]
    found = states(corpus.root)
    assert found.keys() == {"raw_documents", "chunks"}
    assert "data version" in found["raw_documents"] and "code version" in found["chunks"]

    _built(corpus)
    assert states(corpus.root) == {} and versions(corpus.root)["chunks"] == second.data_versions["chunks"]
