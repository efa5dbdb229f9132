"""Exact counts of slices (TK-02)."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import tokenizers
from tokenizers import models, pre_tokenizers

from linkrag_dagster.tokens import TokenCounter, Tokenizer, load_tokenizer


def test_recorded_counts_of_the_cases(shared: Path, cl100k: Tokenizer) -> None:
    """TK-01, TK-02: every case's `n_tokens_cl100k`, by the tokenizer and by the counter."""
    lines = (shared / "cases" / "markdown.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert len(cases) >= 50
    for case in cases:
        text, expected = case["input"], case["expect"]["n_tokens_cl100k"]
        assert cl100k.count(text) == expected, case["id"]
        assert TokenCounter(cl100k, text).count(0, len(text)) == expected, case["id"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "One. Two. Three; it's 3.14, isn't it?",
        "天气很好。我们，出门了！“路上”人很多",
        "a  b   c\n\n  d\n\t e \r\n\r\nf",
        "!\n/x !!/\n\n/ y\n'z don't\n's",
        "1234567 89 x12y345z",
        "e\u0301a\u0301 \u0301 !\u0301a \ud83d\ude00 👨‍👩‍👧🇩🇪🇫🇷",
        "  \u3000\u00a0 x\u2028y\x85z\x1cq",
        "x" * 130 + " " + "y" * 99 + "." + "z" * 101,
        "カタカナのテスト、한국어 텍스트 ไทยไม่มีช่องว่าง",
    ],
)
def test_every_slice_counts_as_it_does_alone(tokenizer: Tokenizer, text: str) -> None:
    """TK-02: `count(a, b)` is exact wherever a and b fall; padded, for prefix sums serve long slices only."""
    pad = "some words, 天气 " * 6
    whole = pad + text + pad
    counter = TokenCounter(tokenizer, whole)
    for place in range(len(whole) + 1):
        for start, end in ((0, place), (place, len(whole)), (place, place + 70), (place, place + 81)):
            if end <= len(whole):
                assert counter.count(start, end) == tokenizer.count(whole[start:end]), (start, end)
    assert counter.total == tokenizer.count(whole)
    for cut in tokenizer.safe_cuts(text).tolist():
        assert tokenizer.count(text) == tokenizer.count(text[:cut]) + tokenizer.count(text[cut:]), cut


def test_many_slices_of_one_end_or_one_start(tokenizer: Tokenizer) -> None:
    """TK-02: what is looked up for many slices at once is what `count` says of each."""
    words = [
        "words, ",
        "天气。",
        "\n",
        "  \n\t",
        "x" * 40,
        "):\n",
        "don't ",
        "e\u0301",
        "12345 ",
        "👨‍👩‍👧",
        "\ud800",
        "\ufdfa",
        "\n\n",
    ]
    rng = random.Random(5)
    for _ in range(4):
        text = "".join(rng.choice(words) for _ in range(100))
        counter = TokenCounter(tokenizer, text)
        end = rng.randrange(len(text) // 2, len(text) + 1)
        counts = [counter.count(start, end) for start in range(end)]
        for limit in (1, 9, 40, 1000):
            fits = counter.fits_to(end, limit)
            told = [fits(start) for start in range(end)]
            assert told == [count <= limit for count in counts]
            assert told == [counter.fits(start, end, limit) for start in range(end)]
        shift = rng.randrange(10)
        ends = sorted(rng.sample(range(shift, len(text) + 1), 60))
        for start in rng.sample(range(shift, ends[0] + 1), min(3, ends[0] + 1 - shift)):
            for limit in (0, 1, 9, 40, 1000):
                for at in (0, 17):
                    above = [n for n in range(at, 60) if counter.count(start, ends[n]) > limit]
                    inside = [place - shift for place in ends]
                    assert counter.first_above(start, inside, at, limit, shift) == (above or [60])[0]
                    found = counter.first_above(start, inside, at, limit, shift, stop=40)
                    assert found == min([*above, 40])


def test_counts_add_up_at_safe_cuts_beside_every_character(cl100k: Tokenizer, o200k: Tokenizer) -> None:
    """TK-02: no character of the basic plane or among emoji makes a safe cut unsafe."""
    companions = ["a", "B", "5", " ", "\n", "!", "'s", "/", "天", "\u0301", "  x", "\n\n", "!\n"]
    for tokenizer in (cl100k, o200k):
        for code in (*range(0xD800), *range(0xE000, 0x10000, 7), *range(0x1F300, 0x1F700, 3)):
            middle = chr(code)
            companion = companions[code % len(companions)]
            text = f"x{companion}{middle}{companion}y"
            for cut in tokenizer.safe_cuts(text).tolist():
                assert tokenizer.count(text) == tokenizer.count(text[:cut]) + tokenizer.count(text[cut:]), (
                    tokenizer.name,
                    text,
                    cut,
                )


def test_counts_across_blocks(tokenizer: Tokenizer) -> None:
    """TK-02: prefix sums go on where one block ends and the next begins."""
    draw = random.Random(3)
    text = "".join(draw.choice(["word ", "天气，", "x1\n", "。\n\n", "  y", "QUJD"]) for _ in range(70_000))
    counter = TokenCounter(tokenizer, text)
    assert counter.total == tokenizer.count(text)
    for _ in range(10):
        start = draw.randrange(len(text))
        end = draw.randrange(start, len(text))
        assert counter.count(start, end) == tokenizer.count(text[start:end])


def test_a_vocabulary_that_promises_nothing_is_counted_exactly(tmp_path: Path) -> None:
    """TK-02: without safe cuts every slice is encoded anew."""
    model = tokenizers.Tokenizer(models.WordLevel({"[UNK]": 0, "one two": 1}, unk_token="[UNK]"))
    model.pre_tokenizer = pre_tokenizers.Split(",", "isolated")
    model.save(str(tmp_path / "tokenizer.json"))
    tokenizer = load_tokenizer("words", path=str(tmp_path))
    text = "one two, three,four , five" * 5
    counter = TokenCounter(tokenizer, text)
    for start in range(0, len(text), 3):
        for end in range(start, len(text), 2):
            assert counter.count(start, end) == tokenizer.count(text[start:end])


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 1), (0, 4)])
def test_slices_outside_the_text_are_refused(cl100k: Tokenizer, start: int, end: int) -> None:
    counter = TokenCounter(cl100k, "abc")
    with pytest.raises(ValueError, match="no slice"):
        counter.count(start, end)


def test_many_slices_name_the_wrong_one(cl100k: Tokenizer) -> None:
    """`count_each` refuses what `count` refuses."""
    with pytest.raises(ValueError, match=r"\[2, 9\)"):
        TokenCounter(cl100k, "abc").count_each([0, 2], [1, 9])
