"""Chunkers in one experiment: equal conditions, gates first, one declared family (SX-01, SX-02, ME-05)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from linkrag_dagster.peers import Peer, PeerMissing, PeerTools, Size, UnknownPeer
from linkrag_dagster.stages import set_comparison
from linkrag_dagster.stages.experiment import RUNS
from linkrag_dagster.stages.set_chunks import PeerChunker, SetError, peer_tools, token_slices, within_window
from linkrag_dagster.stages.set_comparison import SetComparison, compare_set, road_with
from linkrag_dagster.stages.sets import earlier, evaluate_set

from .conftest import TEXTS, Project

DOCUMENTS = {name: text for name, text in TEXTS.items() if name != "notes.txt"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents with a question each."""
    place = tmp_path / "sets" / "harbour"
    place.mkdir(parents=True)
    asked = [
        ("q1", "ferry.md", "When does the ferry leave?", "leaves the north quay at seven"),
        ("q2", "crane.md", "Which part has code R-17?", "| hook | R-17 |"),
        ("q3", "灯.md", "灯多久转一圈？", "灯每九秒转一圈。"),
    ]
    (place / "questions.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "question_id": name,
                    "doc_ids": [doc],
                    "question": question,
                    "evidence": [{"doc_id": doc, "from": at, "to": at + len(text), "text": text}],
                }
            )
            + "\n"
            for name, doc, question, text in asked
            for at in [DOCUMENTS[doc].index(text)]
        )
    )
    (place / "documents.jsonl").write_text(
        "".join(
            json.dumps({"doc_id": name, "title": "", "text": text}) + "\n" for name, text in DOCUMENTS.items()
        )
    )
    return place


@pytest.fixture
def small(project: Project, small_models: dict[str, Path]) -> Project:
    """A corpus with a small encoder."""
    project.use(small_models["old"])
    return project


def quiet(line: str) -> None:
    del line


def lines(text: str) -> list[str]:
    """A peer's cut that holds all words."""
    return text.split("\n")


def first_line(text: str) -> list[str]:
    """A peer's cut that loses all other lines."""
    return text.split("\n")[:1]


def shouting(text: str) -> list[str]:
    """A peer's cut that changes its words."""
    return [line.upper() for line in text.split("\n")]


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three peers of two versions, and one whose library is absent; what was loaded."""
    cuts: dict[str, Callable[[str], Sequence[str]]] = {
        "lines": lines,
        "first_line": first_line,
        "shouting": shouting,
    }
    asked: list[str] = []

    def load(name: str, size: Size, tools: PeerTools) -> Peer:
        asked.append(f"{name} {size}")
        if name == "absent":
            raise PeerMissing("absent is not installed; run: pip install 'linkrag-dagster[peers]'")
        return Peer(name, "library", "1.0", {"size": str(size)}, cuts[name])

    monkeypatch.setattr(set_comparison, "PEERS", (*cuts, "absent"))
    monkeypatch.setattr(set_comparison, "load_peer", load)
    return asked


def test_one_family_of_ours_with_sound_peers(small: Project, folder: Path, peers: list[str]) -> None:
    """SX-01, ME-05: peers that lose or change source are shown and compared with none; the family is what it says."""
    found = compare_set(small.road(), folder, quiet, strategies=("pack", "fixed", "pack:6"))
    assert [one.label for one in found.contenders] == [
        "pack",
        "fixed",
        "pack:6",
        "lines",
        "first_line",
        "shouting",
    ]
    assert [one.kind for one in found.contenders] == ["ours", "comparison", "ours", "peer", "peer", "peer"]
    by_label = {one.label: one for one in found.contenders}
    assert [label for label, one in by_label.items() if not one.passed] == ["first_line", "shouting"]
    assert by_label["shouting"].facts["inexact_chunks"] > 0 == by_label["lines"].facts["inexact_chunks"]
    assert by_label["first_line"].facts["lost_characters"] > 0 == by_label["pack"].facts["lost_characters"]
    assert found.best == dict.fromkeys(RUNS, "lines")
    assert "pip install" in found.missing["absent"]
    assert {(row.run_a, row.run_b) for row in found.comparisons} == {
        (f"{run} {own}", f"{run} lines") for run in RUNS for own in ("pack", "pack:6")
    }
    assert {row.family for row in found.comparisons} == {2 * len(RUNS)}
    assert found.with_best == found.comparisons
    assert "lines 8" in peers


def test_measured_once(
    small: Project, folder: Path, peers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SX-02: nothing is measured twice, a peer's other version is; no comparison is an earlier result of the corpus."""

    def asked() -> SetComparison:
        return compare_set(small.road(), folder, quiet, strategies=("pack",), peers=("lines",))

    assert not any(one.cached for one in asked().contenders)
    again = asked()
    assert all(one.cached for one in again.contenders)
    assert earlier(small.road(), evaluate_set(small.road(), folder, quiet)) is None

    def newer(name: str, size: Size, tools: PeerTools) -> Peer:
        return Peer(name, "library", "2.0", {"size": str(size)}, lines)

    monkeypatch.setattr(set_comparison, "load_peer", newer)
    changed = asked()
    assert [one.cached for one in changed.contenders] == [True, False]
    assert changed.contenders[1].figures == again.contenders[1].figures


def test_a_long_chunk_is_embedded_by_its_beginning(small: Project, folder: Path, peers: list[str]) -> None:
    """A peer is no reason to refuse: what the encoder can't see is counted."""
    road = small.road()
    whole = Peer("whole", "library", "1.0", {}, lambda text: [text])
    result = evaluate_set(road, folder, quiet, PeerChunker(road, whole), compared=True)
    assert result.facts["truncated_chunks"] > 0 and result.facts["chunks"] == len(DOCUMENTS)
    for text in DOCUMENTS.values():
        seen = within_window(text, road.encoder_tokenizer, road.model.window)
        most = road.model.window - road.model.special_tokens
        assert text.startswith(seen) and 0 < road.encoder_tokenizer.count(seen) <= most


def test_lent_tools(small: Project) -> None:
    """Token slices are the text; vectors are unit vectors, one a text, the same for the same text."""
    road = small.road()
    tools = peer_tools(road, quiet)
    for text in (*DOCUMENTS.values(), "", "👩‍👩‍👧 é 𝒳"):
        assert "".join(token_slices(text, road.tokenizer)) == text
        assert len(tools.pieces(text)) <= tools.count(text)
    vectors = tools.embed(["ferry", DOCUMENTS["ferry.md"] * 9, "ferry"])
    assert vectors.shape == (3, tools.dimensions) and (vectors[0] == vectors[2]).all()


def test_what_cannot_be_is_said_first(small: Project, folder: Path, peers: list[str]) -> None:
    """Unknown strategies, sizes and peers by name, before anything is computed."""
    road = small.road()
    with pytest.raises(SetError, match="'packk': strategy"):
        compare_set(road, folder, quiet, strategies=("packk",))
    with pytest.raises(SetError, match="counts tokens"):
        compare_set(road, folder, quiet, strategies=("pack:512c",))
    with pytest.raises(UnknownPeer, match="512c"):
        compare_set(road, folder, quiet, strategies=("pack:big",))
    with pytest.raises(PeerMissing):
        compare_set(road, folder, quiet, strategies=("pack",), peers=("absent",))
    assert not (road.lake_root / "experiments").exists()


def test_a_road_with_another_size(small: Project) -> None:
    """Sizes of strategies that count in another unit, limits that follow the size."""
    small.set("chunking.hard_max_tokens", 20)
    small.set("chunking.max_tokens", 20)
    small.set("chunking.min_candidate_tokens", 15)
    road = small.road()
    smaller = road_with(road, "pack", Size(10)).settings
    assert (smaller.min_candidate_tokens, smaller.max_tokens, smaller.hard_max_tokens) == (10, 10, 20)
    fixed = road_with(road, "fixed", Size(90, in_tokens=False)).settings.comparison
    assert (fixed.usual_size, fixed.in_tokens) == (90, False)
    assert road_with(road, "fixed").settings.comparison.usual_size == 20
    assert road.settings.strategy == "pack" and road.settings.max_tokens == 20
    sized = Size(90, in_tokens=False)
    ablation = road_with(road, "ablation_b", sized).settings.comparison
    assert (ablation.size, ablation.unit) == (90, None)
    with pytest.raises(SetError, match="'paragraph' counts tokens"):
        road_with(road, "paragraph", sized)


def test_a_road_without_the_settings_of_the_declared_strategy(small: Project) -> None:
    """SX-02: another strategy takes what it has of the declared settings, and leaves what it has not."""
    small.set("chunking.strategy", "fixed")
    small.set("chunking.size", 90)
    small.set("chunking.overlap", 10)
    small.set("chunking.header", False)
    road = small.road()
    packed = road_with(road, "pack").settings
    assert (packed.header, packed.comparison.size, packed.comparison.overlap) == (False, None, None)
    recursive = road_with(road, "recursive").settings.comparison
    assert (recursive.size, recursive.overlap) == (90, 10)
