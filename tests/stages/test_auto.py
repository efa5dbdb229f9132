"""`auto` in a build: scored by the corpus's model through the memo, the choice in every row (ST-10, SD-17)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from linkrag_dagster.embedding.memo import Memo, text_hash
from linkrag_dagster.tokens import sentences

from .conftest import Project

SPEECH = "\n\n".join(
    f"{'Ann' if k % 2 else 'Bob'}: the {k} cat ran . a red dog sat on one . Yes!" for k in range(9)
)


def test_the_choice_and_its_reason_are_stored(project: Project, small_models: dict[str, Path]) -> None:
    """ST-10, SD-16, VE-01: strategy, reason and scores of each document; the model is part of the fingerprint."""
    project.use(small_models["old"])
    project.write("speech.md", SPEECH + "\n")
    project.set("chunking.strategy", "auto")
    built = project.build()
    assert not built.failed
    road = project.road()
    rows = {name: road.lake.read(road.lake.current(), name) for name in ("final_chunks", "boundary_trace")}
    documents = road.lake.read(road.lake.current(), "raw_documents", columns=["doc_key", "doc_name"])
    strategies = dict(
        rows["final_chunks"].join(documents, on="doc_key").select("doc_name", "strategy").unique().iter_rows()
    )
    assert strategies["speech.md"] == "auto:percentile" and strategies["ferry.md"] == "auto:document_aware"
    assert set(rows["final_chunks"]["scorer"]) == {road.scorer_name} != {None}
    trace = rows["boundary_trace"].join(documents, on="doc_key").filter(pl.col("doc_name") == "speech.md")
    trace = trace.sort("gap_index")
    assert trace["reason"][0].startswith("percentile: topics do not follow paragraphs")
    scored = trace.filter(pl.col("gap_index") > 0)
    spans = sentences(SPEECH + "\n")
    assert scored["position"].to_list() == [end for _, end in spans[:-1]]
    assert scored["cohesion"].null_count() == 0 and scored["reason"].str.contains("threshold").all()
    words = {text_hash((SPEECH + "\n")[start:end]) for start, end in spans}
    assert Memo(road.memo_folder).known(words) == words
    # The same again computes nothing; another scorer makes it stale.
    assert project.build().embedded_texts == 0
    project.set("chunking.scorer", str(small_models["new"]))
    assert project.build().stages["final_chunks"].texts == len(words)
