"""The gates of a comparison, and comparing chunkers on a corpus's own questions (ME-05, SX-02)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from linkrag_dagster.peers import Peer, Size
from linkrag_dagster.stages.set_chunks import PeerChunker, SetError
from linkrag_dagster.stages.set_comparison import SetComparison, compare_set
from linkrag_dagster.stages.set_sources import own_set
from linkrag_dagster.stages.sets import evaluate_set

from .conftest import Project
from .test_evaluation import QUESTIONS, ask
from .test_set_comparison import DOCUMENTS, folder, quiet, small

__all__ = ["folder", "small"]


def compared(project: Project, folder: Path, *strategies: str, size: str | None = None) -> SetComparison:
    return compare_set(project.road(), folder, quiet, strategies=strategies, peers=(), size=size)


def test_capabilities_are_counted(small: Project, folder: Path) -> None:
    """ME-05: a strategy by structure keeps headings with their text and cuts no table that fits; a blind one may."""
    for key in ("max_tokens", "hard_max_tokens"):
        small.set(f"chunking.{key}", 13)
    # The small encoder's window shall add no cuts.
    small.set("chunking.overflow", "vectors")
    found = compared(small, folder, "pack", "fixed:12c", "noop")
    pack, fixed, noop = found.contenders
    for one in found.contenders:
        counts = one.gates["capabilities"]
        assert one.passed and one.accounted == 1.0
        # One table; headings right above text: two of the ferry's document, one of each other.
        assert (counts["protected"], counts["headings"]) == (1, 4)
    assert (
        pack.capabilities["illegal_over_length"] == 0.0 and noop.capabilities["illegal_over_length"] is None
    )
    assert pack.gates["capabilities"]["derived"] == pack.gates["capabilities"]["derived_anchored"] > 0
    assert fixed.gates["capabilities"]["protected_cut"] == 1
    assert fixed.gates["capabilities"]["headings_attached"] < 4
    assert noop.gates["capabilities"]["headings_attached"] == 4
    assert fixed.capabilities["illegal_over_length"] == 0.0


def test_a_peer_above_its_size_is_told(small: Project, folder: Path) -> None:
    """ME-05: a chunk longer than was asked for is counted in the unit that it was asked for in."""
    road = small.road()
    whole = Peer("whole", "library", "1.0", {}, lambda text: [text])
    for size, over in ((Size(9, in_tokens=False), 3), (Size(9), 3), (Size(4000), 0)):
        chunker = PeerChunker(road, Peer("whole", "library", str(size), {}, whole.cut), size)
        result = evaluate_set(road, folder, quiet, chunker, compared=True)
        counts = result.gates["capabilities"]
        assert (counts["limited"], counts["illegal_over_length"]) == (len(DOCUMENTS), over)
        assert counts["protected_cut"] == 0 and counts["headings_attached"] == counts["headings"]


def test_a_comparison_on_the_corpus_itself(small: Project) -> None:
    """SX-02: the same documents and questions as its evaluation; the road's own chunker gives its very results."""
    ask(small, QUESTIONS)
    with pytest.raises(SetError, match="linkrag build"):
        own_set(small.road())
    small.build()
    road = small.road()
    found = compare_set(road, own_set(road), quiet, strategies=("pack", "fixed"), peers=())
    assert found.name == "harbour"
    stored = road.lake.read(road.lake.current(), "evaluation").filter(pl.col("slice") == "all")
    cells = {
        (run, metric): value for run, metric, value in stored.select("run", "metric", "value").iter_rows()
    }
    pack = found.contenders[0]
    assert pack.facts["chunks"] == road.lake.current().rows("embeddings")
    for run, figures in pack.figures.items():
        for metric, figure in figures.items():
            assert figure.value == pytest.approx(cells[run, metric]), (run, metric)
    # Known by content: asked again, nothing is measured; an edit of a document makes another set of it.
    again = compare_set(road, own_set(road), quiet, strategies=("pack",), peers=())
    assert [one.cached for one in again.contenders] == [True]
    small.write("notes.txt", "plain words about cod\n")
    small.build()
    changed = small.road()
    edited = compare_set(changed, own_set(changed), quiet, strategies=("pack",), peers=())
    assert [one.cached for one in edited.contenders] == [False]


def test_without_questions_there_is_nothing_to_compare(project: Project) -> None:
    """GO-01: what is missing is said, with where to declare it."""
    with pytest.raises(SetError, match=r"evaluation\.questions"):
        own_set(project.road())
