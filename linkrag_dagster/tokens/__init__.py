"""Tokens: named tokenizers, exact counts of spans, safe cuts, sentences. Pure; knows no other package."""

from linkrag_dagster.tokens.counting import TokenCounter
from linkrag_dagster.tokens.cutting import Cut
from linkrag_dagster.tokens.loading import BYTE_PAIR_ENCODINGS, load_tokenizer
from linkrag_dagster.tokens.sentences import inner_stops, sentences
from linkrag_dagster.tokens.tokenizer import Tokenizer, TokenizerNotFound, TokenOffsets

__all__ = [
    "BYTE_PAIR_ENCODINGS",
    "Cut",
    "TokenCounter",
    "TokenOffsets",
    "Tokenizer",
    "TokenizerNotFound",
    "inner_stops",
    "load_tokenizer",
    "sentences",
]
