"""BM25 in DuckDB's SQL alone, from the catalogue's views (BM-01).

The views: `bm25_terms (term, df, idf)`, `bm25_postings (term, chunk_id, tf)`, `bm25_lengths (chunk_id,
length)`, `bm25_corpus (n, avgdl, k1, b, tokenizer)`. The query's terms come as a list; where the tokenizer is
`reference`, `regexp_extract_all(lower('How long do I wait?'), '[a-z0-9]+')` makes it.
"""

from __future__ import annotations

from linkrag_dagster.lexical.bm25 import TIE_DECIMALS


def score_sql(schema: str, terms: str = "$terms") -> str:
    """A query that scores chunks: rows `(chunk_id, score)`, ranked as `score_chunks` ranks them.

    Args:
        schema: the corpus' schema in the catalogue.
        terms: an SQL expression for the list of the query's terms, repeats included; by default the parameter `terms`.
    """
    at = quoted(schema)
    # Summed in the order of terms, as in Python: equal chunks get equal sums.
    return f"""\
SELECT p.chunk_id, sum(
    q.weight * (t.idf * (p.tf * (c.k1 + 1.0)) / (p.tf + c.k1 * (1.0 - c.b + c.b * l.length / c.avgdl))) ORDER BY p.term
) AS score
FROM (SELECT term, count(*) AS weight FROM (SELECT unnest(CAST({terms} AS VARCHAR[])) AS term) GROUP BY term) AS q
JOIN {at}.bm25_terms AS t USING (term)
JOIN {at}.bm25_postings AS p USING (term)
JOIN {at}.bm25_lengths AS l USING (chunk_id)
CROSS JOIN {at}.bm25_corpus AS c
GROUP BY p.chunk_id
ORDER BY round(score, {TIE_DECIMALS}) DESC, p.chunk_id"""


def macro_sql(schema: str) -> str:
    """A statement that defines the same as a table macro: `SELECT * FROM handbook.bm25_scores(['retry', 'rule'])`."""
    return (
        f"CREATE OR REPLACE MACRO {quoted(schema)}.bm25_scores(terms) AS TABLE\n{score_sql(schema, 'terms')}"
    )


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
