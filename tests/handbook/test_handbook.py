"""The sample corpus and its questions hold what they promise: size, formats, no twins, sound gold (GO-01)."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from linkrag_dagster.declaration import load_declaration
from linkrag_dagster.evaluation.gold import (
    CheckedGold,
    CorpusDocument,
    GoldCorpus,
    check_gold,
    read_gold_files,
    read_own,
)
from linkrag_dagster.extraction import Extraction, extract
from linkrag_dagster.markdown import parse

ROOT = Path(__file__).resolve().parent.parent.parent
HANDBOOK = ROOT / "data" / "handbook"
WORDS = 8
"""Words, or ideographs, of a shingle."""
TWINS = 0.5
"""Paragraphs that share this much of their shingles say the same."""


@cache
def chapters() -> dict[str, Extraction]:
    """Every chapter as the pipeline reads it, by file name."""
    return {path.name: extract(path.read_bytes(), path.name) for path in sorted(HANDBOOK.iterdir())}


@cache
def gold() -> CheckedGold:
    """The declared questions, located in the chapters."""
    documents = [
        CorpusDocument(
            doc_id=name,
            name=name,
            version=None,
            text=found.text,
            headings=tuple(
                (element.start_char, element.end_char)
                for element in parse(found.text)
                if element.kind == "heading"
            ),
        )
        for name, found in chapters().items()
    ]
    loaded = load_declaration(ROOT / "assets" / "handbook")
    return check_gold(read_own(read_gold_files(loaded.questions)), GoldCorpus(documents))


def test_the_chapters() -> None:
    """At least 13 chapters and 120,000 characters, three in Chinese, two PDFs with pages, one HTML page."""
    found = chapters()
    assert len(found) >= 13
    assert sum(len(chapter.text) for chapter in found.values()) >= 120_000
    formats = Counter(Path(name).suffix for name in found)
    assert formats[".pdf"] >= 2 and formats[".html"] >= 1
    assert all(len(found[name].pages) > 1 for name in found if name.endswith(".pdf"))
    chinese = [
        name
        for name, chapter in found.items()
        if sum("一" <= c <= "鿿" for c in chapter.text) > 0.2 * len(chapter.text)
    ]
    assert len(chinese) >= 3
    kinds = Counter(element.kind for chapter in found.values() for element in parse(chapter.text))
    assert min(kinds[kind] for kind in ("paragraph", "table", "code", "math", "image", "list")) >= 5


def _shingles(paragraph: str) -> set[tuple[str, ...]]:
    spaced = "".join(f" {c} " if "一" <= c <= "鿿" else c for c in paragraph.lower())
    words = spaced.split()
    return {tuple(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)}


def test_no_paragraph_says_what_another_says() -> None:
    """No two paragraphs share half of their shingles of eight words."""
    owners: dict[tuple[str, ...], list[int]] = {}
    paragraphs: list[tuple[str, set[tuple[str, ...]]]] = []
    for name, chapter in chapters().items():
        for element in parse(chapter.text):
            if element.kind in ("paragraph", "list", "blockquote"):
                words = _shingles(chapter.text[element.start_char : element.end_char])
                for shingle in words:
                    owners.setdefault(shingle, []).append(len(paragraphs))
                paragraphs.append((f"{name}:{element.start_line}", words))
    shared = Counter(
        (left, right)
        for numbers in owners.values()
        for place, left in enumerate(numbers)
        for right in numbers[place + 1 :]
    )
    twins = [
        (paragraphs[left][0], paragraphs[right][0])
        for (left, right), common in shared.items()
        if common / len(paragraphs[left][1] | paragraphs[right][1]) > TWINS
    ]
    assert twins == []


def test_the_questions_are_sound() -> None:
    """GO-01: each needle stands once and is no heading; ticket phrasings share at most one content word with it."""
    checked = gold()
    assert [f"{f.question_id} {f.kind}: {f.message}" for f in checked.findings] == []
    assert checked.left_out == ()


def test_the_questions_are_enough() -> None:
    """At least 40 needles in two phrasings, some of two passages, in tables, code and Chinese; 12 of each refusal."""
    checked = gold()
    assert checked.counts.needles >= 40
    for kind in ("out_of_domain", "near_miss", "squad2_adversarial"):
        assert checked.counts.unanswerable[kind] >= 12
    needles = {q.needle_id: q for q in checked.questions if q.groups}
    assert sum(1 for q in needles.values() if len(q.groups[0]) > 1) >= 5
    kinds: Counter[str] = Counter()
    texts = {name: (chapter.text, parse(chapter.text)) for name, chapter in chapters().items()}
    for question in needles.values():
        for span in question.groups[0]:
            text, elements = texts[span.doc_id]
            assert span.text is not None
            kinds["chinese"] += any("一" <= c <= "鿿" for c in text[span.start_char : span.end_char])
            kinds[span.doc_id.rsplit(".", 1)[-1]] += 1
            kinds.update(
                element.kind
                for element in elements
                if element.start_char < span.end_char and span.start_char < element.end_char
            )
    assert min(kinds[name] for name in ("table", "code", "chinese", "pdf", "html")) >= 3
