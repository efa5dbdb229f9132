"""Every kind of change against a full build: what was planned, what was done, what had to be done (VE-02 to VE-06)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from linkrag_dagster.embedding.model import resolve_model
from linkrag_dagster.lake import catalogue
from linkrag_dagster.stages.plan import plan_road
from linkrag_dagster.stages.road import STAGES
from linkrag_dagster.tokens import load_tokenizer

from .changes import ALL, BASE, CHANGES, Change, Rows
from .corpus import Corpus, HashEncoder
from .oracle import minimal, snapshot
from .statement import PAGE, page

KEPT = [table for stage in STAGES[1:] for table in stage.tables]
RESOLVED = cache(resolve_model)
LOADED = cache(load_tokenizer)


def _quickly(patch: pytest.MonkeyPatch) -> None:
    """Vectors from hashes, also where texts are compared; each model is read once; documents are read in place, by the
    libraries as they are patched; no catalogue, which nobody asks."""
    patch.delenv("LINKRAG_LAKE", raising=False)
    patch.setattr("linkrag_dagster.stages.scoring.Encoder", HashEncoder)
    patch.setattr("linkrag_dagster.stages.road.resolve_model", RESOLVED)
    patch.setattr("linkrag_dagster.stages.road.load_tokenizer", LOADED)
    patch.setattr("linkrag_dagster.workers.pool.needs_worker", _in_place)
    patch.setattr(catalogue, "rebuild", _no_catalogue)


def _in_place(data: bytes, path: str) -> bool:
    del data, path
    return False


def _no_catalogue(root: Path) -> Path:
    return root


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    _quickly(monkeypatch)


@dataclass(frozen=True, slots=True)
class Built:
    """The corpus after its first build, to copy; and the texts that it gave to its model."""

    root: Path
    given: frozenset[tuple[str, str]]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Made once."""
    corpus = Corpus(tmp_path_factory.mktemp("built") / "project")
    with pytest.MonkeyPatch.context() as patch:
        _quickly(patch)
        HashEncoder.given.clear()
        done = corpus.build()
    assert {n: report.rows for n, report in done.stages.items() if BASE[n] != ALL} == {
        name: rows for name, rows in BASE.items() if rows != ALL
    }
    return Built(corpus.root, frozenset(HashEncoder.given))


@pytest.fixture
def start(built: Built, tmp_path: Path) -> Iterator[Callable[[Change], tuple[Corpus, pytest.MonkeyPatch]]]:
    """Makes the corpus as a change finds it."""
    HashEncoder.given.clear()
    with pytest.MonkeyPatch.context() as patch:

        def begin(change: Change) -> tuple[Corpus, pytest.MonkeyPatch]:
            if change.before:
                corpus = Corpus(tmp_path / "project")
                for step in change.before:
                    step(corpus, patch)
                corpus.build()
            else:
                shutil.copytree(built.root, tmp_path / "project")
                HashEncoder.given.extend(built.given)
                corpus = Corpus(tmp_path / "project")
            for step in change.history:
                step(corpus, patch)
            return corpus, patch

        yield begin


@pytest.mark.parametrize(
    "change",
    [pytest.param(c, id=c.name, marks=[pytest.mark.slow] if c.slow else []) for c in CHANGES],
)
def test_a_change_recomputes_what_it_must(
    change: Change, start: Callable[[Change], tuple[Corpus, pytest.MonkeyPatch]]
) -> None:
    """VE-02, VE-03, VE-05, VE-06: the rows are those of a full build; as many were recomputed as the table says, no
    more than had to be, and what was planned; no text was embedded that was known."""
    corpus, patch = start(change)
    before = snapshot(corpus.road(), corpus.road().lake.working())
    known = len(HashEncoder.given)
    change.act(corpus, patch)
    plan = plan_road(corpus.road(), STAGES)
    result = corpus.build()
    given, embedded = set(HashEncoder.given[:known]), HashEncoder.given[known:]
    after = snapshot(corpus.road(), corpus.road().lake.current())

    for stage in STAGES:
        done, planned = result.stages[stage.name], plan.stages[stage.name]
        rows = change.rows.get(stage.name, Rows())
        stored = len(before.rows[stage.tables[0]])
        stale, removed = (stored if count == ALL else count for count in (rows.stale, rows.removed))
        said = (rows.new, stale, removed, stored - stale - removed)
        assert (done.new, done.stale, done.removed, done.unchanged) == said, stage.name
        if planned.upper_bound:
            assert done.new + done.stale + done.retried <= planned.new + planned.stale + planned.retry, (
                stage.name
            )
        else:
            assert (planned.new, planned.stale, planned.removed, planned.unchanged) == said, stage.name
    assert (result.failed, len(embedded)) == (change.failed, change.texts)
    assert result.embedded_texts == len(embedded) <= plan.texts_to_embed
    assert len(set(embedded)) == len(embedded) and not given & set(embedded)
    if change.failed:
        # A full build has no last good rows to keep.
        assert {table: after.rows[table] for table in KEPT} == {table: before.rows[table] for table in KEPT}
        return

    lake = "oracle"
    HashEncoder.given.clear()
    corpus.build(lake)
    oracle = snapshot(corpus.road(lake), corpus.road(lake).lake.current())
    assert after.rows == oracle.rows
    recomputed = {name: report.new + report.stale for name, report in result.stages.items()}
    assert recomputed == minimal(before, oracle)
    assert set(embedded) == set(HashEncoder.given) - given


def test_the_page_is_current() -> None:
    """VE-03: what is printed is what is tested."""
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tests.upgrades.statement"
