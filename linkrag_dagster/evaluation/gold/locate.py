"""Where a needle stands in the corpus, or why it can't be used (GO-01)."""

from __future__ import annotations

import difflib

from linkrag_dagster.evaluation.gold.closest import PassageIndex
from linkrag_dagster.evaluation.gold.context import sentence_after, unique_context
from linkrag_dagster.evaluation.gold.corpus import MOST_PLACES, CorpusDocument, GoldCorpus, Place
from linkrag_dagster.evaluation.gold.findings import Problem
from linkrag_dagster.evaluation.gold.records import Needle
from linkrag_dagster.evaluation.gold.white_space import collapsed
from linkrag_dagster.evaluation.records import EvidenceSpan

NAMED_PLACES = 5
"""Places that a message names; `places` holds them all, up to `MOST_PLACES`."""
NAMED_LETTERS = 100
"""Letters of a needle that a message names it by."""


class NeedleFinder:
    """Finds needles in one corpus; each distinct needle is looked for once."""

    def __init__(self, corpus: GoldCorpus) -> None:
        self._corpus = corpus
        self._passages: PassageIndex | None = None
        self._known: dict[Needle, EvidenceSpan | Problem] = {}

    def locate(self, needle: Needle) -> EvidenceSpan | Problem:
        """The span of a needle in the current version of its document, or why there is none.

        The words are compared modulo white space; the span is the text's own. They must stand once in the corpus, in
        the document that is named, and in no heading. A needle that says where it stood must still stand there.
        """
        found = self._known.get(needle)
        if found is None:
            found = self._known[needle] = self._located(needle)
        return found

    def _located(self, needle: Needle) -> EvidenceSpan | Problem:
        document = self._corpus.document(needle.doc)
        places = self._corpus.places(needle.text)
        if document is None:
            return self._unknown_document(needle, places)
        if len(places) == MOST_PLACES:
            return self._repeated(needle, places[0], places)
        here = [place for place in places if place.doc_id == document.doc_id]
        if needle.start_char is not None and needle.end_char is not None:
            there = document.text[needle.start_char : needle.end_char]
            if there != needle.text and collapsed(there) != collapsed(needle.text):
                return self._moved(needle, document, places)
            # Its own span, which may hold white space at its ends.
            span = (needle.start_char, needle.end_char)
        elif not here:
            return self._gone(needle, document, places)
        else:
            span = (here[0].start_char, here[0].end_char)
        if len(places) > 1:
            return self._repeated(needle, here[0], places)
        heading = document.heading_at(here[0].start_char, here[0].end_char)
        if heading is not None:
            return self._heading(document, heading, places)
        return EvidenceSpan(document.doc_id, *span, document.version, document.text[slice(*span)])

    def _unknown_document(self, needle: Needle, places: list[Place]) -> Problem:
        message = f"the corpus has no current document {needle.doc!r} with a text (linkrag status names failed ones)"
        if places:
            suggestion = f"the words stand in {_listed(places)}"
        else:
            near = difflib.get_close_matches(needle.doc, self._corpus.names, n=1, cutoff=0.5)
            suggestion = f"did you mean {near[0]!r}?" if near else ""
        return Problem("unknown_document", message, suggestion, tuple(places))

    def _moved(self, needle: Needle, document: CorpusDocument, places: list[Place]) -> Problem:
        """The words don't stand where the needle says."""
        span = f"{needle.start_char}..{needle.end_char}"
        if needle.version is not None and needle.version == document.version:
            kind, message = (
                "mismatch",
                f"{document.name} holds other words at {span}, and has not changed since",
            )
        else:
            kind, message = "stale", f"{document.name} changed: its words at {span} are others now"
        return self._elsewhere(kind, message, needle, places)

    def _gone(self, needle: Needle, document: CorpusDocument, places: list[Place]) -> Problem:
        """The words don't stand in the document that the needle names."""
        if needle.version is not None and needle.version != document.version:
            message = f"{document.name} changed since version {needle.version} and no longer holds the words"
            return self._elsewhere("stale", message, needle, places)
        if places:
            message = f"{document.name} does not hold the words, another document does"
            return self._elsewhere("wrong_document", message, needle, places)
        message = f"{document.name} does not hold the words, nor does another document: {_named(needle.text)}"
        return self._elsewhere("missing", message, needle, places)

    def _elsewhere(self, kind: str, message: str, needle: Needle, places: list[Place]) -> Problem:
        """A problem that names where the words stand, else the passage most like them."""
        if places:
            return Problem(kind, message, f"the words stand in {_listed(places)}", tuple(places))
        if self._passages is None:
            self._passages = PassageIndex(self._corpus)
        passage = self._passages.closest(needle.text)
        if passage is None:
            return Problem(kind, message, "nothing in the corpus resembles them")
        suggestion = f"most like them ({passage.similarity:.2f}): {passage.place}: {_quoted(passage.text)}"
        return Problem(kind, message, suggestion, (passage.place,), passage.similarity)

    def _repeated(self, needle: Needle, place: Place, places: list[Place]) -> Problem:
        times = f"{len(places)} times" + (" or more" if len(places) == MOST_PLACES else "")
        message = f"the words stand {times}: {_listed(places)}: {_named(needle.text)}"
        longer = unique_context(self._corpus, place)
        suggestion = (
            "no passage around them stands once; is a document there twice?"
            if longer is None
            else f"quote what stands once: {_quoted(longer)}"
        )
        return Problem("repeated", message, suggestion, tuple(places))

    @staticmethod
    def _heading(document: CorpusDocument, heading: tuple[int, int], places: list[Place]) -> Problem:
        title = document.text[slice(*heading)].strip()
        following = sentence_after(document, heading)
        suggestion = "" if following is None else f"quote the text below it: {_quoted(following)}"
        message = f"the words are in a heading of {document.name}: {_quoted(title)}"
        return Problem("heading", message, suggestion, tuple(places))


def _listed(places: list[Place]) -> str:
    more = f", … ({len(places) - NAMED_PLACES} more)" if len(places) > NAMED_PLACES else ""
    return ", ".join(map(str, places[:NAMED_PLACES])) + more


def _quoted(words: str) -> str:
    """Words on one line, as they can be written into a needle."""
    return f"“{' '.join(words.split())}”"


def _named(words: str) -> str:
    """Words on one line, short: to be known again."""
    line = " ".join(words.split())
    return _quoted(line if len(line) <= NAMED_LETTERS else f"{line[:NAMED_LETTERS]}…")
