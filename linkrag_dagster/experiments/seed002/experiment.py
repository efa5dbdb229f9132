"""The experiment: every strategy, without and with the version filter, under either selection (SE-01)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from importlib.resources import files
from typing import Any

from linkrag_dagster.experiments.seed002.chunks import STRATEGIES, Chunk, cut
from linkrag_dagster.experiments.seed002.coverage import covered, union, union_chars
from linkrag_dagster.experiments.seed002.fixture import FactQuestion, Fixture, Parameters, read_fixture
from linkrag_dagster.experiments.seed002.ranking import Ranked, rank
from linkrag_dagster.experiments.seed002.selection import SELECTIONS, Skipped, select


def example() -> dict[str, Any]:
    """The seed's own fixture, as it ships with the package."""
    return json.loads(
        (files("linkrag_dagster.experiments") / "data" / "seed002.json").read_text(encoding="utf-8")
    )


def run(fixture: dict[str, Any]) -> list[dict[str, Any]]:
    """Cut, rank, select and score; all by code points and whole numbers.

    Args:
        fixture: `params` (`fixedSize`, `overlap`, `topK`, `charBudget`), `currentVersions`, `documents` and
            `questions`, as `example` gives them.

    Returns:
        12 records: strategies `fixed`, `overlap`, `paragraph`, of each without and with the version filter, of each
        `topk` and `budget`. A record has its `questions` in the fixture's order (`ranked`, `selected`, `skipped`, their
        cost in code points, `coveredFacts`, `evidenceRecall`), and `macroEvidenceRecall` over the
        `answerableQuestions`. A recall is a fraction in lowest terms, as text (`1/3`); None for an empty denominator.

    Raises:
        ValueError: a bad fixture; says where and what to do (GO-04).
    """
    given = read_fixture(fixture)
    records: list[dict[str, Any]] = []
    for strategy in STRATEGIES:
        for version_filter in (False, True):
            chunks = _index(given, strategy, version_filter)
            rankings = [rank(chunks, question.query) for question in given.questions]
            for selection in SELECTIONS:
                results = [
                    _scored(question, ranked, selection, given.parameters)
                    for question, ranked in zip(given.questions, rankings, strict=True)
                ]
                recalls = [recall for _, recall in results if recall is not None]
                macro = sum(recalls, Fraction()) / len(recalls) if recalls else None
                records.append(
                    {
                        "strategy": strategy,
                        "versionFilter": version_filter,
                        "selection": selection,
                        "questions": [record for record, _ in results],
                        "macroEvidenceRecall": _written(macro),
                        "answerableQuestions": len(recalls),
                    }
                )
    return records


def _index(given: Fixture, strategy: str, version_filter: bool) -> list[Chunk]:
    """The chunks that a query can find; the filter keeps the current version of each document."""
    return [
        chunk
        for document in given.documents
        if not version_filter or given.current[document.doc_id] == document.version
        for chunk in cut(document, strategy, given.parameters)
    ]


def _scored(
    question: FactQuestion, ranked: Sequence[Ranked], selection: str, parameters: Parameters
) -> tuple[dict[str, Any], Fraction | None]:
    """One question's record, and its recall."""
    selected, skipped = select(ranked, selection, parameters)
    shown = union(selected)
    facts = [fact.fact_id for fact in question.facts if covered(fact, shown)]
    recall = Fraction(len(facts), len(question.facts)) if question.facts else None
    context, unique = sum(len(chunk.text) for chunk in selected), union_chars(shown)
    record = {
        "questionId": question.question_id,
        "ranked": [
            {
                **_place(item.chunk),
                "text": item.chunk.text,
                "score": item.score,
                "matched": list(item.matched),
            }
            for item in ranked
        ],
        "selected": [_place(chunk) for chunk in selected],
        "skipped": [_skipped(item) for item in skipped],
        "contextChars": context,
        "uniqueSourceChars": unique,
        "duplicateSourceChars": context - unique,
        "coveredFacts": facts,
        "requiredFacts": len(question.facts),
        "evidenceRecall": _written(recall),
    }
    return record, recall


def _place(chunk: Chunk) -> dict[str, Any]:
    return {"docId": chunk.doc_id, "version": chunk.version, "start": chunk.start, "end": chunk.end}


def _skipped(item: Skipped) -> dict[str, Any]:
    record = {"rank": item.rank, **_place(item.chunk), "reason": item.reason}
    if item.remaining is not None:
        record |= {"remaining": item.remaining, "chars": len(item.chunk.text)}
    return record


def _written(share: Fraction | None) -> str | None:
    return None if share is None else str(share)
