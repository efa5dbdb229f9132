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

ONE_SNAPSHOT = f"""
SELECT (SELECT number FROM {NAME}.generation),
    (SELECT max(CAST(regexp_extract(content, 'turn (\\d+)', 1) AS INT)) FROM {NAME}.chunks
        WHERE content LIKE '%turn %'),
    (SELECT count(*) FROM {NAME}.chunks WHERE searchable), (SELECT count(*) FROM {NAME}.embeddings),
    (SELECT count(*) FROM {NAME}.bm25_lengths),
    (SELECT count(*) FROM {NAME}.embeddings ANTI JOIN {NAME}.chunks USING (chunk_id))
"""
"""One query: number, what the text says of it, and rows that must fit each other."""


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
    for _ in range(reads):
        try:
            with duckdb.connect(str(root / "lake" / CATALOGUE), read_only=True) as connection:
                ((number, turn, chunks, vectors, lengths, lost),) = connection.execute(
                    ONE_SNAPSHOT
                ).fetchall()
        except duckdb.Error as error:
            wrong.append(str(error))
            continue
        seen.add(number)
        if not (chunks == vectors == lengths and lost == 0 and turn == number):
            wrong.append(f"mixed: generation {number} says {turn}, {chunks} {vectors} {lengths} {lost}")
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


@pytest.mark.parametrize("reads", [60, pytest.param(5_000, marks=pytest.mark.endurance)])
@pytest.mark.parametrize("reader", [read_views, read_answers])
def test_readers_see_one_generation_or_another(reader: Reader, reads: int, tmp_path: Path) -> None:
    """LA-01: in another process and another folder, from before the first rebuild until after the last."""
    corpus = SmallCorpus(tmp_path / "project")
    first_documents(corpus)
    turn_documents(corpus, 1)
    corpus.build()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    here, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_read, args=(reader, corpus.root, elsewhere, there))
    process.start()
    there.close()
    assert here.recv() == "reading"
    turn, done = 1, 0
    # As many rebuilds as fit into the queries that are asked for, and some at least.
    while done < reads or turn < 5:
        turn += 1
        turn_documents(corpus, turn)
        assert corpus.build().generation == turn
        while here.poll():
            done = here.recv()
    here.send("stop")
    while not isinstance(last := here.recv(), tuple):
        pass
    process.join()
    total, seen, wrong = cast("tuple[int, set[int], list[str]]", last)
    assert wrong == []
    assert total >= reads
    assert len(seen) > 1 and max(seen) <= turn
