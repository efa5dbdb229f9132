"""What an evaluation is made of: evidence, questions, and chunks as a metric sees them (GO-01, GO-02).

All offsets are code points into the document's canonical text, half-open.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """One required passage.

    Attributes:
        doc_id: the document that holds it.
        start_char, end_char: where, `[start_char, end_char)`.
        version: the document's version that the offsets belong to; None where the set has no versions.
        text: the words there, when known.
    """

    doc_id: str
    start_char: int
    end_char: int
    version: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold.

    Attributes:
        question_id: unique in its set.
        question: what is asked.
        groups: alternative support groups (OR), each of required spans (AND); empty for an unanswerable question.
        answerable: whether the corpus holds the answer.
        unanswerable_kind: `out_of_domain`, `near_miss`, `squad2_adversarial`, `document_absent_from_corpus`, or None.
        needle_id: the fact behind the question: phrasings of one needle share it, and it is the unit of clustering.
        phrasing: which phrasing this is (`doc`, `ticket`, …).
        doc_scope: the documents that the question is about; empty = all.
    """

    question_id: str
    question: str
    groups: tuple[tuple[EvidenceSpan, ...], ...] = ()
    answerable: bool = True
    unanswerable_kind: str | None = None
    needle_id: str = ""
    phrasing: str = ""
    doc_scope: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as a metric sees it.

    Attributes:
        chunk_id: its id in the ranking.
        doc_id, version: its document.
        spans: its verbatim source spans `(start_char, end_char)` in source order: what counts as evidence. Headers,
            neighbour context and rendered references are not in it (GO-02).
        tokens: tokens of all that a reader is handed, in the experiment's tokenizer.
        characters: code points of the same.
        header_tokens, context_tokens: shares of `tokens` that are header and neighbour context.
        role: `source` or `derived`.
    """

    chunk_id: str
    doc_id: str
    spans: tuple[tuple[int, int], ...]
    version: str | None = None
    tokens: int = 0
    characters: int = 0
    header_tokens: int = 0
    context_tokens: int = 0
    role: str = "source"
