"""`linkrag gold check` over a small lake: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from linkrag_dagster.cli.main import linkrag
from linkrag_dagster.declaration import load_declaration, starter
from linkrag_dagster.stages.road import Road

TEXTS = {
    "ferry.md": "# Ferry\n\nThe ferry to Lundholm leaves the north quay at seven.\n",
    "old/crane.md": "# Crane rules\n\nThe blue crane lifts at most eleven tonnes.\nThe red one lifts four.\n",
}
SOUND = (
    {
        "question_id": "crane-doc",
        "needle_id": "crane",
        "phrasing": "doc",
        "question": "How much does the blue crane lift?",
        "evidence": [{"doc": "old/crane.md", "text": "at most eleven tonnes. The red one"}],
    },
    {
        "question_id": "crane-ticket",
        "needle_id": "crane",
        "phrasing": "ticket",
        "question": "Is my load too heavy?",
        "evidence": [{"doc": "old/crane.md", "text": "at most eleven tonnes. The red one"}],
    },
    {
        "question_id": "far",
        "question": "Who sang?",
        "answerable": False,
        "unanswerable_kind": "out_of_domain",
    },
)


class Project:
    """A declared corpus whose texts and elements are built."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.declaration = root / "assets" / "harbour" / "defs.yaml"
        self.questions = self.declaration.parent / "questions.jsonl"
        self.declaration.parent.mkdir(parents=True)
        (root / "docs" / "old").mkdir(parents=True)
        self.declaration.write_text(starter("harbour", root / "docs", root), encoding="utf-8")
        for name, text in TEXTS.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        (self.root / "docs" / name).write_text(text, encoding="utf-8")

    def ask(self, *rows: dict[str, Any]) -> None:
        self.questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    def declare(self) -> None:
        declared = yaml.safe_load(self.declaration.read_text(encoding="utf-8"))
        declared["attributes"]["evaluation"] = {"questions": ["questions.jsonl"]}
        self.declaration.write_text(yaml.safe_dump(declared), encoding="utf-8")

    def build(self) -> None:
        road = Road(load_declaration(self.declaration))
        for stage in ("raw_documents", "extracted_text", "elements"):
            road.materialise(stage, lambda line: None)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two documents, built, with sound questions declared; commands run in its root."""
    monkeypatch.delenv("LINKRAG_LAKE", raising=False)
    made = Project(tmp_path)
    made.ask(*SOUND)
    made.declare()
    made.build()
    monkeypatch.chdir(tmp_path)
    return made


def gold_check(*arguments: str) -> Result:
    return CliRunner().invoke(linkrag, ["gold", "check", *arguments])


def test_sound_questions_end_with_0(project: Project) -> None:
    """GO-01: needles are found across line ends; JSON stands alone on standard output."""
    done = gold_check("harbour", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["corpora"]["harbour"]
    assert found["findings"] == [] == found["left_out"]
    assert (found["questions"], found["usable"], found["needles"]) == (3, 3, 1)
    assert found["unanswerable"] == {"out_of_domain": 1}
    shown = gold_check()
    assert shown.exit_code == 0 and "unanswerable: out_of_domain" in shown.stdout


def test_findings_end_with_1_and_name_their_question(project: Project) -> None:
    """GO-01: what is wrong, where, and what to quote instead."""
    wrong = {
        "question_id": "bad",
        "question": "?",
        "evidence": [
            {"doc": "ferry.md", "text": "Ferry\n"},
            {"doc": "ferry.md", "text": "leaves the south quay at seven."},
            {"doc": "fery.md", "text": "no such words"},
        ],
    }
    project.ask(*SOUND, wrong)
    done = gold_check("--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)["corpora"]["harbour"]
    assert [(f["field"], f["kind"]) for f in found["findings"]] == [
        ("evidence[0]", "heading"),
        ("evidence[1]", "missing"),
        ("evidence[2]", "unknown_document"),
    ]
    assert found["left_out"] == [{"question_id": "bad", "kinds": ["heading", "missing", "unknown_document"]}]
    assert found["findings"][1]["places"][0]["doc_name"] == "ferry.md"
    shown = gold_check()
    assert shown.exit_code == 1
    assert "assets/harbour/questions.jsonl:4: missing bad evidence[1]: " in shown.stdout
    assert "leaves the north quay at seven." in shown.stdout


def test_a_changed_document_makes_its_needle_stale(project: Project) -> None:
    """GO-01: reported, and left out, after the document was edited and built again."""
    text = "leaves the north quay at seven."
    start = TEXTS["ferry.md"].index(text)
    row = {
        "question_id": "ferry",
        "question": "When?",
        "evidence": [{"doc": "ferry.md", "text": text, "from": start, "to": start + len(text)}],
    }
    project.ask(row)
    assert gold_check().exit_code == 0
    project.write("ferry.md", TEXTS["ferry.md"].replace("seven", "eight"))
    project.build()
    done = gold_check("--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)["corpora"]["harbour"]
    assert found["left_out"] == [{"question_id": "ferry", "kinds": ["stale"]}]
    assert found["usable"] == 0


def test_questions_of_a_file(project: Project, tmp_path: Path) -> None:
    """`--questions` replaces what is declared, several times if wanted; ids are unique over all files."""
    (tmp_path / "more.jsonl").write_text(json.dumps(SOUND[2]), encoding="utf-8")
    done = gold_check("harbour", "--questions", "more.jsonl", "--json")
    assert json.loads(done.stdout)["corpora"]["harbour"]["questions"] == 1
    both = gold_check("--questions", "more.jsonl", "--questions", str(project.questions))
    assert both.exit_code == 2
    assert "more.jsonl:1: question_id: question 'far' stands already at assets/harbour" in both.stderr


def test_bad_gold_ends_with_2_and_names_every_fault(project: Project) -> None:
    """GO-04: refused by name."""
    project.questions.write_text('{"question_id": "a"}\nnonsense\n', encoding="utf-8")
    done = gold_check()
    assert done.exit_code == 2 and done.stdout == ""
    for fault in (
        "questions.jsonl:1: evidence: missing",
        "questions.jsonl:1: question: missing",
        "jsonl:2: not JSON",
    ):
        assert fault in done.stderr
    project.questions.unlink()
    assert "can't be read" in gold_check().stderr


def test_a_corpus_without_texts_says_what_to_run(project: Project, tmp_path: Path) -> None:
    """Nothing is concluded from a lake that holds no texts."""
    done = gold_check("harbour", "--lake", str(tmp_path / "empty"))
    assert done.exit_code == 3
    assert "linkrag build harbour" in done.stderr


def test_a_corpus_without_questions(project: Project) -> None:
    """The declaration's line is named; without any name there is nothing to do, which is said."""
    declared = yaml.safe_load(project.declaration.read_text(encoding="utf-8"))
    del declared["attributes"]["evaluation"]
    project.declaration.write_text(yaml.safe_dump(declared), encoding="utf-8")
    named = gold_check("harbour")
    assert named.exit_code == 2
    assert "assets/harbour/defs.yaml:1: evaluation.questions: no questions" in named.stderr
    alone = gold_check()
    assert alone.exit_code == 2 and "--questions FILE" in alone.stderr
    assert gold_check("nowhere").exit_code == 2
