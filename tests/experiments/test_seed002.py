"""Seed 002 as a shipped example: its 12 records, its edge cases, its refusals (SE-01)."""

from __future__ import annotations

import copy
import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.experiments.seed002 import example, run, table
from linkrag_dagster.experiments.seed002.__main__ import main
from linkrag_dagster.experiments.seed002.chunks import paragraphs, windows

DATA = Path(__file__).parent / "data"
EDGE_CASES = json.loads((DATA / "edge_cases.json").read_text(encoding="utf-8"))
Json = dict[str, Any]


def _chosen(case: Json) -> Json:
    """The first question's record of the experiment that a case means."""
    for record in run(case["fixture"]):
        if (
            record["strategy"] == case.get("strat", "fixed")
            and record["selection"] == case.get("sel", "topk")
            and not record["versionFilter"]
        ):
            return record["questions"][0]
    raise AssertionError(f"no such experiment: {case}")


def test_the_shipped_fixture_yields_the_seeds_records() -> None:
    """SE-01: 12 records, each question's ranking, selection, cost and recall exact."""
    expected = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
    assert len(expected) == 12
    assert run(example()) == expected


def test_what_ships_is_the_oracle(shared: Path) -> None:
    """SE-01: the copies here say what the oracle says."""
    oracle = shared / "oracles" / "seed002"
    assert example() == json.loads((oracle / "fixture.json").read_text(encoding="utf-8"))
    for name in ("expected.json", "edge_cases.json"):
        assert (DATA / name).read_bytes() == (oracle / name).read_bytes()


@pytest.mark.parametrize(
    "case", [c for c in EDGE_CASES if c["expected"] != "error"], ids=lambda case: case["case"]
)
def test_edge_cases(case: Json) -> None:
    """GO-02, GO-04, ST-01, ME-03: joint cover, a missing character, versions, OR groups, ties, an empty denominator."""
    got = _chosen(case)
    got = {**got, "selected": [list(place.values()) for place in got["selected"]]}
    assert {name: got[name] for name in case["expected"]} == case["expected"]


@pytest.mark.parametrize(
    "case", [c for c in EDGE_CASES if c["expected"] == "error"], ids=lambda case: case["case"]
)
def test_refused_edge_cases(case: Json) -> None:
    """GO-04: bad gold and bad parameters are refused."""
    with pytest.raises(ValueError, match=": "):
        run(case["fixture"])


def _span(fixture: Json) -> Json:
    return fixture["questions"][0]["facts"][0]["groups"][0][0]


BAD: dict[str, tuple[Callable[[Json], object], str]] = {
    "no documents": (lambda f: f.update(documents=[]), "documents is empty"),
    "no questions": (lambda f: f.update(questions=[]), "questions is empty"),
    "questions are no list": (lambda f: f.update(questions={}), "questions is a dict"),
    "params are null": (lambda f: f.update(params=None), "params is null"),
    "no params": (lambda f: f.pop("params"), "lacks 'params'"),
    "no current versions": (lambda f: f.pop("currentVersions"), "lacks 'currentVersions'"),
    "a document without text": (lambda f: f["documents"][1].pop("text"), r"documents\[1\] lacks 'text'"),
    "a text that is none": (lambda f: f["documents"][1].update(text=7), r"documents\[1\]: text is a int"),
    "a nameless document": (lambda f: f["documents"][1].update(docId=""), r"documents\[1\]: docId is empty"),
    "a document that is none": (lambda f: f["documents"].append("x"), r"documents\[5\] is a str"),
    "a question without query": (lambda f: f["questions"][0].pop("query"), "'boundary-condition' lacks 'query'"),
    "a question without facts": (lambda f: f["questions"][3].pop("facts"), "'no-evidence' lacks 'facts'"),
    "a fact without groups": (lambda f: f["questions"][0]["facts"][0].pop("groups"), "'r17-rule' lacks 'groups'"),
    "no group": (lambda f: f["questions"][0]["facts"][0].update(groups=[]), "'r17-rule': groups is empty"),
    "an empty group": (lambda f: f["questions"][0]["facts"][0].update(groups=[[]]), r"groups\[0\] is empty"),
    "an unknown version": (lambda f: _span(f).update(version="v9"), "no document 'retry' version 'v9'"),
    "past the end": (lambda f: _span(f).update(end=244), r"\[100, 244\) is no span .* 243 characters"),
    "before the start": (lambda f: _span(f).update(start=-1), "start is -1"),
    "backwards": (lambda f: _span(f).update(start=179), r"\[179, 178\)"),
    "an offset that is none": (lambda f: _span(f).update(start=100.0), r"start is 100\.0"),
    "a span without end": (lambda f: _span(f).pop("end"), "lacks 'end'"),
    "overlap of the whole window": (lambda f: f["params"].update(overlap=120), "overlap is 120"),
    "negative overlap": (lambda f: f["params"].update(overlap=-1), "overlap is -1"),
    "no budget": (lambda f: f["params"].update(charBudget=0), "charBudget is 0"),
    "a truth for a number": (lambda f: f["params"].update(topK=True), "topK is True"),
    "a fraction of a size": (lambda f: f["params"].update(fixedSize=1.5), r"fixedSize is 1\.5"),
    "a current version that is none": (lambda f: f["currentVersions"].update(logs="v9"), "'logs' version 'v9'"),
    "a current version of nothing": (lambda f: f["currentVersions"].update(x="v1"), "'x' version 'v1'"),
    "no current version": (lambda f: f["currentVersions"].pop("logs"), "currentVersions lacks 'logs'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refusals(name: str) -> None:
    """GO-04: each kind of bad fixture is refused with its place."""
    change, words = BAD[name]
    fixture = example()
    change(fixture)
    with pytest.raises(ValueError, match=words):
        run(fixture)


def test_a_fixture_that_is_none() -> None:
    """GO-04: JSON that is no object."""
    nothing: Any = []
    with pytest.raises(ValueError, match="the fixture is a list"):
        run(nothing)


def test_the_input_is_left_alone() -> None:
    """Running changes nothing in the fixture."""
    fixture = example()
    before = copy.deepcopy(fixture)
    run(fixture)
    assert fixture == before


@st.composite
def fixtures(draw: st.DrawFn) -> Json:
    """Small fixtures with ties, several versions, blank lines and evidence anywhere."""
    words = st.sampled_from(["a", "bb", "a-b", "A", "\n\n", " ", "\r\n", "。", "x"])
    names = draw(st.lists(st.sampled_from(["a", "b", "\ue000", "\U00010000"]), min_size=1, unique=True))
    documents: list[Json] = []
    for doc_id in names:
        for version in draw(st.sampled_from([["v1"], ["v1", "v2"], ["v10", "v2", "v1"]])):
            text = "".join(draw(st.lists(words, min_size=1, max_size=20)))
            documents.append({"docId": doc_id, "version": version, "text": text})
    questions: list[Json] = []
    for i in range(draw(st.integers(1, 4))):
        facts: list[Json] = []
        for j in range(draw(st.integers(0, 3))):
            groups: list[list[Json]] = []
            for _ in range(draw(st.integers(1, 2))):
                group: list[Json] = []
                for _ in range(draw(st.integers(1, 2))):
                    document = draw(st.sampled_from(documents))
                    start = draw(st.integers(0, len(document["text"]) - 1))
                    end = draw(st.integers(start + 1, len(document["text"])))
                    group.append({**document, "start": start, "end": end})
                groups.append(group)
            facts.append({"id": f"f{j}", "groups": groups})
        questions.append(
            {"id": f"q{i}", "query": draw(st.sampled_from(["a", "a bb", "zz", "A-B x"])), "facts": facts}
        )
    size = draw(st.integers(1, 12))
    return {
        "params": {
            "fixedSize": size,
            "overlap": draw(st.integers(0, size - 1)),
            "topK": draw(st.integers(1, 4)),
            "charBudget": draw(st.integers(1, 30)),
        },
        "currentVersions": {name: draw(st.sampled_from([d["version"] for d in documents if d["docId"] == name]))
                            for name in names},
        "documents": documents,
        "questions": questions,
    }  # fmt: skip


def _by_question(records: list[Json]) -> list[Json]:
    return [
        {**record, "questions": sorted(record["questions"], key=lambda q: q["questionId"])}
        for record in records
    ]


@given(fixtures(), st.randoms(use_true_random=False))
def test_order_changes_no_result(fixture: Json, random_order: random.Random) -> None:
    """GO-04: shuffled documents and questions give the same records, question by question."""
    shuffled = copy.deepcopy(fixture)
    random_order.shuffle(shuffled["documents"])
    random_order.shuffle(shuffled["questions"])
    assert _by_question(run(shuffled)) == _by_question(run(fixture))


@given(fixtures())
def test_what_every_record_holds(fixture: Json) -> None:
    """GO-02, GO-04, ME-03: against plain counting of single characters."""
    texts = {(d["docId"], d["version"]): d["text"] for d in fixture["documents"]}
    for record in run(fixture):
        recalls: list[float] = []
        for question, result in zip(fixture["questions"], record["questions"], strict=True):
            handed = [
                (c["docId"], c["version"], i) for c in result["selected"] for i in range(c["start"], c["end"])
            ]
            shown = set(handed)
            held = [
                fact["id"]
                for fact in question["facts"]
                if any(
                    all(
                        (s["docId"], s["version"], i) in shown for s in g for i in range(s["start"], s["end"])
                    )
                    for g in fact["groups"]
                )
            ]
            assert result["coveredFacts"] == held
            assert result["contextChars"] == len(handed)
            assert result["uniqueSourceChars"] == len(shown)
            assert result["duplicateSourceChars"] == len(handed) - len(shown)
            if question["facts"]:
                recalls.append(len(held) / len(question["facts"]))
            else:
                assert result["evidenceRecall"] is None
            for chunk in result["ranked"]:
                text = texts[chunk["docId"], chunk["version"]]
                assert chunk["text"] == text[chunk["start"] : chunk["end"]]
                assert chunk["score"] == len(chunk["matched"]) >= 1
                assert (
                    not record["versionFilter"]
                    or fixture["currentVersions"][chunk["docId"]] == chunk["version"]
                )
            if record["selection"] == "topk":
                assert len(result["selected"]) == min(len(result["ranked"]), fixture["params"]["topK"])
            else:
                assert result["contextChars"] <= fixture["params"]["charBudget"]
                left = fixture["params"]["charBudget"]
                for place, chunk in enumerate(result["ranked"], start=1):
                    length = chunk["end"] - chunk["start"]
                    refused = [s for s in result["skipped"] if s["rank"] == place]
                    assert [(s["remaining"], s["chars"]) for s in refused] == (
                        [(left, length)] if length > left else []
                    )
                    left -= length if length <= left else 0
            assert len(result["selected"]) + len(result["skipped"]) == len(result["ranked"])
        assert record["answerableQuestions"] == len(recalls)
        macro = record["macroEvidenceRecall"]
        assert (macro is None) == (not recalls)
        if macro is not None:
            top, _, bottom = macro.partition("/")
            assert int(top) / int(bottom or 1) == pytest.approx(sum(recalls) / len(recalls))


def test_ids_sort_as_in_javascript() -> None:
    """SE-01: ties go by UTF-16 units, in which an astral character stands before U+E000."""
    fixture: Json = {
        "params": {"fixedSize": 9, "overlap": 0, "topK": 1, "charBudget": 9},
        "currentVersions": {"\ue000": "v", "\U00010000": "v"},
        "documents": [{"docId": name, "version": "v", "text": "key"} for name in ("\ue000", "\U00010000")],
        "questions": [{"id": "q", "query": "key", "facts": []}],
    }
    assert [c["docId"] for c in run(fixture)[0]["questions"][0]["ranked"]] == ["\U00010000", "\ue000"]


@given(st.text("ab", max_size=60), st.integers(1, 20), st.data())
def test_windows(text: str, size: int, data: st.DataObject) -> None:
    """ST-01: full windows at even steps, all text, and only the last reaches the end."""
    overlap = data.draw(st.integers(0, size - 1))
    spans = windows(text, size, overlap)
    assert {i for start, end in spans for i in range(start, end)} == set(range(len(text)))
    assert all(end - start == size for start, end in spans[:-1])
    assert all(end < len(text) for _, end in spans[:-1])
    assert all(right[0] - left[0] == size - overlap for left, right in itertools.pairwise(spans))


@given(st.text("a \t\n\r\u2028", max_size=40))
def test_paragraphs(text: str) -> None:
    """ST-08: the runs of lines that are not blank, found by going line by line."""
    want: list[list[int]] = []
    at, joined = 0, False
    for line in text.replace("\r\n", "\0\n").replace("\r", "\n").split("\n"):
        body = line.removesuffix("\0")
        if body.strip():
            if joined:
                want[-1][1] = at + len(body)
            else:
                want.append([at, at + len(body)])
        joined = bool(body.strip())
        at += len(line) + 1
    assert [list(span) for span in paragraphs(text)] == want


def test_the_table() -> None:
    """SE-01: 12 aligned rows under a head."""
    lines = table(run(example())).splitlines()
    assert len(lines) == 13
    assert lines[0].split() == [
        "strategy", "versions", "selection",
        "boundary-condition", "two-facts", "current-version", "no-evidence", "macro",
    ]  # fmt: skip
    assert lines[7].split() == ["overlap", "current", "topk", "1", "1/2", "1", "-", "5/6"]
    assert len({len(line) for line in lines}) == 1
    assert table([]).split() == ["strategy", "versions", "selection", "macro"]


def test_the_command() -> None:
    """SE-01: the module runs and prints the table."""
    done = subprocess.run(
        [sys.executable, "-m", "linkrag_dagster.experiments.seed002"], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout == table(run(example())) + "\n"
    assert done.stderr == ""


def test_the_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """SE-01: one JSON object, alone on standard output."""
    assert main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"records": run(example())}


def test_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """GO-04: another fixture may be given; a bad or missing one ends with 2 and the reason."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({**example(), "questions": []}), encoding="utf-8")
    assert main([str(path)]) == 2
    assert main([str(tmp_path / "none.json")]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert "mine.json: questions is empty" in out.err
    assert "none.json" in out.err
