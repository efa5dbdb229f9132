"""What the readers of gold return, beside questions: documents, judgements, segmentations, needles not yet located."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from linkrag_dagster.evaluation.records import Question


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A document that a question set ships.

    Attributes:
        doc_id: its id in the set.
        text: its text; the set's offsets are code points into it.
        title: its title; "" where there is none.
        version: its version; None where the set has no versions.
        markup: how elements are read from it: `markdown`, which plain prose is too, or `plain`.
    """

    doc_id: str
    text: str
    title: str = ""
    version: str | None = None
    markup: str = "markdown"


@dataclass(frozen=True, slots=True)
class Qrel:
    """A judgement of a whole document (TREC's qrels): no span is known, so no chunk can be judged by it.

    Attributes:
        question_id: the question.
        doc_id: the document.
        relevance: the grade as the set gives it: 0 and below not relevant, higher is better.
    """

    question_id: str
    doc_id: str
    relevance: int


@dataclass(frozen=True, slots=True)
class ReferenceSegmentation:
    """Where a document's topics change, as people or its making say (ME-04).

    Attributes:
        doc_id: the document.
        units: spans `(start_char, end_char)` of the units that segments are made of, in order, apart from each other.
        boundaries: indexes of the units that begin a new segment, rising; 0 is not among them.
        unit: what a unit is, in words.
    """

    doc_id: str
    units: tuple[tuple[int, int], ...]
    boundaries: tuple[int, ...]
    unit: str = ""

    @property
    def masses(self) -> tuple[int, ...]:
        """Units in each segment, in order; they sum to the number of units."""
        starts = (0, *self.boundaries, len(self.units))
        return tuple(end - start for start, end in pairwise(starts))


@dataclass(frozen=True, slots=True)
class GoldSet:
    """A question set of others, checked.

    Attributes:
        questions: by id.
        documents: by id and version; empty where the set ships none.
        qrels: judgements of whole documents, by question and document; empty where gold is spans.
        segmentations: by document; empty where the set has none.
    """

    questions: tuple[Question, ...]
    documents: tuple[GoldDocument, ...] = ()
    qrels: tuple[Qrel, ...] = ()
    segmentations: tuple[ReferenceSegmentation, ...] = ()


@dataclass(frozen=True, slots=True)
class Needle:
    """A passage as a corpus's own question names it: by its words, and where that is known by its place.

    Attributes:
        doc: the document's id, or its source-relative path.
        text: the exact words.
        start_char, end_char: where they stood when the question was written; both or neither.
        version: the version of the document that they stood in.
    """

    doc: str
    text: str
    start_char: int | None = None
    end_char: int | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """A corpus's own question as its file has it, before its needles are located.

    Attributes:
        question_id, question, answerable, unanswerable_kind, needle_id, phrasing: as in `Question`.
        groups: alternative support groups (OR), each of required needles (AND).
        doc_scope: ids or source-relative paths of the documents that the question is about; empty = all.
        file, line: where it stands.
    """

    question_id: str
    question: str
    groups: tuple[tuple[Needle, ...], ...] = ()
    answerable: bool = True
    unanswerable_kind: str | None = None
    needle_id: str = ""
    phrasing: str = ""
    doc_scope: tuple[str, ...] = ()
    file: str = ""
    line: int | None = None
