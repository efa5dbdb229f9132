"""What a step had to recompute, told without the planner: from the rows before it and those of a full build after it.

A row has to be recomputed where the content that it is made from, or the spec that applies to it, is another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.road import STAGES, Road
from linkrag_dagster.stages.stage import Stage

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows of a generation, and the specs that its corpus asked for.

    Attributes:
        rows: content and vector by table and primary key; where a row came from is left out.
        documents: key and content of each document's rows, by stage and document.
        texts: the text that each chunk is indexed by, by chunk.
        embedded: the hash of the text that each chunk's vector is of, by chunk.
        specs: what each stage was to do with each document, by stage and document.
        names: how documents that have a text are called, and which version of them answers.
    """

    rows: Mapping[str, Mapping[Key, str]]
    documents: Mapping[str, Mapping[str, frozenset[str]]]
    texts: Mapping[str, str]
    embedded: Mapping[str, str]
    specs: Mapping[str, Mapping[str, object]]
    names: frozenset[str]


def snapshot(road: Road, generation: Generation) -> Snapshot:
    """Read a generation whole."""
    rows: dict[str, dict[Key, str]] = {}
    documents: dict[str, dict[str, set[str]]] = {}
    for stage in STAGES:
        for table in stage.tables:
            rules = contract(table, dimensions=int(str(generation.facts.get("dimensions", 1))))
            frame = road.lake.read(
                generation, table, dimensions=int(str(generation.facts.get("dimensions", 1)))
            )
            columns = [*rules.content_columns, *(["vector"] if "vector" in frame.columns else [])]
            found = rows.setdefault(table, {})
            for row in frame.iter_rows(named=True):
                content = repr([row[name] for name in columns])
                found[tuple(row[name] for name in rules.key)] = content
                if table == stage.tables[0] and "doc_key" in row:
                    documents.setdefault(stage.name, {}).setdefault(row["doc_key"], set()).add(content)
    stored = road.documents(generation)
    field = road.declaration.lexical.field
    chunks = road.lake.read(generation, "chunks", columns=["chunk_id", field, "searchable"])
    vectors = road.lake.read(generation, "embeddings", columns=["chunk_id", "text_hash"])
    return Snapshot(
        rows,
        {stage: {key: frozenset(c) for key, c in found.items()} for stage, found in documents.items()},
        {chunk: text for chunk, text, searchable in chunks.iter_rows() if searchable},
        dict(vectors.iter_rows()),
        {
            stage.name: {key: road.spec(stage, document).as_dict() for key, document in stored.items()}
            | ({"": road.spec(stage, {}).as_dict()} if stage.whole_corpus or stage.row_grain else {})
            for stage in STAGES
            if not stage.whole_corpus or stage.applies(road)
        },
        frozenset(
            repr((key, document["doc_id"], document["doc_name"], document["current"]))
            for key, document in stored.items()
            if key in documents.get("extracted_text", {})
        ),
    )


def minimal(before: Snapshot, after: Snapshot) -> dict[str, int]:
    """Rows of each stage's counted table that could not be kept as they were.

    Args:
        before: what the step found.
        after: a full build of what it was to make.
    """
    return {stage.name: _minimal(stage, before, after) for stage in STAGES}


def _minimal(stage: Stage, before: Snapshot, after: Snapshot) -> int:
    table = stage.tables[0]
    old, new = before.specs.get(stage.name, {}), after.specs.get(stage.name, {})
    if stage.whole_corpus:
        same = old.get("") == new.get("") and before.names == after.names
        same = same and all(before.documents.get(n) == after.documents.get(n) for n in stage.inputs)
        return 0 if same else len(after.rows[table])
    if not stage.inputs:
        return sum(before.rows[table].get(key) != content for key, content in after.rows[table].items())
    if stage.row_grain:
        if old.get("") != new.get(""):
            return len(after.rows[table])
        was, now = (
            (before.embedded, after.embedded) if stage.name == "embeddings" else (before.texts, after.texts)
        )
        return sum(was.get(chunk) != now[chunk] for (chunk,) in after.rows[table])
    touched = {
        key
        for key in new
        if old.get(key) != new[key]
        or any(
            before.documents.get(name, {}).get(key) != after.documents.get(name, {}).get(key)
            for name in stage.inputs
        )
    }
    owned = after.documents.get(stage.name, {})
    return sum(len(owned.get(key, ())) for key in touched)
