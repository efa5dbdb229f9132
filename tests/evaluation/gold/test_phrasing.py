"""Two phrasings of a needle: the document's words, and a ticket in others."""

from __future__ import annotations

import pytest

from linkrag_dagster.evaluation.gold import check_gold, read_own, shared_content_words
from linkrag_dagster.lexical import load_analyzer

from .builders import corpus, jsonl

NEEDLE = "The ferry to Lundholm leaves the north quay at seven."


@pytest.mark.parametrize(
    ("question", "needle", "shared"),
    [
        ("When does the boat go?", NEEDLE, ()),
        ("When does the ferry go?", NEEDLE, ("ferry",)),
        ("When do ferries leave the north?", NEEDLE, ("ferries", "leave", "north")),
        ("Ferry, ferries, FERRY!", NEEDLE, ("Ferry",)),
        ("What is it that the it is to at?", NEEDLE, ()),
        ("May it be only up to seven?", "It may take up to seven days only.", ("seven",)),
        ("Is `max_tokens` too small?", "Set max_tokens to 512.", ("max_tokens",)),
        ("Is max_tokens, the tokens maximum, 512?", "Set max_tokens to 512.", ("max_tokens", "512")),
        ("why won\u2019t the caf\u00e9 open", "The cafe is shut.", ("café",)),
        ("东西找不到怎么办？", "看守每天擦拭棱镜。", ()),
        ("棱镜是不是脏了？", "看守每天擦拭棱镜。", ("棱镜",)),
        ("看守什么时候擦拭棱镜？", "看守每天擦拭棱镜。", ("看守", "擦拭", "棱镜")),
        ("灯塔看守擦拭", "看守擦拭棱镜", ("看守", "擦拭")),
        ("镜子", "棱镜", ()),
        ("BM25 的参数 k1", "BM25 有两个参数", ("BM25", "参数")),
    ],
)
def test_shared_content_words(question: str, needle: str, shared: tuple[str, ...]) -> None:
    """Inflections are one word, compounds are one, stop words none; Chinese counts by two characters."""
    found = shared_content_words(question, needle, load_analyzer("default"))
    assert len(found) == len(shared)
    assert set(found) == set(shared) or {w.replace("é", "e") for w in shared} == set(found)


def _row(question_id: str, phrasing: str, asked: str, text: str = NEEDLE) -> dict[str, object]:
    return {
        "question_id": question_id,
        "needle_id": "n",
        "phrasing": phrasing,
        "question": asked,
        "evidence": [{"doc": "a.md", "text": text}],
    }


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("What time is the boat?", None),
        ("What time is the ferry?", None),
        ("Does the ferry go from the quay?", ("ferry", "quay")),
    ],
)
def test_a_ticket_may_share_one_word(asked: str, words: tuple[str, ...] | None) -> None:
    """The finding names the words, and leaves the question usable."""
    rows = (_row("d", "doc", "When does the ferry leave the quay?"), _row("t", "ticket", asked))
    checked = check_gold(read_own([jsonl("q.jsonl", *rows)]), corpus(a=f"{NEEDLE}\n"))
    found = [(f.question_id, f.kind, f.words) for f in checked.findings]
    assert found == ([] if words is None else [("t", "ticket_overlap", words)])
    assert len(checked.questions) == 2 and checked.left_out == ()


@pytest.mark.parametrize(
    ("phrasings", "kinds"),
    [
        (("doc", "ticket"), []),
        (("doc",), ["phrasings"]),
        (("doc", "doc"), ["phrasings"]),
        (("doc", "ticket", "ticket"), ["phrasings"]),
        (("doc", "user"), ["phrasings"]),
        (("", "ticket"), ["phrasings"]),
        (("", ""), []),
    ],
)
def test_each_needle_has_one_of_each(phrasings: tuple[str, ...], kinds: list[str]) -> None:
    """Where phrasings are named at all."""
    rows = [_row(f"q{i}", phrasing, "When?") for i, phrasing in enumerate(phrasings)]
    checked = check_gold(read_own([jsonl("q.jsonl", *rows)]), corpus(a=f"{NEEDLE}\n"))
    assert [f.kind for f in checked.findings] == kinds


def test_phrasings_of_one_needle_share_its_evidence() -> None:
    """Needles are what figures are clustered by: one fact each."""
    rows = (_row("d", "doc", "When?"), _row("t", "ticket", "When?", "Other words."))
    checked = check_gold(read_own([jsonl("q.jsonl", *rows)]), corpus(a=f"{NEEDLE}\n\nOther words.\n"))
    assert [(f.question_id, f.kind) for f in checked.findings] == [("t", "evidence_differs")]
