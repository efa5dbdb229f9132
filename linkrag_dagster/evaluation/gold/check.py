"""Are a corpus's own questions sound: which can be asked, which are left out, and what is to be mended (GO-01)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from linkrag_dagster.evaluation.gold.corpus import GoldCorpus, corpus_from_tables
from linkrag_dagster.evaluation.gold.findings import UNSOUND, Finding, LeftOut, Problem
from linkrag_dagster.evaluation.gold.locate import NeedleFinder
from linkrag_dagster.evaluation.gold.phrasing import phrasing_findings
from linkrag_dagster.evaluation.gold.records import Needle, OwnQuestion
from linkrag_dagster.evaluation.gold.rows import DOCUMENT_ABSENT
from linkrag_dagster.evaluation.records import EvidenceSpan, Question
from linkrag_dagster.lexical.analyzers import Analyzer


@dataclass(frozen=True, slots=True)
class GoldCounts:
    """How many questions of which sort there are, left-out ones included.

    Attributes:
        questions: all.
        answerable: those that the corpus answers.
        needles: facts behind the answerable ones.
        unanswerable: unanswerable ones, by kind.
        phrasings: all, by phrasing; "" where none is named.
    """

    questions: int
    answerable: int
    needles: int
    unanswerable: Mapping[str, int]
    phrasings: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CheckedGold:
    """A corpus's own questions, located and checked.

    Attributes:
        questions: those that may be asked, by id, with their evidence in the current texts.
        left_out: those that no metric counts, by id: a passage of theirs is unsound, and to score them without it
            could make a miss of what is none.
        findings: what was found, by question, field and kind.
        counts: how many questions of which sort there are.
    """

    questions: tuple[Question, ...]
    left_out: tuple[LeftOut, ...]
    findings: tuple[Finding, ...]
    counts: GoldCounts


def check_gold(
    questions: Iterable[OwnQuestion], corpus: GoldCorpus, analyzer: Analyzer | None = None
) -> CheckedGold:
    """Locate every needle, and check phrasings.

    Args:
        questions: as `read_own` gives them; their order changes nothing.
        corpus: the current documents.
        analyzer: what makes words in the check of phrasings; `default` where it is left out.
    """
    asked = sorted(questions, key=lambda q: q.question_id)
    finder = NeedleFinder(corpus)
    usable: list[Question] = []
    findings: list[Finding] = []
    left_out: list[LeftOut] = []
    for question in asked:
        located, problems = _located(question, finder, corpus)
        findings += problems
        kinds = {finding.kind for finding in problems if finding.kind in UNSOUND}
        if kinds:
            left_out.append(LeftOut(question.question_id, tuple(sorted(kinds))))
        else:
            usable.append(located)
    findings += phrasing_findings(asked, analyzer)
    return CheckedGold(
        questions=tuple(usable),
        left_out=tuple(left_out),
        findings=tuple(sorted(findings, key=lambda f: (f.question_id, f.field or "", f.kind, f.message))),
        counts=_counts(asked),
    )


def check_tables(
    questions: Iterable[OwnQuestion],
    documents: pl.DataFrame,
    texts: pl.DataFrame,
    elements: pl.DataFrame,
    analyzer: Analyzer | None = None,
) -> CheckedGold:
    """`check_gold` against a lake's tables; the columns that are read: see `corpus_from_tables`."""
    return check_gold(questions, GoldCorpus(corpus_from_tables(documents, texts, elements)), analyzer)


def _located(
    question: OwnQuestion, finder: NeedleFinder, corpus: GoldCorpus
) -> tuple[Question, list[Finding]]:
    """The question with the spans that were found, and what is wrong with the others."""
    findings: list[Finding] = []
    groups: list[tuple[EvidenceSpan, ...]] = []
    for place, group in _named_groups(question):
        spans: list[EvidenceSpan] = []
        for index, needle in enumerate(group):
            found = finder.locate(needle)
            if isinstance(found, Problem):
                findings.append(_finding(question, f"{place}[{index}]", found))
            else:
                spans.append(found)
        groups.append(tuple(spans))
    scope, unknown = _scope(question, corpus)
    resolved = Question(
        question_id=question.question_id,
        question=question.question,
        groups=tuple(groups),
        answerable=question.answerable,
        unanswerable_kind=question.unanswerable_kind,
        needle_id=question.needle_id,
        phrasing=question.phrasing,
        doc_scope=scope,
    )
    return resolved, findings + unknown


def _named_groups(question: OwnQuestion) -> Iterable[tuple[str, tuple[Needle, ...]]]:
    for index, group in enumerate(question.groups):
        yield ("evidence" if index == 0 else f"alternatives[{index - 1}]"), group


def _scope(question: OwnQuestion, corpus: GoldCorpus) -> tuple[tuple[str, ...], list[Finding]]:
    """The scope by document ids; what is asked of an absent document keeps its name."""
    scope: list[str] = []
    findings: list[Finding] = []
    for index, doc in enumerate(question.doc_scope):
        document = corpus.document(doc)
        if document is None and question.unanswerable_kind != DOCUMENT_ABSENT:
            problem = Problem("unknown_document", f"the corpus has no current document {doc!r}")
            findings.append(_finding(question, f"doc_ids[{index}]", problem))
        scope.append(doc if document is None else document.doc_id)
    return tuple(scope), findings


def _finding(question: OwnQuestion, field: str, problem: Problem) -> Finding:
    return Finding(
        question_id=question.question_id,
        kind=problem.kind,
        message=problem.message,
        suggestion=problem.suggestion,
        field=field,
        places=problem.places,
        similarity=problem.similarity,
        file=question.file,
        line=question.line,
    )


def _counts(questions: Iterable[OwnQuestion]) -> GoldCounts:
    asked = list(questions)
    answerable = [question for question in asked if question.answerable]
    kinds = Counter(q.unanswerable_kind or "" for q in asked if not q.answerable)
    return GoldCounts(
        questions=len(asked),
        answerable=len(answerable),
        needles=len({question.needle_id for question in answerable}),
        unanswerable=dict(sorted(kinds.items())),
        phrasings=dict(sorted(Counter(question.phrasing for question in asked).items())),
    )
