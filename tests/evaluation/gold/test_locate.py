"""Needles in texts: where they stand, or why they can't be used."""

from __future__ import annotations

import dataclasses
import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.gold import (
    CorpusDocument,
    GoldCorpus,
    Needle,
    check_gold,
    read_own,
)
from linkrag_dagster.evaluation.gold.findings import Problem
from linkrag_dagster.evaluation.gold.locate import NeedleFinder
from linkrag_dagster.evaluation.records import EvidenceSpan

from .builders import corpus, document, jsonl, question

FERRY = (
    "# Ferry\n\n## Summer\n\nThe ferry to Lundholm leaves the north\nquay at seven. Bicycles travel free.\n"
)
CRANE = "# Crane rules\n\nThe blue crane lifts at most eleven tonnes. The red one lifts four.\n"
LAMP = "# 灯塔\n\n灯每九秒\n转一圈。看守每天擦拭棱镜，并记下每一块破损的玻璃。\n"


def located(needle: Needle, texts: GoldCorpus) -> EvidenceSpan:
    found = NeedleFinder(texts).locate(needle)
    assert isinstance(found, EvidenceSpan), found
    return found


def refused(needle: Needle, texts: GoldCorpus) -> Problem:
    found = NeedleFinder(texts).locate(needle)
    assert isinstance(found, Problem), found
    return found


@pytest.mark.parametrize("doc", ["ferry.md", "./ferry.md", "id-ferry.md"])
@pytest.mark.parametrize(
    ("words", "there"),
    [
        ("leaves the north\nquay", "leaves the north\nquay"),
        ("leaves the north quay at seven.", "leaves the north\nquay at seven."),
        (" Bicycles  travel free. ", "Bicycles travel free."),
    ],
)
def test_words_are_found_modulo_white_space(doc: str, words: str, there: str) -> None:
    """GO-01: exactly, else modulo white space; the span is the text's own, with the document's version."""
    span = located(Needle(doc, words), corpus(ferry=FERRY, crane=CRANE))
    start = FERRY.index(there)
    assert span == EvidenceSpan("id-ferry.md", start, start + len(there), "v1", there)


def test_chinese_words_are_found_across_a_line_end() -> None:
    """A line of a PDF may end between any two characters."""
    span = located(Needle("lamp.md", "灯每九秒转一圈。"), corpus(lamp=LAMP))
    assert span.text == "灯每九秒\n转一圈。" == LAMP[span.start_char : span.end_char]


def test_missing_words_come_with_the_passage_most_like_them() -> None:
    """What to quote instead, with its document and similarity."""
    problem = refused(
        Needle("crane.md", "The blue crane lifts at most twelve tonnes."), corpus(ferry=FERRY, crane=CRANE)
    )
    assert problem.kind == "missing"
    (place,) = problem.places
    assert CRANE[place.start_char : place.end_char] == "The blue crane lifts at most eleven tonnes."
    assert place.doc_name == "crane.md"
    assert problem.similarity is not None and 0.8 < problem.similarity < 1
    assert "eleven" in problem.suggestion


@pytest.mark.parametrize(
    ("words", "most_like"),
    [
        ("看守每周擦拭棱镜，并记下每一块破损的玻璃。", "看守每天擦拭棱镜，并记下每一块破损的玻璃。"),
        ("The yellow crane lifts at most eleven tonnes.", "The blue crane lifts at most eleven tonnes."),
    ],
)
def test_the_passage_most_like_them_in_any_document(words: str, most_like: str) -> None:
    """Also where the needle names another document, and in Chinese."""
    texts = corpus(ferry=FERRY, crane=CRANE, lamp=LAMP)
    (place,) = refused(Needle("ferry.md", words), texts).places
    named = texts.document(place.doc_id)
    assert named is not None and named.text[place.start_char : place.end_char] == most_like


def test_nothing_resembles_foreign_words() -> None:
    """No passage is better than a wrong one."""
    problem = refused(Needle("ferry.md", "zzz qqq xxx"), corpus(ferry=FERRY))
    assert (problem.kind, problem.places, problem.similarity) == ("missing", (), None)
    assert refused(Needle("ferry.md", "!!!"), corpus(ferry=FERRY)).kind == "missing"


def test_repeated_words_come_with_all_places_and_a_longer_passage() -> None:
    """GO-01: a needle occurs once in the corpus, in whatever documents, line ends apart."""
    texts = corpus(
        a="One rule.\n\nThe pump stops at\nnight. It is cleaned.\n", b="The pump stops at night. It rests.\n"
    )
    problem = refused(Needle("a.md", "The pump stops at night."), texts)
    assert problem.kind == "repeated"
    assert [(p.doc_name, p.start_char) for p in problem.places] == [("a.md", 11), ("b.md", 0)]
    longer = problem.suggestion.partition("“")[2].rstrip("”")
    assert located(Needle("a.md", longer), texts).doc_id == "id-a.md"


def test_twins_have_no_longer_passage() -> None:
    """Two equal documents: no passage of either is a needle."""
    problem = refused(Needle("a.md", "The red one"), corpus(a=CRANE, b=CRANE))
    assert problem.kind == "repeated" and "twice" in problem.suggestion


def test_overlapping_places_count() -> None:
    """Words that overlap themselves stand more than once."""
    assert len(refused(Needle("a.md", "ana"), corpus(a="banana\n")).places) == 2


def test_words_that_stand_everywhere_are_not_counted_to_the_end() -> None:
    """Also where the first thousand places are all in another document."""
    problem = refused(Needle("b.md", "a" * 1_000), corpus(a="a" * 100_000, b="a" * 1_000))
    assert problem.kind == "repeated" and "1000 times or more" in problem.message


@pytest.mark.parametrize("words", ["Summer", "## Summer", "Ferry\n\n## Summer", "umm"])
def test_words_of_a_heading_are_refused(words: str) -> None:
    """GO-01: never a heading, nor words in one; the sentence below is suggested."""
    problem = refused(Needle("ferry.md", words), corpus(ferry=FERRY))
    assert problem.kind == "heading"
    assert "leaves the north quay at seven." in problem.suggestion


def test_a_needle_that_begins_in_a_heading_and_goes_on_is_sound() -> None:
    """Only what lies in headings is refused: here the answer stands below."""
    assert located(Needle("crane.md", "Crane rules\n\nThe blue crane"), corpus(crane=CRANE)).start_char == 2


def test_words_in_another_document() -> None:
    """The document that holds them is named."""
    problem = refused(Needle("ferry.md", "The red one lifts four."), corpus(ferry=FERRY, crane=CRANE))
    assert problem.kind == "wrong_document" and "crane.md" in problem.suggestion


@pytest.mark.parametrize(
    ("doc", "words", "hint"),
    [("ferri.md", "nothing of this", "ferry.md"), ("x", "The red one lifts four.", "crane.md")],
)
def test_an_unknown_document_is_named(doc: str, words: str, hint: str) -> None:
    """GO-04: evidence in an unknown document."""
    problem = refused(Needle(doc, words), corpus(ferry=FERRY, crane=CRANE))
    assert problem.kind == "unknown_document" and repr(doc) in problem.message and hint in problem.suggestion


def test_a_changed_document_makes_a_needle_stale() -> None:
    """GO-01: its text no longer matches a document whose version changed: stale, never missing."""
    changed = corpus(ferry=FERRY.replace("seven", "eight"))
    words = "quay at seven."
    start = FERRY.index(words)
    with_version = Needle("ferry.md", words, version="v0")
    with_place = Needle("ferry.md", words, start, start + len(words))
    for needle in (with_version, with_place, dataclasses.replace(with_place, version="v0")):
        problem = refused(needle, changed)
        assert problem.kind == "stale" and "eight" in problem.suggestion
    assert refused(Needle("ferry.md", words), changed).kind == "missing"
    assert refused(Needle("ferry.md", words, version="v1"), changed).kind == "missing"
    assert refused(dataclasses.replace(with_place, version="v1"), changed).kind == "mismatch"


def test_a_span_that_moved_is_stale_and_says_where_to() -> None:
    """GO-01: a span whose text no longer matches; words alone are found wherever they stand."""
    words = "Bicycles travel free."
    start = FERRY.index(words)
    moved = corpus(ferry=f"New.\n\n{FERRY}")
    problem = refused(Needle("ferry.md", words, start, start + len(words), "v0"), moved)
    assert problem.kind == "stale" and f"ferry.md:{start + 6}" in problem.suggestion
    assert located(Needle("ferry.md", words, version="v0"), moved).start_char == start + 6


def test_a_span_that_still_matches_is_kept_whatever_the_version() -> None:
    """A change elsewhere in the document leaves its evidence standing, with the version of today."""
    words = "The blue crane lifts at most eleven tonnes. "
    span = located(Needle("crane.md", words, 15, 15 + len(words), "v0"), corpus(crane=CRANE))
    assert (span.start_char, span.end_char, span.version, span.text) == (15, 15 + len(words), "v1", words)


def test_a_span_out_of_range_is_not_wrapped_around() -> None:
    """GO-04: span out of range."""
    assert refused(Needle("crane.md", "x", 9_000, 9_001, "v1"), corpus(crane=CRANE)).kind == "mismatch"


def test_two_versions_of_one_document_are_refused() -> None:
    """An old version never answers for a current one."""
    with pytest.raises(ValueError, match="twice"):
        GoldCorpus([document("a.md", "x", doc_id="d"), document("b.md", "x", doc_id="d", version="v2")])


WORDS = st.text(st.sampled_from("ab 灯\n"), min_size=1, max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=4), WORDS)
def test_what_is_found_is_there_once(texts: list[str], words: str) -> None:
    """GO-01: a located span is the needle modulo white space, and there is no second one."""
    known = GoldCorpus(CorpusDocument(str(i), f"{i}.md", None, text) for i, text in enumerate(texts))
    if not words.strip():
        assert known.places(words) == []
        return
    found = NeedleFinder(known).locate(Needle("0", words))
    stripped = ["".join(text.split()) for text in texts]
    wanted = "".join(words.split())
    if isinstance(found, EvidenceSpan):
        there = texts[0][found.start_char : found.end_char]
        assert "".join(there.split()) == wanted
        assert there == there.strip() == found.text
    elif found.kind in ("missing", "wrong_document"):
        assert words.strip() not in texts[0]
    else:
        assert found.kind == "repeated"
        assert sum(wanted in text for text in stripped) + len(found.places) > 1


def test_order_of_documents_and_questions_changes_nothing() -> None:
    """GO-04, over every order of documents and several of questions."""
    documents = [document(f"{n}.md", t) for n, t in (("ferry", FERRY), ("crane", CRANE), ("twin", CRANE))]
    rows = [
        question("q1", ("ferry.md", "at seven."), phrasing="doc", needle_id="n"),
        question("q2", ("ferry.md", "at seven."), phrasing="ticket", needle_id="n"),
        question("q3", ("crane.md", "lifts four.")),
        question("q4", ("crane.md", "The green crane lifts eleven tonnes")),
        question("q5", ("none.md", "Bicycles travel free.")),
    ]
    results: set[object] = set()
    for order in permutations(documents):
        random.Random(len(results)).shuffle(rows)
        checked = check_gold(read_own([jsonl("q.jsonl", *rows)]), GoldCorpus(order))
        findings = tuple(dataclasses.replace(f, line=None) for f in checked.findings)
        results.add((checked.questions, checked.left_out, findings))
    assert len(results) == 1
