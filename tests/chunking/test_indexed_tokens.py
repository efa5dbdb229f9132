"""Tokens of indexed texts, added up from their parts (TK-02)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.chunking import chunk_text
from linkrag_dagster.chunking.default_encoder import default_encoder
from linkrag_dagster.chunking.indexed_tokens import IndexedTokens
from linkrag_dagster.chunking.records import Span
from linkrag_dagster.chunking.window import IndexedText
from linkrag_dagster.tokens import TokenCounter, Tokenizer, load_tokenizer

WORDS = st.sampled_from([
    "word", "Boats", " ", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "…", "'s", "-", "#", "1", "22",
    "港口", "。", "é", "e\u0301", "\u0301", "🙂", "\u200d", "[a](b)", "x" * 130, "\x00", "\ud800",
])  # fmt: skip
TEXT = st.lists(WORDS, max_size=30).map("".join)
LINE = TEXT.map(lambda text: " ".join(text.split()))
TOKENIZERS = {"cl100k_base": load_tokenizer("cl100k_base"), "encoder": default_encoder().tokenizer}


@dataclass(frozen=True, slots=True)
class At:
    start_char: int
    end_char: int
    verbatim: bool = True


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, IndexedText, At]:
    """A document, and a text with any of the parts that there are."""
    document = draw(TEXT)
    marks = sorted(draw(st.lists(st.integers(0, len(document)), min_size=4, max_size=4)))
    before, start, end, after = marks
    content = document[start:end]
    verbatim = draw(st.booleans())
    spans: list[Span] = []
    left = right = ""
    if draw(st.booleans()) and before < start:
        left = document[before:start]
        spans.append(Span(before, start))
    if draw(st.booleans()) and end < after:
        right = document[end:after]
        spans.append(Span(end, after))
    header = draw(st.lists(LINE.filter(bool), max_size=3))
    text = IndexedText(
        tuple(header),
        content if verbatim else draw(TEXT),
        draw(st.just("") | TEXT),
        left,
        draw(st.just("") | TEXT),
        right,
        tuple(spans),
    )
    return document, text, At(start, end, verbatim)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(made=texts())
def test_counts_are_those_of_the_whole_text(name: str, made: tuple[str, IndexedText, At]) -> None:
    """TK-02: whatever the parts, and whatever stands where they meet, the tokens are those of the text encoded."""
    tokenizer = TOKENIZERS[name]
    document, text, place = made
    counts = IndexedTokens(tokenizer, lambda: TokenCounter(tokenizer, document))
    wanted = tokenizer.count(str(text))
    assert counts.count(text, place) == wanted
    known = [tokenizer.count(text.content)]
    assert counts.count_each([text, text], [place, place]) == [wanted, wanted]
    assert counts.count_each([text], [place], known) == [wanted]


@pytest.mark.parametrize("name", TOKENIZERS)
def test_the_document_is_tokenised_only_if_it_helps(name: str) -> None:
    """TK-04: where the contents' tokens are known and nothing stands beside them, only the headers are encoded."""
    tokenizer = TOKENIZERS[name]

    def refused() -> TokenCounter:
        raise AssertionError("the document was tokenised")

    text = IndexedText(("A title",), "Boats come in.")
    counts = IndexedTokens(tokenizer, refused)
    known = [tokenizer.count(text.content)]
    assert counts.count_each([text], [At(0, 14)], known) == [tokenizer.count(str(text))]


@pytest.mark.parametrize("strategy", ["pack", "noop", "fixed"])
@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
def test_stored_counts(strategy: str, tokenizer: Tokenizer) -> None:
    """EX-05: `encoder_tokens` are those of the stored text, special ones included."""
    text = (
        "# Harbour\n\n"
        + "Boats come in at five. 港口五点开门。\n\n" * 400
        + "| boat | quay |\n|---|---|\n"
        + "| Ann | 3 |\n" * 60
        + "\n![a crane](crane.png)\n\n```\n"
        + "lift(load)\n" * 90
        + "```\n"
    )
    made = chunk_text(text, strategy=strategy, tokenizer=tokenizer, settings={"overlap_tokens": 16})
    assert len(made.chunks) > 1
    wanted = [tokenizer.count(chunk.text) + tokenizer.special_tokens for chunk in made.chunks]
    assert [chunk.encoder_tokens for chunk in made.chunks] == wanted
