"""The README's commands, in their order, from any folder."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import duckdb
import pytest

from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.stages.road import STAGE_NAMES

from .conftest import COMMAND, Done, Shell

README = Path(__file__).resolve().parent.parent.parent / "README.md"
TABLES = (
    "raw_documents",
    "extracted_text",
    "elements",
    "coarse_chunks",
    "final_chunks",
    "chunks",
    "embeddings",
    "bm25",
)


def test_init_plan_build_status_search(shell: Shell) -> None:
    """PI-01, VE-05, VE-06, FA-02, CI-01: the road from files to citations, and nothing to do the second time."""
    assert shell.linkrag("init", "mine", "--source", "docs").code == 0
    planned = shell.linkrag("plan", "mine", "--json")
    assert planned.code == 10
    assert planned.json["corpora"]["mine"]["stages"]["raw_documents"]["new"] == 3
    built = shell.linkrag("build", "mine", "--json")
    assert built.code == 0, built.err
    stages = built.json["corpora"]["mine"]["stages"]
    assert list(stages) == list(STAGE_NAMES)
    assert {"new", "stale", "retried", "unchanged", "removed", "failed", "rows", "seconds"} <= set(
        stages["chunks"]
    )
    assert built.json["embedded_texts"] == 3 <= planned.json["texts_to_embed"]

    assert shell.linkrag("plan", "mine", "--json").code == 0
    again = shell.linkrag("build", "mine", "--json")
    assert again.code == 0 and again.json["embedded_texts"] == 0

    status = shell.linkrag("status", "mine", "--json").json["corpora"]["mine"]
    with duckdb.connect(
        str(shell.folder / "data" / "lake" / "warehouse.duckdb"), read_only=True
    ) as connection:
        for table, rows in status["rows"].items():
            assert connection.execute(f"SELECT count(*) FROM mine.{table}").fetchone() == (rows,)
        kind = connection.execute(
            "SELECT data_type FROM duckdb_columns() WHERE table_name = 'embeddings' AND column_name = 'vector'"
        ).fetchone()
        assert kind == ("FLOAT[384]",)
        comment = connection.execute(
            "SELECT comment FROM duckdb_columns() WHERE table_name = 'chunks' AND column_name = 'content'"
        ).fetchone()
        assert comment is not None and "quoted" in comment[0]

    for mode, query, name in (
        ("bm25", "E0412", "crane.md"),
        ("dense", "When does the boat leave?", "ferry.md"),
        ("hybrid", "灯多久转一圈", "lamp.md"),
    ):
        found = shell.linkrag("search", "mine", query, "--mode", mode, "-k", "1", "--json")
        assert found.code == 0, found.err
        citation = found.json["citations"][0]
        assert citation["doc_name"] == name
        source = (shell.folder / "docs" / name).read_text()
        fragment = re.fullmatch(r"#char=(\d+),(\d+)", citation["fragment"])
        assert fragment is not None
        start, end = int(fragment[1]), int(fragment[2])
        assert source[start:end] == citation["quote"]
    nothing = shell.linkrag("search", "mine", "crane", "--cut", "0.0001", "--json").json
    assert not nothing["answerable"] and nothing["reason"].startswith(
        "NO ANSWER: nothing under cosine distance"
    )


def test_sql_ranks_as_search_does(shell: Shell) -> None:
    """BM-01: an analyst's query in DuckDB alone gives the ranking of the search."""
    shell.linkrag("init", "mine", "--source", "docs")
    shell.linkrag("build", "mine")
    found = shell.linkrag("search", "mine", "crane lifts", "--mode", "bm25", "--json").json["citations"]
    with duckdb.connect(
        str(shell.folder / "data" / "lake" / "warehouse.duckdb"), read_only=True
    ) as connection:
        rows = connection.execute("FROM mine.bm25_scores(['crane', 'lift'])").fetchall()
    assert [chunk for chunk, _ in rows] == [citation["chunk_id"] for citation in found]


def test_single_files_need_no_lake(shell: Shell) -> None:
    """`extract` and `chunk` print rows that point into the text."""
    extracted = [
        json.loads(line) for line in shell.linkrag("extract", "docs/crane.md", "--jsonl").out.splitlines()
    ]
    assert extracted[0]["status"] == "ok" and extracted[0]["title"] == "Crane rules"
    for stage in ("elements", "coarse", "final", "chunks"):
        done = shell.linkrag("chunk", "docs/crane.md", "--stage", stage, "--set", "max_tokens=40", "--jsonl")
        rows = [json.loads(line) for line in done.out.splitlines()]
        assert done.code == 0 and rows
        for row in rows:
            assert row["file"] == "docs/crane.md"
            if "content" in row:
                assert extracted[0]["text"][row["start_char"] : row["end_char"]] == row["content"]
    (shell.folder / "docs" / "empty.md").write_bytes(b"")
    failed = shell.linkrag("extract", "docs/empty.md", "docs/crane.md", "--jsonl")
    assert failed.code == 1 and json.loads(failed.out.splitlines()[0])["error_kind"] == "empty"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("max_tokens: null", "max_tokenz: 5", ["max_tokenz", "did you mean max_tokens"]),
        ("max_tokens: null", "max_tokens: 9000", ["chunking.max_tokens", "9000"]),
        ("k1: 1.2", "k1: often", ["lexical.k1"]),
        ("path: ../../docs", "path: ../../dogs", ["source.path", "dogs"]),
        ("model: all-MiniLM-L6-v2", "model: all-MiniLM-L99", ["embedding.model", "all-MiniLM-L99"]),
    ],
)
def test_a_wrong_declaration_names_file_line_and_field(
    shell: Shell, old: str, new: str, words: list[str]
) -> None:
    """PI-01, TK-05: exit 2, and nothing else happens."""
    shell.linkrag("init", "mine", "--source", "docs")
    path = shell.folder / "assets" / "mine" / "defs.yaml"
    text = (
        path.read_text().replace(f"    {old} ", f"    {new} ", 1).replace(f"    {old}\n", f"    {new}\n", 1)
    )
    assert new in text
    path.write_text(text)
    line = next(n for n, row in enumerate(text.splitlines(), start=1) if new in row)
    done = shell.linkrag("build", "mine", "--json")
    assert done.code == 2 and set(done.json) == {"error"} and str(line) in done.json["error"]["message"]
    assert f"assets/mine/defs.yaml:{line}:" in done.err
    for word in words:
        assert word in done.err
    assert not (shell.folder / "data").exists()


def test_usage_errors_say_what_to_do(shell: Shell) -> None:
    """Exit 2 and a next step."""
    assert "linkrag init" in shell.linkrag("build").err
    shell.linkrag("init", "mine", "--source", "docs")
    assert "mine" in shell.linkrag("build", "nine").err
    unbuilt = shell.linkrag("search", "mine", "x", "--json")
    assert unbuilt.code == 3 and "linkrag build mine" in unbuilt.err


def test_a_second_writer_is_refused_by_name(shell: Shell) -> None:
    """FA-04: exit 3 with the holder's name; the lock of a holder that is gone holds nobody up."""
    shell.linkrag("init", "mine", "--source", "docs")
    lake = CorpusLake(shell.folder / "data" / "lake", "mine")
    with lake.writer():
        refused = shell.linkrag("build", "mine", "--json")
    assert refused.code == 3 and "process" in refused.err and "--wait" in refused.err
    assert shell.linkrag("build", "mine", "--json").code == 0


def _build_in_own_session(shell: Shell) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "build", "mine", "--json"],
        cwd=shell.folder,
        env=shell.environment(),
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.slow
def test_a_killed_build_leaves_the_old_generation_and_is_resumed(shell: Shell) -> None:
    """FA-04, EM-06: SIGKILL after the first word about embedding; old answers stay, the next build ends right."""
    shell.linkrag("init", "mine", "--source", "docs")
    assert shell.linkrag("build", "mine").code == 0
    before = shell.linkrag("status", "mine", "--json").json["corpora"]["mine"]
    for number in range(40):
        (shell.folder / "docs" / f"day-{number}.md").write_text(
            f"# Day {number}\n\nShip {number} came in.\n" * 3
        )
    process = _build_in_own_session(shell)
    assert process.stderr is not None
    for line in process.stderr:
        if "embeddings" in line:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    after = shell.linkrag("status", "mine", "--json").json["corpora"]["mine"]
    assert after["rows"] == before["rows"]
    assert shell.linkrag("search", "mine", "Lundholm", "--mode", "bm25", "--json").json["answerable"]
    assert shell.linkrag("build", "mine", "--json").code == 0
    healed: Done = shell.linkrag("status", "mine", "--json")
    assert healed.json["corpora"]["mine"]["rows"]["raw_documents"] == 43
    assert shell.linkrag("plan", "mine").code == 0


def test_the_readme_names_every_command() -> None:
    """The documentation is tested: each command stands in the README, and each that stands there exists."""
    from linkrag_dagster.cli.main import linkrag

    named = set(re.findall(r"^\| .*?`linkrag (\w+)", README.read_text(), re.MULTILINE)) | set(
        re.findall(r", `linkrag (\w+)", README.read_text())
    )
    assert named == set(linkrag.commands)


def test_one_damaged_corpus_takes_no_other_down(shell: Shell) -> None:
    """LA-02, FA-04: the others build, are in the catalogue, and are told; the damaged one is named."""
    for name in ("good", "bad"):
        shell.linkrag("init", name, "--source", "docs")
    assert shell.linkrag("build", "--json").code == 0
    manifest = shell.folder / "data" / "lake" / "bad" / "manifest.json"
    manifest.write_bytes(b"\xff{")
    (shell.folder / "docs" / "bell.md").write_text("# Bell\n\nCast in Odense.\n")
    built = shell.linkrag("build", "good", "--json")
    assert built.code == 0, built.err
    assert "bad is left out of the catalogue" in built.err
    with duckdb.connect(
        str(shell.folder / "data" / "lake" / "warehouse.duckdb"), read_only=True
    ) as connection:
        assert connection.execute("SELECT count(*) FROM good.raw_documents").fetchone() == (4,)
    status = shell.linkrag("status", "--json")
    assert status.code == 3
    assert status.json["corpora"]["good"]["rows"]["raw_documents"] == 4
    assert str(manifest) in status.json["corpora"]["bad"]["error"]
