"""Forced cuts (TK-03, TK-04)."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence

import numpy as np
import pytest
import regex
from numpy.typing import NDArray

from linkrag_dagster.tokens import Cut, TokenCounter, Tokenizer, TokenOffsets
from linkrag_dagster.tokens.cutting import longest_prefix

CLOSING = "。，！？；：、”’）】》,.!?;:)"


def pieces(tokenizer: Tokenizer, text: str, limit: int) -> list[Cut]:
    """The cuts of a text from its start to its end."""
    counter = TokenCounter(tokenizer, text)
    found: list[Cut] = []
    position = 0
    while position < len(text):
        found.append(counter.prefix(position, limit))
        assert found[-1].position > position
        position = found[-1].position
    return found


def texts(text: str, cuts: list[Cut]) -> list[str]:
    ends = [cut.position for cut in cuts]
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def test_all_that_fits_is_one_piece(tokenizer: Tokenizer) -> None:
    text = "All of it fits. 全部。"
    assert TokenCounter(tokenizer, text).prefix(0, 100) == Cut(len(text), False)
    assert TokenCounter(tokenizer, text).prefix(4, 100, 9) == Cut(9, False)


def test_no_piece_begins_with_a_closing_mark(tokenizer: Tokenizer) -> None:
    """TK-03, case-051: punctuation stays with what stands before it."""
    text = "天气很好。我们出门了，路上人很多！你看到了吗？（看到了。）他说：“走吧。”《书名》、【注】；完" * 20
    for limit in (8, 11, 16, 23):
        for piece in texts(text, pieces(tokenizer, text, limit)):
            assert tokenizer.count(piece) <= limit
            assert piece[0] not in CLOSING
            assert piece[-1] not in "（《【“"


def test_words_stay_whole(tokenizer: Tokenizer) -> None:
    """TK-02: cuts go before a blank."""
    text = "Internationalisation considerations notwithstanding, tokenizers fragment uncommon words. " * 20
    for piece in texts(text, pieces(tokenizer, text, 40))[1:]:
        assert piece.startswith(" ")


def test_after_a_line_break(cl100k: Tokenizer) -> None:
    """TK-02: a cut beside a line break leaves it on the left, indentation on the right."""
    text = "    some_value = call()\n" * 200
    assert {piece[:5] for piece in texts(text, pieces(cl100k, text, 44))} == {"    s"}


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧‍👦" * 50,
        "🇩🇪🇫🇷🇯🇵" * 50,
        "👍🏽 e\u0301 " * 50,
        "कर्म क्षेत्र " * 50,
        "각" * 100,
        "天\ufe0f\r\n" * 100,
        "\ud83d天" * 50,
    ],
)
def test_cuts_fall_between_graphemes(tokenizer: Tokenizer, text: str) -> None:
    """TK-03: no emoji, flag, accent or syllable is split, and no U+FFFD comes of it."""
    boundaries = {match.end() for match in regex.finditer(r"\X", text)}
    for cut in pieces(tokenizer, text, 40):
        assert not cut.inside_grapheme
        assert cut.position in boundaries


def test_a_grapheme_beyond_the_limit_is_cut_between_code_points(cl100k: Tokenizer) -> None:
    """TK-03: the one case of a split grapheme, and it is told."""
    text = "ab " + "z" + "\u0301" * 100 + " cd"
    cuts = pieces(cl100k, text, 10)
    assert "".join(texts(text, cuts)) == text
    assert all(cl100k.count(piece) <= 10 for piece in texts(text, cuts))
    split = {cut.position for cut in cuts if cut.inside_grapheme}
    assert split and all(4 < position < 104 for position in split)
    assert [cut for cut in cuts if not cut.inside_grapheme]


def test_a_code_point_beyond_the_limit_is_a_piece(cl100k: Tokenizer) -> None:
    """A cut always makes progress, though a character of three tokens cannot fit one."""
    text = "𓀀𓀁"
    assert cl100k.count(text[0]) > 1
    assert pieces(cl100k, text, 1) == [Cut(1, False), Cut(2, False)]
    assert TokenCounter(cl100k, "👨‍👩‍👧").prefix(0, 1) == Cut(1, True)


def test_blanks_before_a_code_point_beyond_the_limit(word_pieces: Tokenizer) -> None:
    """TK-03: they have no tokens and fit, whichever way the cut is found; a syllable of three tokens is a piece."""
    text = " \n한국어" + " and some words, 天气很好。" * 12
    counter = TokenCounter(word_pieces, text)
    for end in (4, 9, len(text)):
        assert counter.prefix(0, 1, end) == Cut(2, False)
        assert longest_prefix(word_pieces, text, 0, end, 1, 4.0, counter.count) == Cut(2, False)
    assert counter.prefix(2, 1) == Cut(3, False)


def test_an_overlong_word_is_cut_by_its_budget(word_pieces: Tokenizer) -> None:
    """TK-06: a run of base64 is never one token, and each piece of it keeps within the limit."""
    draw = random.Random(5)
    text = "".join(draw.choice(string.ascii_letters + string.digits) for _ in range(6_000))
    for limit in (5, 24, 25, 26, 222):
        for piece in texts(text, pieces(word_pieces, text, limit)):
            assert word_pieces.count(piece) <= limit
    assert len(pieces(word_pieces, text, 222)) == pytest.approx(6_000 / 4 / 222, rel=0.1)


def test_no_token_more_would_fit(tokenizer: Tokenizer) -> None:
    """TK-03, the longest prefix: a piece without words or marks to spare fills its limit."""
    text = "天气很好我们出门了路上人很多不知道什么时候回来呢" * 40
    cuts = pieces(tokenizer, text, 50)
    for piece in texts(text, cuts)[:-1]:
        assert 47 <= tokenizer.count(piece) <= 50


@pytest.mark.parametrize(("start", "limit", "end"), [(0, 0, None), (3, 5, None), (2, 5, 2), (0, 5, 4)])
def test_pieces_that_cannot_be_are_refused(
    cl100k: Tokenizer, start: int, limit: int, end: int | None
) -> None:
    with pytest.raises(ValueError, match=r"limit of at least 1|no text in"):
        TokenCounter(cl100k, "abc").prefix(start, limit, end)


class Metered:
    """A tokenizer that adds up the code points it is given."""

    def __init__(self, inner: Tokenizer) -> None:
        self.inner = inner
        self.name, self.version = inner.name, inner.version
        self.vocabulary_hash, self.special_tokens = inner.vocabulary_hash, inner.special_tokens
        self.densest = inner.densest
        self.read = 0

    def count(self, text: str) -> int:
        self.read += len(text)
        return self.inner.count(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def encode_offsets(self, text: str) -> TokenOffsets:
        self.read += len(text)
        return self.inner.encode_offsets(text)

    def safe_cuts(self, text: str) -> NDArray[np.int64]:
        return self.inner.safe_cuts(text)

    def count_between(self, text: str, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        self.read += len(text)
        return self.inner.count_between(text, cuts)


@pytest.mark.parametrize(
    "text",
    [
        "天气很好我们出门了路上人很多" * 3000,
        "The quick brown fox jumps over the lazy dog. " * 1000,
        "QUJDREVGR0hJSktM" * 3000,
        "a" * 40_000,
        " " * 40_000,
        "\n" * 20_000,
        "👨‍👩‍👧" * 6000,
        "a" + "\u0301" * 20_000,
    ],
    ids=["chinese", "english", "base64", "letters", "blanks", "lines", "emoji", "accents"],
)
def test_cutting_reads_a_text_a_few_times_only(tokenizer: Tokenizer, text: str) -> None:
    """TK-04: one line of any kind is cut in linear time."""
    meter = Metered(tokenizer)
    pieces(meter, text, 222)
    assert meter.read <= 8 * len(text) + 1000
