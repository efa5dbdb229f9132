"""Sentence spans (TK-03)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linkrag_dagster.tokens import inner_stops, sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def test_abbreviations_and_numbers(shared: Path) -> None:
    """TK-03, case-071: no cut after Dr., Jan., e.g., Fig. or inside 3.50."""
    lines = (shared / "cases" / "markdown.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if "sentences" in case["expect"]]
    assert cases
    for case in cases:
        assert split(case["input"]) == case["expect"]["sentences"], case["id"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\u3000", []),
        ("no stop at all", ["no stop at all"]),
        (
            "天气很好。我们出门了。路上人很多！你看到了吗？看到了。",
            ["天气很好。", "我们出门了。", "路上人很多！", "你看到了吗？", "看到了。"],
        ),
        ("他说：“走吧。”然后离开了。", ["他说：“走吧。”", "然后离开了。"]),
        ("これは本です。「行こう。」と言った。", ["これは本です。", "「行こう。」", "と言った。"]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("真的！！！好的……再见。", ["真的！！！", "好的……再见。"]),
        ("  One line.\nSame paragraph\n\n \n Next one. ", ["One line.", "Same paragraph", "Next one."]),
        ("A first\nsentence. B\r\n\r\nC", ["A first\nsentence.", "B", "C"]),
        ("Broken \ud83d one. Next one.", ["Broken \ud83d one.", "Next one."]),
        ("他走了。1923年他来了。pH不变。", ["他走了。", "1923年他来了。", "pH不变。"]),
        ("船は出た。3日後に着いた。", ["船は出た。", "3日後に着いた。"]),
        ("他写道：“天晴。2人出海。”1923年船回。", ["他写道：“天晴。2人出海。”", "1923年船回。"]),
        ("这本《一。二》好。3人读过。", ["这本《一。二》好。", "3人读过。"]),
        ("他是T.C.B.S的成员。后来。", ["他是T.C.B.S的成员。", "后来。"]),
        (
            "他问“你是谁？”，我没回答。《谁？》、《我》都好。",
            ["他问“你是谁？”，我没回答。", "《谁？》、《我》都好。"],
        ),
        ("好啊！，他说。省略号……：真的？；完。", ["好啊！，他说。", "省略号……：真的？；完。"]),
        ("Great! :) Next one.", ["Great!", ":) Next one."]),
        (
            "（没有关上。2人走了。“a) 也没有。3人来了。",
            ["（没有关上。", "2人走了。", "“a) 也没有。", "3人来了。"],
        ),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """TK-03: Chinese, Japanese, English; closing quotes and repeated stops stay left."""
    assert split(text) == expected


def test_no_part_of_a_long_sentence_begins_with_a_comma() -> None:
    """TK-03: a cut after a stop in quotes falls behind the comma that follows."""
    text = "他问：“你是谁？”，又问：“你从哪里来？”、“几时？”，没人答"
    places = inner_stops(text, 0, len(text))
    assert [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)] == [
        "他问：“你是谁？”，",
        "又问：“你从哪里来？”、",
        "“几时？”，",
        "没人答",
    ]


def test_stops_inside_a_sentence() -> None:
    """SD-02: one too long has stops in its quotes and brackets; a Latin stop counts before white space alone."""
    text = "他说：“船来了。3人上岸。”"
    assert [text[:at] for at in inner_stops(text, 0, len(text))] == ["他说：“船来了。", text]
    text = 'He read: "It is 3.50 (net). Pay now!" and left'
    assert [text[at:] for at in inner_stops(text, 3, len(text))] == ['Pay now!" and left', "and left"]
    assert inner_stops("。" * 50_000, 0, 50_000) == [50_000]


@pytest.mark.parametrize(
    "text", ["。" * 40_000, "“。" * 20_000, "(" * 20_000 + "。)" * 10_000, "）。" * 20_000]
)
def test_full_width_stops_are_read_once(text: str) -> None:
    """TK-04: runs of stops, quotes that never close and brackets without number are read in linear steps."""
    assert "".join(split(text)) == text


def test_a_sentence_longer_than_a_window_stays_whole() -> None:
    """The library is given the text in windows; a sentence is not cut at their ends."""
    long = "word " * 1000 + "end."
    assert split(f"Short one. {long} Next one.") == ["Short one.", long, "Next one."]
    chinese = "很" * 5000 + "。"
    assert split(f"好。{chinese}好。") == ["好。", chinese, "好。"]


def test_windows_change_no_boundary() -> None:
    """Abbreviations keep their meaning wherever a window would end."""
    sentence = "Dr. Lee paid $3.50 in Jan. to Acme Inc. on Monday."
    for shift in range(0, 60, 7):
        head = "x" * (shift + 9) + "."
        assert split(head + " " + " ".join([sentence] * 100)) == [head, *([sentence] * 100)]


def test_one_long_chinese_line_is_split_in_linear_steps() -> None:
    """TK-04: the library alone is quadratic in Chinese; a line of 220,000 takes it minutes."""
    text = "天气很好，我们出门了。" * 20_000
    assert split(text) == ["天气很好，我们出门了。"] * 20_000
