"""Lexical statistics: analyzers and BM25, without a lake."""

from linkrag_dagster.lexical.analyzers import ANALYZERS, Analyzer, UnknownAnalyzer, load_analyzer
from linkrag_dagster.lexical.bm25 import Bm25, Corpus, corpus, postings, score_chunks, term_counts, terms
from linkrag_dagster.lexical.sql import macro_sql, score_sql

__all__ = [
    "ANALYZERS",
    "Analyzer",
    "Bm25",
    "Corpus",
    "UnknownAnalyzer",
    "corpus",
    "load_analyzer",
    "macro_sql",
    "postings",
    "score_chunks",
    "score_sql",
    "term_counts",
    "terms",
]
