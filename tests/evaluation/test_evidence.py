"""Evidence in chunks: grades and Evidence Recall (GO-02, GO-03, GO-04)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.evidence import by_document, grades, newly_held, qrels, recall
from linkrag_dagster.evaluation.records import EvidenceSpan, IndexedChunk


def _chunk(
    *spans: tuple[int, int], doc: str = "a", version: str | None = "v2", name: str = "c"
) -> IndexedChunk:
    return IndexedChunk(name, doc, spans, version)


def _span(start: int, end: int, doc: str = "a", version: str | None = "v2") -> EvidenceSpan:
    return EvidenceSpan(doc, start, end, version)


def test_oracle(shared: Path) -> None:
    """GO-02, GO-03: grades and both recalls, from plain mappings."""
    lines = (shared / "oracles" / "ir_metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] == "evidence_spans"]
    assert len(rows) >= 7
    for row in rows:
        chunks, evidence, expected = row["ranked_chunks"], row["evidence"], row["expected"]
        assert grades(chunks, evidence) == expected["grades"], row["id"]
        assert recall(chunks, evidence) == pytest.approx(expected["evidence_recall_single_chunk"]), row["id"]
        covered = recall(chunks, evidence, mode="covered")
        assert covered == pytest.approx(expected["evidence_recall_union"]), row["id"]


def test_touching_chunks_cover_jointly() -> None:
    """GO-02: contained asks one chunk for the whole span, covered does not."""
    chunks = [_chunk((0, 10)), _chunk((10, 20))]
    assert recall(chunks, [_span(5, 15)]) == 0.0
    assert recall(chunks, [_span(5, 15)], "covered") == 1.0


def test_one_missing_character_fails() -> None:
    """GO-02: at either end, or between two chunks."""
    assert recall([_chunk((0, 10))], [_span(0, 11)], "covered") == 0.0
    assert recall([_chunk((1, 10))], [_span(0, 10)], "covered") == 0.0
    assert recall([_chunk((0, 10)), _chunk((11, 20))], [_span(5, 15)], "covered") == 0.0


def test_an_old_version_never_covers_a_current_one() -> None:
    """GO-02: not alone, not jointly; nor does another document."""
    old = _chunk((0, 50), version="v1")
    for mode in ("contained", "covered"):
        assert recall([old], [_span(5, 15)], mode) == 0.0
        assert recall([_chunk((0, 50), version=None)], [_span(5, 15)], mode) == 0.0
        assert recall([_chunk((0, 50), doc="b")], [_span(5, 15)], mode) == 0.0
    assert recall([_chunk((0, 10)), _chunk((10, 20), version="v1")], [_span(5, 15)], "covered") == 0.0
    assert grades([old, _chunk((0, 50))], [_span(5, 15)]) == [0, 2]


def test_only_spans_count() -> None:
    """GO-02: a rendered reference between two spans leaves a hole; joined spans and copied tails do not."""
    assert recall([_chunk((0, 10), (20, 30))], [_span(5, 25)], "covered") == 0.0
    assert grades([_chunk((0, 10), (10, 30))], [_span(5, 25)]) == [2]
    assert grades([_chunk((8, 20), (0, 10))], [_span(5, 15)]) == [2]
    outer: dict[str, object] = {"doc_id": "a", "version": "v2", "start_char": 0, "end_char": 30, "spans": []}
    assert grades([outer], [_span(5, 15)]) == [0]


def test_grades() -> None:
    """GO-03: all evidence, one required span, part of one, none."""
    evidence = [_span(0, 10), _span(20, 30)]
    chunks = [_chunk((0, 30)), _chunk((0, 15)), _chunk((5, 25)), _chunk((40, 50))]
    assert grades(chunks, evidence) == [2, 1, 0, 0]
    assert grades(chunks, []) == [0, 0, 0, 0]
    assert grades([], evidence) == []


def test_alternative_groups() -> None:
    """GO-02: any group supports the fact; within one, each span is required."""
    groups = [[_span(0, 10), _span(20, 30)], [_span(50, 60)]]
    assert grades([_chunk((0, 12)), _chunk((45, 65)), _chunk((0, 40))], groups) == [1, 2, 2]
    assert recall([_chunk((0, 12))], groups) == 0.5
    assert recall([_chunk((0, 12)), _chunk((45, 65))], groups) == 1.0


def test_no_evidence_is_no_hit() -> None:
    """GO-04: the recall of a question without evidence is undefined, whatever was retrieved."""
    nothing: list[list[object]] = [[], [[]], [[], []]]
    for evidence in nothing:
        assert recall([], evidence) is None
        assert recall([_chunk((0, 9))], evidence, "covered") is None
    assert recall([], [_span(0, 3)]) == 0.0


def test_a_unit_counts_once() -> None:
    """ME-02: distinct evidence; and a chunk returned twice is one chunk."""
    again = EvidenceSpan("a", 0, 10, "v2", text="the same place, with its words")
    assert recall([_chunk((0, 12)), _chunk((0, 12))], [_span(0, 10), again, _span(50, 60)]) == 0.5


@dataclass
class _Range:
    start_char: int
    end_char: int


@dataclass
class _Record:
    """Shaped as an exported chunk: no document, as of a text that was chunked alone."""

    chunk_id: str
    spans: tuple[_Range, ...]
    start_char: int
    end_char: int


CHUNK_FORMS: list[object] = [
    _chunk((0, 10)),
    {"doc_id": "a", "version": "v2", "spans": [(0, 10)]},
    {"doc_id": "a", "version": "v2", "spans": [[0, 10]], "start_char": 0, "end_char": 99},
    {"doc_id": "a", "version": "v2", "spans": [{"start_char": 0, "end_char": 10}]},
    {"doc_id": "a", "version": "v2", "start_char": 0, "end_char": 10},
    {"docId": "a", "version": "v2", "start": 0, "end": 10},
    {"doc": "a", "version": "v2", "from": 0, "to": 10},
    _Record("c", (_Range(0, 10),), 0, 99),
]
EVIDENCE_FORMS: list[Any] = [
    _span(2, 10),
    {"doc_id": "a", "version": "v2", "start_char": 2, "end_char": 10},
    {"docId": "a", "version": "v2", "start": 2, "end": 10},
    {"doc": "a", "from": 2, "to": 10, "text": "12345678"},
    {"start_char": 2, "end_char": 10},
    _Range(2, 10),
]


@pytest.mark.parametrize("evidence", EVIDENCE_FORMS)
@pytest.mark.parametrize("chunk", CHUNK_FORMS)
def test_forms_of_input(chunk: object, evidence: Any) -> None:
    """GO-02: records, mappings, and the field names of published sets, all the same."""
    for form in ([evidence], [[evidence]], ((evidence,),)):
        assert grades([chunk], form) == [2]
        assert recall([chunk], form) == recall([chunk], form, "covered") == 1.0
    beyond = _Range(2, 11)
    assert grades([chunk], [beyond]) == [0]


@pytest.mark.parametrize(
    ("chunks", "evidence", "said"),
    [
        ([_chunk((0, 9)), _chunk((0, 9), doc="b")], [{"from": 1, "to": 2}], "without a document"),
        ([{"from": 0, "to": 9}], [_span(1, 2), _span(1, 2, doc="b")], "without a document"),
        ([_chunk((0, 9)), _chunk((0, 9), version="v1")], [_span(1, 2, version=None)], "names no version"),
        ([{"from": 0, "to": 9}], [_span(1, 2), _span(1, 2, version="v1")], "neither document nor version"),
        ([_chunk((0, 9))], [_span(1, 2), [_span(3, 4)]], "mixes spans and groups"),
        ([_chunk((0, 9))], [[_span(1, 2)], []], "empty group beside others"),
        ([_chunk((0, 9))], [_span(2, 2)], r"span \[2, 2\)"),
        ([_chunk((0, 9))], [{"doc_id": "a", "from": -1, "to": 2}], r"span \[-1, 2\)"),
        ([_chunk((0, 9))], [{"doc_id": "a", "text": "?"}], "has no range"),
        ([{"chunk_id": "c7", "doc_id": "a"}], [_span(1, 2)], "chunk 'c7' has no range"),
        (
            [{"chunk_id": "c7", "doc_id": "a", "spans": [(3, 1)]}],
            [_span(1, 2)],
            r"chunk 'c7' has the span \[3, 1\)",
        ),
    ],
)
def test_bad_input_is_refused(chunks: list[object], evidence: list[object], said: str) -> None:
    """GO-04: by name, never scored as a miss."""
    with pytest.raises(ValueError, match=said):
        grades(chunks, evidence)


def test_another_mode_is_refused() -> None:
    """GO-02: two notions, no third."""
    mode: Any = "touched"
    with pytest.raises(ValueError, match="mode 'touched'"):
        recall([], [_span(1, 2)], mode)


def test_qrels_are_sparse() -> None:
    """GO-03: chunks by id, those without a grade left out."""
    chunks = [_chunk((0, 30), name="x"), _chunk((0, 9), name="y"), _chunk((90, 99), name="z")]
    assert qrels(chunks, [_span(0, 5), _span(20, 25)]) == {"x": 2, "y": 1}
    assert by_document([*chunks, _chunk((0, 1), doc="b")])["a"] == chunks


PIECES = st.tuples(
    st.sampled_from("ab"), st.sampled_from(["v1", "v2"]), st.integers(0, 25), st.integers(1, 12)
)


@given(
    st.lists(st.lists(PIECES, min_size=1, max_size=3), max_size=6),
    st.lists(st.lists(PIECES, min_size=1, max_size=3), max_size=3),
)
def test_against_sets_of_characters(
    parts: list[list[tuple[str, str, int, int]]], wanted: list[list[tuple[str, str, int, int]]]
) -> None:
    """GO-02, GO-03: both notions and the grades, character by character."""
    chunks = [
        IndexedChunk("", piece[0][0], tuple((s, s + n) for _, _, s, n in piece), piece[0][1])
        for piece in parts
    ]
    groups = [[EvidenceSpan(d, s, s + n, v) for d, v, s, n in group] for group in wanted]

    def points(
        doc: str, version: str | None, spans: list[tuple[int, int]]
    ) -> set[tuple[str, str | None, int]]:
        return {(doc, version, i) for start, end in spans for i in range(start, end)}

    held = [points(chunk.doc_id, chunk.version, list(chunk.spans)) for chunk in chunks]

    def inside(span: EvidenceSpan, having: set[tuple[str, str | None, int]]) -> bool:
        return points(span.doc_id, span.version, [(span.start_char, span.end_char)]) <= having

    def best(found: Callable[[EvidenceSpan], bool]) -> float | None:
        return max((sum(map(found, set(g))) / len(set(g)) for g in groups), default=None)

    union = set[tuple[str, str | None, int]]().union(*held)
    assert recall(chunks, groups, "covered") == best(lambda span: inside(span, union))
    assert recall(chunks, groups) == best(lambda span: any(inside(span, own) for own in held))
    assert grades(chunks, groups) == [
        2
        if any(all(inside(span, own) for span in g) for g in groups)
        else int(any(inside(span, own) for g in groups for span in g))
        for own in held
    ]
    for mode in ("contained", "covered"):
        rows = newly_held(chunks, groups, mode)
        assert len(rows) == len(chunks)
        assert sum(map(len, rows)) == len(frozenset[EvidenceSpan]().union(*rows))


@given(st.permutations([(0, 10), (10, 20), (15, 30), (40, 50)]))
def test_order_changes_no_recall(order: list[tuple[int, int]]) -> None:
    """GO-04: the order of chunks is nothing to recall."""
    evidence = [_span(5, 15), _span(16, 30), _span(35, 45)]
    chunks = [_chunk(span) for span in order]
    assert recall(chunks, evidence) == pytest.approx(1 / 3)
    assert recall(chunks, evidence, "covered") == pytest.approx(2 / 3)
