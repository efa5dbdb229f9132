"""Readers in other processes while builds go on: no error, no mix of generations (LA-01, LA-02, FA-04)."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

from linkrag_dagster.lake.catalogue import CATALOGUE
from linkrag_dagster.lexical.analyzers import load_analyzer
from linkrag_dagster.retrieval.search import search
from tests.crash.small_corpus import CONTEXT, NAME, HashEncoder, SmallCorpus, first_documents
from tests.embedding.tiny_model import build_tiny_model
from tests.stages.conftest import TEXTS, Project

ONE_SNAPSHOT = f"""
SELECT (SELECT number FROM {NAME}.generation),
    max(TRY_CAST(regexp_extract(content, 'turn (\\d+)', 1) AS INT)),
    count(*) FILTER (searchable), count(e.chunk_id), count(l.chunk_id), count(*) FILTER (c.chunk_id IS NULL)
FROM {NAME}.chunks AS c FULL JOIN {NAME}.embeddings AS e USING (chunk_id)
    FULL JOIN {NAME}.bm25_lengths AS l USING (chunk_id)
"""
"""One query: number, what the text says of it, and rows that must fit each other."""
QUERIES_A_CONNECTION = 5
"""A reader's connection sees one generation as long as it lives."""
MODELS = f"""
SELECT (SELECT model_fingerprint FROM {NAME}.generation), min(model_fingerprint), max(model_fingerprint),
    min(len(vector)), max(len(vector)), count(*), (SELECT count(*) FROM {NAME}.chunks WHERE searchable)
FROM {NAME}.embeddings
"""
"""One query: the model that the generation names, those of its vectors, their lengths, and rows that must fit."""


class QueryEncoder:
    """Embeds queries as the quick encoder embeds texts, under the fingerprint of the index's model."""

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.name = "hashes"

    def embed_query(self, query: str) -> NDArray[np.float32]:
        """Unit vector `[384]`."""
        return HashEncoder().embed([query])[0]


def read_views(root: Path, reads: int) -> tuple[int, set[int], list[str]]:
    """Query the catalogue again and again: queries, generations seen, and what was wrong."""
    seen: set[int] = set()
    wrong: list[str] = []
    for _ in range(0, reads, QUERIES_A_CONNECTION):
        here: set[int] = set()
        try:
            with duckdb.connect(str(root / "lake" / CATALOGUE), read_only=True) as connection:
                for _ in range(QUERIES_A_CONNECTION):
                    ((number, turn, chunks, vectors, lengths, lost),) = connection.execute(
                        ONE_SNAPSHOT
                    ).fetchall()
                    here.add(number)
                    if not (chunks == vectors == lengths and lost == 0 and turn == number):
                        wrong.append(
                            f"mixed: generation {number} says {turn}, {chunks} {vectors} {lengths} {lost}"
                        )
        except duckdb.Error as error:
            wrong.append(str(error))
        if len(here) > 1:
            wrong.append(f"one connection saw generations {here}")
        seen |= here
    return reads, seen, wrong


def read_models(root: Path, reads: int) -> tuple[int, set[int], list[str]]:
    """Ask the catalogue whose vectors it shows: queries, lengths of the vectors seen, and what was wrong."""
    seen: set[int] = set()
    wrong: list[str] = []
    for _ in range(reads):
        try:
            with duckdb.connect(str(root / "lake" / CATALOGUE), read_only=True) as connection:
                ((named, first, last, least, most, vectors, chunks),) = connection.execute(MODELS).fetchall()
        except duckdb.Error as error:
            wrong.append(str(error))
            continue
        seen.add(most)
        if not (named == first == last and least == most and vectors == chunks):
            wrong.append(f"mixed: {named} {first} {last}, {least} {most}, {vectors} {chunks}")
    return reads, seen, wrong


def read_answers(root: Path, reads: int) -> tuple[int, set[int], list[str]]:
    """Search the lake again and again: every citation is of one turn, and quotes what it cites."""
    corpus = SmallCorpus(root)
    lake = corpus.lake()
    facts = lake.current().facts
    encoder = QueryEncoder(str(facts["model_fingerprint"]))
    analyzer = load_analyzer(str(facts["analyzer"]))
    seen: set[int] = set()
    wrong: list[str] = []
    for _ in range(reads):
        answer = search(lake, "turn ferry bell", k=20, encoder=encoder, analyzer=analyzer)
        turns = {int(c.quote.split("turn ")[1].split()[0]) for c in answer.citations if "turn " in c.quote}
        seen |= turns
        if len(turns) != 1:
            wrong.append(f"turns {turns} in one answer")
    return reads, seen, wrong


Reader = Callable[[Path, int], tuple[int, set[int], list[str]]]


def _read(reader: Reader, root: Path, folder: Path, there: Connection) -> None:
    import os

    os.chdir(folder)
    there.send("reading")
    block = 20
    total, seen, wrong = 0, set[int](), list[str]()
    while not there.poll():
        reads, found, bad = reader(root, block)
        total, seen, wrong = total + reads, seen | found, wrong + bad
        there.send(total)
    there.send((total, seen, wrong))


def turn_documents(corpus: SmallCorpus, turn: int) -> None:
    """Two documents that tell the turn: a mix of generations shows in their texts."""
    corpus.write("ferry.md", f"# Ferry\n\nThe ferry of turn {turn} leaves at seven.\n")
    corpus.write("bell.md", f"# Bell\n\nThe bell of turn {turn} was cast in Odense.\n")
    corpus.write(f"more-{turn % 3}.md", f"# More\n\nShip {turn} came in.\n")


class Reading:
    """A reader in another process and another folder, from before the first rebuild until after the last."""

    def __init__(self, reader: Reader, root: Path, elsewhere: Path) -> None:
        elsewhere.mkdir()
        self._here, there = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_read, args=(reader, root, elsewhere, there))
        self._process.start()
        there.close()
        assert self._here.recv() == "reading"
        self._done = 0

    def done(self) -> int:
        """Queries so far."""
        while self._here.poll():
            self._done = self._here.recv()
        return self._done

    def end(self) -> tuple[int, set[int], list[str]]:
        """Queries, what they saw, and what was wrong."""
        self._here.send("stop")
        while not isinstance(last := self._here.recv(), tuple):
            pass
        self._process.join()
        return cast("tuple[int, set[int], list[str]]", last)


@pytest.mark.parametrize(
    ("reader", "reads"),
    [
        (read_views, 60),
        (read_answers, 60),
        pytest.param(read_views, 5_000, marks=pytest.mark.slow),
        pytest.param(read_answers, 5_000, marks=pytest.mark.endurance),
    ],
)
def test_readers_see_one_generation_or_another(reader: Reader, reads: int, tmp_path: Path) -> None:
    """LA-01: no error and no mix, however many rebuilds fit into the queries that are asked for."""
    corpus = SmallCorpus(tmp_path / "project")
    first_documents(corpus)
    turn_documents(corpus, 1)
    corpus.build()
    reading = Reading(reader, corpus.root, tmp_path / "elsewhere")
    turn = 1
    while reading.done() < reads or turn < 5:
        turn += 1
        turn_documents(corpus, turn)
        assert corpus.build().generation == turn
    total, seen, wrong = reading.end()
    assert wrong == []
    assert total >= reads
    assert len(seen) > 1 and max(seen) <= turn


@pytest.mark.slow
def test_readers_see_one_model_or_another(tmp_path: Path) -> None:
    """VE-04, VE-07: while models are switched to and fro, every answer is of one model, and complete."""
    models = {n: build_tiny_model(tmp_path / str(n), seed=n, dimensions=n) for n in (32, 48)}
    project = Project(tmp_path / "project")
    for name, text in TEXTS.items():
        project.write(name, text)
    project.use(models[32])
    project.build()
    reading = Reading(read_models, project.root, tmp_path / "elsewhere")
    switches = 0
    while reading.done() < 200 or switches < 6:
        switches += 1
        project.use(models[48 if switches % 2 else 32])
        assert project.build().generation == switches + 1
    total, seen, wrong = reading.end()
    assert wrong == []
    assert total >= 200 and seen == {32, 48}
