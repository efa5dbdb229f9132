"""BM25: postings of chunks, their statistics, and scores (BM-01, BM-03).

A chunk's score is the sum over the query's tokens, repeats included, of

    idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / avgdl)),  idf = ln(1 + (n - df + 0.5) / (df + 0.5))

Source: `seeds/000`; Robertson & Zaragoza (2009), with Lucene's idf, which is never negative. Postings and lengths
are kept by shard; document frequencies, the number of chunks and their total length are sums over shards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from linkrag_dagster.lexical.analyzers import Analyzer, load_analyzer

K1 = 1.2
B = 0.75

TIE_DECIMALS = 9
"""Scores equal to so many decimals are a tie: sums of the same terms may differ in their last bits."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Totals over all chunks; those of two shards add up.

    Attributes:
        n: number of chunks, empty ones included.
        total_length: number of terms in all of them.
    """

    n: int = 0
    total_length: int = 0

    @property
    def avgdl(self) -> float:
        """Mean length of a chunk in terms; 0.0 where there are no chunks."""
        return self.total_length / self.n if self.n else 0.0

    def __add__(self, other: Corpus) -> Corpus:
        return Corpus(self.n + other.n, self.total_length + other.total_length)


def postings(
    chunk_ids: Sequence[str] | Sequence[int], texts: Sequence[str], analyzer: Analyzer
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Analyse chunks.

    Args:
        chunk_ids: an id a chunk, all different.
        texts: what is indexed of each.
        analyzer: turns texts into terms.

    Returns:
        Postings `(term, chunk_id, tf)` by term, then chunk; and lengths `(chunk_id, length)`, one row a chunk
        in the order given, a chunk without terms included.

    Raises:
        ValueError: another number of texts than of ids, or an id that comes twice.
    """
    if len(chunk_ids) != len(texts):
        raise ValueError(f"{len(chunk_ids)} chunk ids for {len(texts)} texts: give one id a text")
    ids = pl.Series("chunk_id", chunk_ids, dtype=None if chunk_ids else pl.String)
    if ids.n_unique() != len(ids):
        twice = ids.filter(ids.is_duplicated())[0]
        raise ValueError(f"chunk {twice!r} comes more than once: give each chunk its own id")
    vocabulary: dict[str, int] = {}
    terms: list[int] = []
    counts: list[int] = []
    distinct: list[int] = []
    lengths: list[int] = []
    for tokens in analyzer.token_lists(texts):
        tf = Counter(tokens)
        terms += [vocabulary.setdefault(term, len(vocabulary)) for term in tf]
        counts += tf.values()
        distinct.append(len(tf))
        lengths.append(len(tokens))
    rows = np.repeat(np.arange(len(texts)), np.asarray(distinct, dtype=np.int64))
    found = pl.DataFrame(
        {
            "term": pl.Series(list(vocabulary), dtype=pl.String).gather(terms),
            "chunk_id": ids.gather(rows),
            "tf": pl.Series(counts, dtype=pl.Int64),
        }
    )
    return found.sort("term", "chunk_id"), pl.DataFrame(
        {"chunk_id": ids, "length": pl.Series(lengths, dtype=pl.Int64)}
    )


def term_counts(found: pl.DataFrame) -> pl.DataFrame:
    """Document frequencies `(term, df)` of one shard's postings, by term: what `terms` adds up."""
    return found.group_by("term").agg(pl.len().cast(pl.Int64).alias("df")).sort("term")


def corpus(lengths: pl.DataFrame) -> Corpus:
    """Totals of one shard's lengths, or of all."""
    return Corpus(lengths.height, int(lengths["length"].sum()))


def terms(partials: Iterable[pl.DataFrame], n: int) -> pl.DataFrame:
    """Terms `(term, df, idf)` of a corpus of `n` chunks, by term, from the counts of its shards.

    Raises:
        ValueError: a term is in more chunks than there are.
    """
    empty = pl.DataFrame(schema={"term": pl.String, "df": pl.Int64})
    summed = pl.concat([empty, *partials]).group_by("term").agg(pl.col("df").sum()).sort("term")
    if summed.height and (most := int(summed["df"].to_numpy().max())) > n:
        raise ValueError(
            f"a term is in {most} chunks of {n}: the counts and the corpus are not of the same shards"
        )
    return summed.with_columns(pl.Series("idf", idf(summed["df"].to_numpy(), n), dtype=pl.Float64))


def idf(df: npt.NDArray[np.int64], n: int) -> Floats:
    """Inverse document frequency of terms that are in `df` of `n` chunks; never negative."""
    return np.log(1.0 + (n - df + 0.5) / (df + 0.5))


def score_chunks(
    tokens: Sequence[str],
    found: pl.DataFrame,
    lengths: pl.DataFrame,
    *,
    k1: float = K1,
    b: float = B,
    totals: Corpus | None = None,
) -> pl.DataFrame:
    """Score chunks for a query.

    Args:
        tokens: the query's terms, by the analyzer of the postings; repeats count as often as they stand.
        found: all postings `(term, chunk_id, tf)` of these terms; others are ignored.
        lengths: `(chunk_id, length)` of the chunks that may be found; postings of others are an error.
        k1: how slowly repetition stops to help.
        b: how much a chunk's length counts, from 0 to 1.
        totals: the corpus; that of `lengths` where it is left out.

    Returns:
        `(chunk_id, score)` of the chunks that hold a term of the query, by falling score, ties (TIE_DECIMALS)
        by chunk id. No rows for an empty query, an empty corpus or unknown terms.

    Raises:
        ValueError: k1 or b out of range, or postings of a chunk without a length.
    """
    check_constants(k1, b)
    whole = corpus(lengths) if totals is None else totals
    weights = Counter(tokens)
    query = pl.DataFrame(
        {
            "term": pl.Series(list(weights), dtype=pl.String),
            "weight": pl.Series(list(weights.values()), dtype=pl.Int64),
        }
    )
    hits = found.join(query, on="term").join(lengths, on="chunk_id", how="left").sort("term", "chunk_id")
    if hits["length"].null_count():
        lost = hits.filter(pl.col("length").is_null())["chunk_id"][0]
        raise ValueError(f"chunk {lost!r} has postings and no length: read both from the same generation")
    hits = hits.with_columns(pl.len().over("term").cast(pl.Int64).alias("df"))
    gains = hits["weight"].to_numpy() * gain(
        idf(hits["df"].to_numpy(), whole.n),
        hits["tf"].to_numpy(),
        hits["length"].to_numpy(),
        whole.avgdl,
        k1,
        b,
    )
    # Sorted by term above: every chunk's sum is taken in one order, so that equal chunks get equal bits.
    return (
        hits.select("chunk_id", pl.Series("score", gains, dtype=pl.Float64))
        .group_by("chunk_id", maintain_order=True)
        .agg(pl.col("score").sum())
        .sort(pl.col("score").round(TIE_DECIMALS), "chunk_id", descending=[True, False])
    )


def gain(
    weight: Floats,
    tf: npt.NDArray[np.int64],
    length: npt.NDArray[np.int64],
    avgdl: float,
    k1: float,
    b: float,
) -> Floats:
    """What one term adds to the score of one chunk: `weight` is its idf. All arrays are of one shape."""
    return weight * (tf * (k1 + 1.0)) / (tf + k1 * (1.0 - b + b * length / avgdl)) if len(tf) else np.zeros(0)


def check_constants(k1: float, b: float) -> None:
    """Raises ValueError where k1 is negative or b is outside 0 … 1."""
    if not 0.0 <= k1 < float("inf"):
        raise ValueError(f"k1 is {k1}: give 0 or more (1.2 is usual)")
    if not 0.0 <= b <= 1.0:
        raise ValueError(f"b is {b}: give a number from 0 to 1 (0.75 is usual)")


@dataclass(frozen=True, slots=True)
class Bm25:
    """An index in memory, for texts that are at hand: no lake, no tables. Made by `from_texts`.

    Attributes:
        analyzer: turns texts and queries into terms.
        size: number of texts.
        impacts: for each term, the texts that hold it and what it adds to the score of each.
    """

    analyzer: Analyzer
    size: int
    impacts: dict[str, tuple[npt.NDArray[np.int64], Floats]]

    @classmethod
    def from_texts(
        cls, texts: Sequence[str], *, k1: float = K1, b: float = B, analyzer: str | Analyzer = "reference"
    ) -> Bm25:
        """Index texts.

        Args:
            texts: any number, empty ones allowed; their positions are their ids.
            k1: how slowly repetition stops to help.
            b: how much a text's length counts, from 0 to 1.
            analyzer: an analyzer, or its name.

        Raises:
            ValueError: k1 or b out of range.
            UnknownAnalyzer: no analyzer has that name.
        """
        check_constants(k1, b)
        used = load_analyzer(analyzer) if isinstance(analyzer, str) else analyzer
        found, lengths = postings(range(len(texts)), texts, used)
        counts = term_counts(found)
        totals = corpus(lengths)
        df = counts["df"].to_numpy()
        rows = found["chunk_id"].cast(pl.Int64).to_numpy()
        length = lengths["length"].to_numpy()
        gains = gain(
            np.repeat(idf(df, totals.n), df), found["tf"].to_numpy(), length[rows], totals.avgdl, k1, b
        )
        ends = np.cumsum(df)
        return cls(
            used,
            len(texts),
            {
                term: (rows[end - count : end], gains[end - count : end])
                for term, count, end in zip(counts["term"].to_list(), df.tolist(), ends.tolist(), strict=True)
            },
        )

    def scores(self, query: str) -> Floats:
        """Score of every text, in the order of the texts: shape (size,), 0.0 without a common term."""
        total = np.zeros(self.size)
        for term, weight in sorted(Counter(self.analyzer.tokens(query)).items()):
            if term in self.impacts:
                rows, gains = self.impacts[term]
                total[rows] += weight * gains
        return total
