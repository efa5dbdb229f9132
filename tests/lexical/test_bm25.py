"""BM25 against reference values, the seed's and its own edges (BM-01, BM-03)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from linkrag_dagster.lexical import (
    Bm25,
    Corpus,
    UnknownAnalyzer,
    corpus,
    load_analyzer,
    postings,
    score_chunks,
    term_counts,
    terms,
)
from linkrag_dagster.lexical.bm25 import gain, idf

REFERENCE = load_analyzer("reference")
TEXTS = ["retry rule R-17", "retry retry", "", "logs rule rule rule"]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ranking(scores: list[float]) -> list[int]:
    return sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: (-round(scores[i], 9), i))


def test_oracle(shared: Path) -> None:
    """BM-01: scores and rankings of the reference libraries, by the index in memory and by the tables."""
    cases = records(shared / "oracles" / "bm25.jsonl")
    assert len(cases) >= 30
    for case in cases:
        texts, k1, b = case["docs"], case["k1"], case["b"]
        got = Bm25.from_texts(texts, k1=k1, b=b).scores(case["query"])
        np.testing.assert_allclose(got, case["scores"], rtol=1e-12, atol=1e-12, err_msg=case["id"])
        assert ranking(got.tolist()) == case["ranking"], case["id"]
        found, lengths = postings(range(len(texts)), texts, REFERENCE)
        table = score_chunks(REFERENCE.tokens(case["query"]), found, lengths, k1=k1, b=b)
        assert table["chunk_id"].to_list() == case["ranking"], case["id"]
        np.testing.assert_allclose(
            table["score"].to_numpy(),
            [case["scores"][i] for i in case["ranking"]],
            rtol=1e-12,
            err_msg=case["id"],
        )


# The seed's values are over 111 distinct chunks of its header chunker, of which header_chunker.jsonl shows only some.
# 2,460 terms in all follow from them: two scores of "party", whose chunks are shown, are both solved by that mean.
# Document frequencies follow from which chunks score: (query, frequencies, chunks shown and their places).
SEED = Corpus(111, 2460)
SEED_SHOWN: list[tuple[str, dict[str, int], list[tuple[str, int, int]]]] = [
    ("索引 40 v3", {"40": 1, "v3": 1}, [("cjk@120", 0, 70)]),
    ("party", {"party": 5}, [("emoji and astral@512", 0, 72), ("emoji and astral@512", 1, 73)]),
    (
        "x y",
        {"x": 10, "y": 1},
        [
            ("heading inside code fence@120", 1, 86),
            ("line separators in heading@512", 1, 92),
            *(("exact target paragraphs@120", i, place) for i, place in enumerate((93, 94, 95, 97, 98))),
            ("title with special characters@120", 0, 105),
            ("lists and tables@120", 0, 106),
        ],
    ),
    (
        "3.14 e.g.",
        {"3": 4, "14": 4, "e": 5, "g": 4},
        [
            ("empty sections@512", 1, 82),
            *(("decimals ellipses abbreviations@512", i, 101 + i) for i in range(3)),
        ],
    ),
]


@pytest.mark.parametrize(("query", "frequencies", "shown"), SEED_SHOWN)
def test_seed_oracle(
    shared: Path, query: str, frequencies: dict[str, int], shown: list[tuple[str, int, int]]
) -> None:
    """BM-01, BM-02: the seed's scores of every chunk of its corpus that is shown."""
    chunked = {case["id"]: case["chunks"] for case in records(shared / "oracles" / "header_chunker.jsonl")}
    (want,) = (case for case in records(shared / "oracles" / "seed_bm25.jsonl") if case["query"] == query)
    for case, index, place in shown:
        found, lengths = postings(["c"], [chunked[case][index]["text"]], REFERENCE)
        found = found.filter(pl.col("term").is_in(list(frequencies)))
        df = np.array([frequencies[term] for term in found["term"]])
        length = np.repeat(lengths["length"].to_numpy(), found.height)
        got = gain(idf(df, SEED.n), found["tf"].to_numpy(), length, SEED.avgdl, want["k1"], want["b"]).sum()
        assert got == pytest.approx(want["scores"][place], rel=1e-12), (case, index)
    assert ranking(want["scores"]) == want["ranking"]


def test_tables() -> None:
    """BM-01: one posting a term and chunk, one length a chunk, an empty one included."""
    found, lengths = postings(["a", "b", "c", "d"], TEXTS, REFERENCE)
    assert found.rows() == [
        ("17", "a", 1),
        ("logs", "d", 1),
        ("r", "a", 1),
        ("retry", "a", 1),
        ("retry", "b", 2),
        ("rule", "a", 1),
        ("rule", "d", 3),
    ]
    assert lengths.rows() == [("a", 4), ("b", 2), ("c", 0), ("d", 4)]
    assert found.schema == {"term": pl.String, "chunk_id": pl.String, "tf": pl.Int64}
    assert lengths.schema == {"chunk_id": pl.String, "length": pl.Int64}
    assert corpus(lengths) == Corpus(4, 10)
    table = terms([term_counts(found)], 4)
    assert table.columns == ["term", "df", "idf"]
    assert dict(table.select("term", "df").iter_rows()) == {"17": 1, "logs": 1, "r": 1, "retry": 2, "rule": 2}
    assert table.row(by_predicate=pl.col("term") == "17")[2] == pytest.approx(math.log(1 + 3.5 / 1.5))


def test_one_shard_changes_alone() -> None:
    """BM-03: statistics are sums of the shards'; a changed document touches its own."""
    shards = [postings([f"{s}{i}" for i in range(2)], TEXTS[2 * s : 2 * s + 2], REFERENCE) for s in range(2)]
    whole = postings(["00", "01", "10", "11"], TEXTS, REFERENCE)
    assert pl.concat([found for found, _ in shards]).sort("term", "chunk_id").equals(whole[0])
    totals = corpus(shards[0][1]) + corpus(shards[1][1])
    assert totals == corpus(whole[1])
    assert terms([term_counts(f) for f, _ in shards], totals.n).equals(
        terms([term_counts(whole[0])], totals.n)
    )
    changed = postings(["10", "11"], ["", "logs"], REFERENCE)
    again = terms([term_counts(shards[0][0]), term_counts(changed[0])], 4)
    assert again.equals(
        terms([term_counts(postings(["0", "1", "2", "3"], [*TEXTS[:2], "", "logs"], REFERENCE)[0])], 4)
    )


def test_repeated_query_tokens_count_as_often_as_they_stand() -> None:
    """BM-01: the seed adds once a token."""
    index = Bm25.from_texts(TEXTS)
    np.testing.assert_array_equal(index.scores("retry retry"), 2 * index.scores("retry"))


def test_nothing_to_find_is_an_empty_answer() -> None:
    """Empty corpora, empty texts, empty queries and unknown terms have defined values."""
    nothing = Bm25.from_texts([])
    assert nothing.scores("retry").shape == (0,)
    for texts in (["", ""], ["!!!"]):
        assert Bm25.from_texts(texts).scores("retry").tolist() == [0.0] * len(texts)
    index = Bm25.from_texts(TEXTS)
    for query in ("", "!!!", "unknown"):
        assert index.scores(query).tolist() == [0.0] * 4
    assert Bm25.from_texts(TEXTS, analyzer="default").scores("the of").tolist() == [0.0] * 4
    found, lengths = postings([], [], REFERENCE)
    assert found.schema == {"term": pl.String, "chunk_id": pl.String, "tf": pl.Int64}
    assert found.is_empty()
    assert corpus(lengths).avgdl == 0.0
    assert terms([], 0).schema == {"term": pl.String, "df": pl.Int64, "idf": pl.Float64}
    assert terms([term_counts(found)], 0).is_empty()
    for tokens, tables in ((["retry"], (found, lengths)), ([], postings(["a"], ["retry"], REFERENCE))):
        empty = score_chunks(tokens, *tables)
        assert empty.is_empty()
        assert empty.schema == {"chunk_id": pl.String, "score": pl.Float64}


def test_ties_go_by_chunk_id() -> None:
    """HY-01: a list is ordered by score, then chunk id."""
    found, lengths = postings(["z", "b", "a", "c"], ["same", "same", "same", "same same other"], REFERENCE)
    order = score_chunks(["same"], found, lengths)["chunk_id"].to_list()
    assert [chunk for chunk in order if chunk != "c"] == ["a", "b", "z"]


def test_totals_of_a_larger_corpus() -> None:
    """The chunks at hand may be a part of the corpus: its totals count."""
    found, lengths = postings(["a"], ["retry rule"], REFERENCE)
    alone = score_chunks(["retry"], found, lengths)["score"][0]
    rare = score_chunks(["retry"], found, lengths, totals=Corpus(100, 200))["score"][0]
    assert rare == pytest.approx(math.log(1 + 99.5 / 1.5))
    assert rare > alone


@pytest.mark.parametrize(
    ("k1", "b", "message"),
    [(-0.1, 0.75, "k1 is -0.1"), (float("nan"), 0.75, "k1 is nan"), (1.2, 1.5, "b is 1.5")],
)
def test_constants_out_of_range_are_refused(k1: float, b: float, message: str) -> None:
    """An error says which value, and which are right."""
    with pytest.raises(ValueError, match=message):
        Bm25.from_texts(TEXTS, k1=k1, b=b)
    with pytest.raises(ValueError, match=message):
        score_chunks(["a"], *postings(["a"], ["a"], REFERENCE), k1=k1, b=b)


def test_k1_zero_ignores_repetition() -> None:
    """The edge of the range: only whether a term is there counts."""
    scores = Bm25.from_texts(["x", "x x x", "y"], k1=0.0).scores("x")
    assert scores[0] == scores[1] > scores[2] == 0.0


def test_wrong_tables_are_refused() -> None:
    """Ids that come twice, missing ids, postings without a length, counts of another corpus, unknown analyzers."""
    with pytest.raises(ValueError, match="2 chunk ids for 1 texts"):
        postings(["a", "b"], ["x"], REFERENCE)
    with pytest.raises(ValueError, match="chunk 'a' comes more than once"):
        postings(["a", "a"], ["x", "y"], REFERENCE)
    found, lengths = postings(["a", "b"], ["x", "x"], REFERENCE)
    with pytest.raises(ValueError, match="chunk 'b' has postings and no length"):
        score_chunks(["x"], found, lengths.head(1))
    with pytest.raises(ValueError, match="a term is in 2 chunks of 1"):
        terms([term_counts(found)], 1)
    with pytest.raises(UnknownAnalyzer):
        Bm25.from_texts(["x"], analyzer="refrence")
