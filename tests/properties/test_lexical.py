"""What holds of lexical statistics and fusion for any text (BM-01 to BM-03, HY-01)."""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.lexical import Bm25, corpus, load_analyzer, postings, score_chunks, term_counts, terms
from linkrag_dagster.lexical.analyzers import MAX_TERM
from linkrag_dagster.retrieval.fusion import reciprocal_rank_fusion

NAMES = st.sampled_from(["reference", "default"])
# Few letters, so that terms meet; signs that join, scripts that differ, and anything at all.
TEXT = st.one_of(st.text("abAB1-_.' é数据が한Ж", max_size=30), st.text(max_size=20))
TEXTS = st.lists(TEXT, max_size=8)


@given(TEXTS, st.data(), NAMES)
def test_shards_add_up_to_the_whole(texts: list[str], data: st.DataObject, name: str) -> None:
    """BM-03: in whatever shards the chunks lie, statistics are those of the whole."""
    analyzer = load_analyzer(name)
    ids = [f"c{i}" for i in range(len(texts))]
    shard = [data.draw(st.integers(0, 2)) for _ in texts]
    parts = [
        postings(
            [c for c, s in zip(ids, shard, strict=True) if s == k],
            [t for t, s in zip(texts, shard, strict=True) if s == k],
            analyzer,
        )
        for k in range(3)
    ]
    found, lengths = postings(ids, texts, analyzer)
    totals = corpus(parts[0][1]) + corpus(parts[1][1]) + corpus(parts[2][1])
    assert totals == corpus(lengths)
    assert terms((term_counts(f) for f, _ in parts), totals.n).equals(terms([term_counts(found)], totals.n))
    query = analyzer.tokens(" ".join(texts[:2]))
    gathered = score_chunks(query, pl.concat([f for f, _ in parts]), pl.concat([n for _, n in parts]))
    assert gathered.equals(score_chunks(query, found, lengths))


@given(TEXTS, TEXT, NAMES)
def test_table_and_memory_agree(texts: list[str], query: str, name: str) -> None:
    """BM-01: the tables give the scores of the index in memory; a chunk without a common term has none."""
    analyzer = load_analyzer(name)
    want = Bm25.from_texts(texts, analyzer=name).scores(query)
    found, lengths = postings(range(len(texts)), texts, analyzer)
    table = score_chunks(analyzer.tokens(query), found, lengths)
    got = np.zeros(len(texts))
    got[table["chunk_id"].to_list()] = table["score"].to_numpy()
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert (want >= 0).all()


@given(TEXTS, NAMES)
def test_postings_count_what_the_analyzer_gives(texts: list[str], name: str) -> None:
    """BM-01: a chunk's postings are the counts of its terms, its length their sum."""
    analyzer = load_analyzer(name)
    found, lengths = postings(range(len(texts)), texts, analyzer)
    counts = {(term, chunk): tf for term, chunk, tf in found.iter_rows()}
    assert counts == {
        (t, i): n for i, text in enumerate(texts) for t, n in Counter(analyzer.tokens(text)).items()
    }
    assert lengths["length"].to_list() == [len(analyzer.tokens(text)) for text in texts]


@given(st.text())
def test_terms_are_folded_and_short(text: str) -> None:
    """BM-02: no white space, no capitals that fold, no empty or endless term."""
    for term in load_analyzer("default").tokens(text):
        assert term
        assert len(term) <= MAX_TERM
        assert not any(character.isspace() for character in term)
        assert term == term.casefold()


@given(st.text())
def test_canonical_forms_are_one_text(text: str) -> None:
    """BM-02: composed or decomposed, the same terms."""
    tokens = load_analyzer("default").tokens
    assert tokens(unicodedata.normalize("NFC", text)) == tokens(unicodedata.normalize("NFD", text))


@given(
    st.lists(st.sampled_from(["retry", "the", "数据", "E0412", "max_tokens", "getURL", "don't"]), max_size=8)
)
def test_words_are_analysed_apart(words: list[str]) -> None:
    """BM-02: a word gives the same terms wherever it stands: a query meets what the document holds."""
    tokens = load_analyzer("default").tokens
    assert tokens(" ".join(words)) == [term for word in words for term in tokens(word)]


@given(st.lists(st.lists(st.integers(0, 9), unique=True, max_size=6), max_size=4), st.integers(0, 100))
def test_fusion_is_the_sum_of_reciprocal_ranks(lists: list[list[int]], k: int) -> None:
    """HY-01: every id once, scores by definition, falling; ties by first appearance."""
    fused = reciprocal_rank_fusion(lists, k)
    seen = list(dict.fromkeys(item for ranking in lists for item in ranking))
    assert sorted(item for item, _ in fused) == sorted(seen)
    for item, score in fused:
        assert score == pytest.approx(sum(1 / (k + r.index(item) + 1) for r in lists if item in r))
    assert fused == sorted(fused, key=lambda pair: (-pair[1], seen.index(pair[0])))
