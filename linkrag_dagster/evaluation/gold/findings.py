"""What a check of a corpus's own questions finds."""

from __future__ import annotations

from dataclasses import dataclass

from linkrag_dagster.evaluation.gold.corpus import Place

UNSOUND = (
    "missing",
    "repeated",
    "heading",
    "stale",
    "mismatch",
    "wrong_document",
    "unknown_document",
)
"""Kinds that leave a question out of every denominator:

missing: the words stand nowhere; repeated: they stand more than once; heading: they are a heading, or in one; stale:
the document changed since, and they no longer stand where they stood; mismatch: they never stood there, the version is
the same; wrong_document: they stand in another document; unknown_document: the corpus has no such document.
"""

PHRASING = ("ticket_overlap", "phrasings", "evidence_differs")
"""Kinds that are to be mended, but leave the evidence sound:

ticket_overlap: a `ticket` phrasing shares more content words with its needle than it may; phrasings: a needle without
exactly one `doc` and one `ticket` phrasing; evidence_differs: phrasings of one needle name different evidence.
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a needle can't be used.

    Attributes:
        kind: one of `UNSOUND`.
        message: what is wrong.
        suggestion: what to quote or write instead; "" where there is nothing to suggest.
        places: where the words stand, or the passage most like them does.
        similarity: of that passage with the words, from 0 to 1; None where nothing was compared.
    """

    kind: str
    message: str
    suggestion: str = ""
    places: tuple[Place, ...] = ()
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a question.

    Attributes:
        question_id: the question.
        kind: one of `UNSOUND` or `PHRASING`.
        message: what is wrong.
        suggestion: what to do instead; "" where there is nothing to suggest.
        field: the passage, as `evidence[0]`; None for the question as a whole.
        places: where the words stand, or the passage most like them does.
        similarity: of that passage with the words, from 0 to 1; None where nothing was compared.
        words: the shared content words of a `ticket_overlap`.
        file, line: where the question stands.
    """

    question_id: str
    kind: str
    message: str
    suggestion: str = ""
    field: str | None = None
    places: tuple[Place, ...] = ()
    similarity: float | None = None
    words: tuple[str, ...] = ()
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that no metric counts.

    Attributes:
        question_id: the question.
        kinds: kinds of its findings in `UNSOUND`, sorted.
    """

    question_id: str
    kinds: tuple[str, ...]
