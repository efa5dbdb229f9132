"""Whether chapters printed as PDF answer their questions as well as the Markdown they were printed from: one table.

    python benchmarks/printed_chapters.py

The handbook is built twice, in a folder that is removed again: as it is, and with `data/sources/*.md` in place of its
PDFs. Both are asked the questions whose evidence is in those chapters, among all the others' chunks.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HANDBOOK, SOURCES = ROOT / "data" / "handbook", ROOT / "data" / "sources"
DECLARATION = """type: linkrag_dagster.Corpus
attributes:
  source:
    path: ../../data
  chunking:
    strategy: pack
  evaluation:
    questions: [questions.jsonl]
"""
METRICS = (
    "contained_recall@1",
    "contained_recall@5",
    "contained_recall@10",
    "rr@10",
    "ndcg@10",
    "budget_recall@2048",
)

Summary = dict[tuple[str, str], float]
"""(run, metric) → its value."""


def printed() -> list[str]:
    """Names of the chapters that are PDFs and have their source as Markdown, without suffix."""
    return [path.stem for path in sorted(HANDBOOK.glob("*.pdf")) if (SOURCES / f"{path.stem}.md").exists()]


def questions(names: list[str]) -> list[str]:
    """Lines of the questions all of whose evidence is in the chapters."""
    lines = (ROOT / "assets" / "handbook" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    documents = {f"{name}.pdf" for name in names}
    kept: list[str] = []
    for line in lines:
        evidence = [one["doc"] for one in json.loads(line)["evidence"]]
        if evidence and documents.issuperset(evidence):
            kept.append(line)
    return kept


def measured(folder: Path, asked: list[str], instead: list[str]) -> Summary:
    """The results of a project with the handbook, the chapters `instead` as Markdown."""
    shutil.copytree(HANDBOOK, folder / "data")
    for name in instead:
        (folder / "data" / f"{name}.pdf").unlink()
        shutil.copy(SOURCES / f"{name}.md", folder / "data")
        asked = [line.replace(f'"{name}.pdf"', f'"{name}.md"') for line in asked]
    corpus = folder / "assets" / "handbook"
    corpus.mkdir(parents=True)
    (corpus / "defs.yaml").write_text(DECLARATION, encoding="utf-8")
    (corpus / "questions.jsonl").write_text("\n".join(asked) + "\n", encoding="utf-8")
    command = [sys.executable, "-c", "from linkrag_dagster.cli import main; main()", "evaluate", "handbook"]
    command += ["--json", "--lake", str(folder / "lake")]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return {
        (row["run"], row["metric"]): row["value"]
        for row in json.loads(done.stdout)["summary"]
        if row["slice"] == "all"
    }


def main() -> None:
    """Print the table."""
    names = printed()
    asked = questions(names)
    with tempfile.TemporaryDirectory() as folder:
        as_pdf = measured(Path(folder) / "pdf", asked, [])
        as_markdown = measured(Path(folder) / "markdown", asked, names)
    print(f"{len(asked)} questions; each value: as PDF / as Markdown\n")
    metrics = [one for one in METRICS if any(metric == one for _, metric in as_pdf)]
    print("| retriever | " + " | ".join(metrics) + " |")
    print("| --- |" + " ---: |" * len(metrics))
    for run in sorted({run for run, metric in as_pdf if metric in metrics}):
        values = [f"{as_pdf[run, one]:.3f} / {as_markdown[run, one]:.3f}" for one in metrics]
        print(f"| {run} | " + " | ".join(values) + " |")


if __name__ == "__main__":
    main()
