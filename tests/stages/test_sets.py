"""Sets of others under a corpus's settings: the same question is computed once, a change is compared (SX-02)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from linkrag_dagster.evaluation.gold import GoldError
from linkrag_dagster.stages.sets import SetError, change, earlier, evaluate_set

from .conftest import TEXTS, Project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents with four questions, in the form of published sets."""
    place = tmp_path / "sets" / "harbour"
    place.mkdir(parents=True)
    documents = {name: text for name, text in TEXTS.items() if name != "notes.txt"}
    asked = [
        ("q1", "ferry.md", "When does the ferry leave?", "leaves the north quay at seven"),
        ("q2", "crane.md", "Which part has code R-17?", "| hook | R-17 |"),
        ("q3", "灯.md", "灯多久转一圈？", "灯每九秒转一圈。"),
    ]
    lines: list[dict[str, object]] = [
        {
            "question_id": name,
            "doc_ids": [doc],
            "question": question,
            "evidence": [{"doc_id": doc, "from": at, "to": at + len(text), "text": text}],
        }
        for name, doc, question, text in asked
        for at in [documents[doc].index(text)]
    ]
    lines.append(
        {
            "question_id": "q4",
            "doc_ids": [],
            "question": "Who?",
            "evidence": [],
            "answerable": False,
            "unanswerable_kind": "near_miss",
        }
    )
    (place / "documents.jsonl").write_text(
        "".join(
            json.dumps({"doc_id": name, "title": "", "text": text}) + "\n" for name, text in documents.items()
        )
    )
    (place / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return place


def quiet(line: str) -> None:
    del line


def test_computed_once_by_fingerprint(project: Project, folder: Path) -> None:
    """SX-02: a second run reads what the first stored; another order of questions and files changes no figure."""
    first = evaluate_set(project.road(), folder, quiet)
    assert not first.cached
    again = evaluate_set(project.road(), folder, quiet)
    assert again.cached and again.fingerprint == first.fingerprint
    for name, frame in first.frames.items():
        assert frame.equals(again.frames[name])
    shuffled = folder.parent / "shuffled"
    shutil.copytree(folder, shuffled)
    for name in ("documents.jsonl", "questions.jsonl"):
        lines = (folder / name).read_text().splitlines(keepends=True)
        (shuffled / name).write_text("".join(reversed(lines)))
    other = evaluate_set(project.road(), shuffled, quiet)
    key = ["run", "slice", "metric"]
    assert first.frames["evaluation"].sort(key).equals(other.frames["evaluation"].sort(key))


def test_a_change_of_settings_is_compared(project: Project, folder: Path) -> None:
    """SX-01, SX-02: the settings that differ in words, twelve comparisons in one family, on the same questions."""
    before = evaluate_set(project.road(), folder, quiet)
    assert earlier(project.road(), before) is None
    project.set("chunking.header", False)
    now = evaluate_set(project.road(), folder, quiet)
    found = earlier(project.road(), now)
    assert found is not None and found.fingerprint == before.fingerprint
    told = change(found, now)
    assert told.differences == ("chunks: foreign_title drop → none", "chunks: header true → false")
    assert len(told.comparisons) == 12
    assert {row.family for row in told.comparisons} == {12}
    assert {row.needles for row in told.comparisons} == {3}


def test_the_corpus_itself_is_not_touched(project: Project, folder: Path) -> None:
    """LA-01: an experiment is no corpus, and commits nothing."""
    project.build()
    number = project.road().lake.current().number
    evaluate_set(project.road(), folder, quiet)
    assert project.road().lake.current().number == number
    assert project.build().plan is not None


def test_reference_segmentations_alone(project: Project, folder: Path) -> None:
    """ME-04: a set without questions is measured by its cuts, beside the baselines; nothing is embedded for it."""
    text = "# Ferry\n\nThe ferry leaves at seven.\n\n# Crane\n\nThe crane lifts eleven tonnes.\n"
    units = [[0, 7], [9, 35], [37, 44], [46, 76]]
    (folder / "questions.jsonl").write_text("")
    (folder / "documents.jsonl").write_text(json.dumps({"doc_id": "d", "title": "", "text": text}) + "\n")
    (folder / "segments.jsonl").write_text(
        json.dumps({"doc_id": "d", "unit": "block", "units": units, "boundaries_before_unit": [2]}) + "\n"
    )
    project.set("chunking.min_candidate_tokens", 1)
    result = evaluate_set(project.road(), folder, quiet)
    scores = {
        (method, metric): value
        for method, metric, value in result.frames["boundaries"]
        .select("method", "metric", "value")
        .iter_rows()
    }
    assert (scores["chunks", "pk"], scores["chunks", "boundary_similarity"]) == (0.0, 1.0)
    assert scores["none", "b_recall"] == 0.0
    assert not project.road().memo_folder.exists()


def test_a_folder_that_is_no_set(project: Project, folder: Path) -> None:
    """GO-04: what is missing or wrong is said by name."""
    (folder / "documents.jsonl").rename(folder / "texts.jsonl")
    with pytest.raises(SetError, match=r"documents\.jsonl"):
        evaluate_set(project.road(), folder, quiet)
    (folder / "texts.jsonl").rename(folder / "documents.jsonl")
    text = (folder / "questions.jsonl").read_text()
    (folder / "questions.jsonl").write_text(text.replace("at seven", "at eight"))
    with pytest.raises(GoldError, match="q1"):
        evaluate_set(project.road(), folder, quiet)


def test_a_given_set(project: Project, shared: Path) -> None:
    """SX-02, ME-01: at the default settings no answer of the Markdown set is destroyed."""
    result = evaluate_set(project.road(), shared / "bench" / "chroma_wikitexts_md", quiet)
    summary = result.frames["evaluation"].filter(pl.col("slice") == "all")
    destroyed = summary.filter(pl.col("metric") == "destroyed")["value"].item()
    assert destroyed == 0.0
    recall = summary.filter((pl.col("run") == "rrf") & (pl.col("metric") == "budget_recall@2048"))[
        "value"
    ].item()
    assert recall >= 0.98
