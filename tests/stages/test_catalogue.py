"""What analysts open: the catalogue's views, their comments, and readers while builds go on (LA-01, LA-02)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from linkrag_dagster.contracts.tables import CONTRACTS
from linkrag_dagster.lake import catalogue
from linkrag_dagster.lake.manifest import LakeError

from .conftest import Project

READER = """
import json, sys
from pathlib import Path
import duckdb
path, stop = sys.argv[1], Path(sys.argv[2])
print("reading", flush=True)
seen, mixed, errors = set(), 0, []
reads = 0
last = False
while not (last and reads >= 20):
    # What is read after the last build is what it committed.
    last = stop.exists()
    try:
        with duckdb.connect(path, read_only=True) as connection:
            number, chunks, vectors, lengths, lost = connection.execute(
                "SELECT (SELECT number FROM harbour.generation), "
                "(SELECT count(*) FROM harbour.chunks WHERE searchable),"
                "(SELECT count(*) FROM harbour.embeddings), (SELECT count(*) FROM harbour.bm25_lengths),"
                "(SELECT count(*) FROM harbour.embeddings ANTI JOIN harbour.chunks USING (chunk_id))"
            ).fetchone()
    except duckdb.Error as error:
        errors.append(str(error))
        continue
    reads += 1
    seen.add(number)
    mixed += not (chunks == vectors == lengths and lost == 0)
print(json.dumps({"seen": sorted(seen), "mixed": mixed, "errors": errors, "reads": reads}))
"""


def test_one_commented_view_a_table(project: Project) -> None:
    """LA-02, CO-01: every contract is a view with its columns, types and comments; vectors are FLOAT[n]."""
    project.build()
    road = project.road()
    with duckdb.connect(str(road.lake_root / "warehouse.duckdb"), read_only=True) as connection:
        for name, rules in CONTRACTS.items():
            found = dict(
                connection.execute(
                    "SELECT column_name, comment FROM duckdb_columns() "
                    "WHERE schema_name = 'harbour' AND table_name = ?",
                    [name],
                ).fetchall()
            )
            for column, described in rules.schema.columns.items():
                assert found[str(column)] == described.description, f"{name}.{column}"
        documents = connection.execute("SELECT doc_name, chunks, failure FROM harbour.documents").fetchall()
    assert {name for name, _, _ in documents} == {"ferry.md", "crane.md", "notes.txt", "灯.md"}
    assert all(chunks > 0 and failure is None for _, chunks, failure in documents)


@pytest.mark.slow
def test_readers_see_one_generation_or_another(project: Project, tmp_path: Path) -> None:
    """LA-01, LA-02, FA-04: a reader in another process and folder has no error and no mixed generation."""
    project.build()
    lake = project.road().lake_root
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    stop = elsewhere / "stop"
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(lake / "warehouse.duckdb"), str(stop)],
        cwd=elsewhere,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "reading\n"
    try:
        for turn in range(6):
            project.write("ferry.md", f"# Ferry\n\nCrossing number {turn} leaves the north quay.\n")
            project.write(f"more-{turn}.md", f"# More {turn}\n\nA boat named {turn}.\n")
            project.build()
    finally:
        stop.touch()
        out, _ = reader.communicate(timeout=120)
    found = json.loads(out)
    assert found["errors"] == []
    assert found["mixed"] == 0
    assert found["reads"] >= 20
    assert max(found["seen"]) == project.road().lake.current().number


def test_a_catalogue_that_was_lost_comes_back(project: Project) -> None:
    """LA-02, FA-04: a kill between the commit and the renaming leaves a build with nothing else to do."""
    project.build()
    path = project.road().lake_root / "warehouse.duckdb"
    path.unlink()
    assert project.build().plan is not None
    assert catalogue.is_current(project.road().lake)


def test_each_commit_leaves_its_record(project: Project) -> None:
    """VE-08: versions, specs, counts and both generations: enough to say why two runs differ."""
    project.build()
    project.write("bell.md", "# Fog bell\n\nThe fog bell was cast in Odense.\n")
    project.build()
    with duckdb.connect(str(project.road().lake_root / "warehouse.duckdb"), read_only=True) as connection:
        runs = connection.execute(
            "SELECT generation_before, generation_after, counts, libraries, specs, embedded_texts "
            "FROM harbour.runs ORDER BY generation_after"
        ).fetchall()
    assert [(before, after) for before, after, *_ in runs] == [(0, 1), (1, 2)]
    second = json.loads(runs[1][2])
    assert second["raw_documents"]["new"] == 1 and second["raw_documents"]["unchanged"] == 4
    assert "polars" in json.loads(runs[1][3])
    assert {spec["name"] for spec in json.loads(runs[1][4])} >= {"chunks", "embeddings", "bm25"}
    assert runs[1][5] == 1


def test_a_lake_of_another_version_says_so(project: Project) -> None:
    """FA-04: a column that today's contract has and the file has not is no traceback."""
    project.build()
    lake = project.road().lake
    for file in lake.current().tables["extracted_text"].values():
        pl.read_parquet(lake.folder / file.path).drop("layout").write_parquet(lake.folder / file.path)
    project.write("bell.md", "# Fog bell\n\nThe fog bell was cast in Odense.\n")
    project.write("bell-2.md", "# Fog bell\n\nThe other fog bell was cast in Odense.\n")
    with pytest.raises(LakeError, match=r"no column.*another version.*build again"):
        for turn in range(40):
            project.write(f"more-{turn}.md", f"# More {turn}\n\nA boat.\n")
        project.build()
