"""Other words to quote: a longer passage that stands once, and the sentence after a heading."""

from __future__ import annotations

from collections.abc import Iterator

from linkrag_dagster.evaluation.gold.corpus import CorpusDocument, GoldCorpus, Place
from linkrag_dagster.tokens.sentences import sentences

AROUND = 2_000
"""Code points beside a place that are looked at."""
WIDER = 3
"""Sentences on each side that a passage grows by."""


def unique_context(corpus: GoldCorpus, place: Place) -> str | None:
    """The shortest run of whole sentences around a place that stands once in the corpus and is no heading.

    None where no run of at most `WIDER` sentences on each side does: a document may be there twice.
    """
    document = corpus.document(place.doc_id)
    if document is None:
        return None
    for start, end in _runs(document.text, place):
        words = document.text[start:end]
        if document.heading_at(start, end) is None and len(corpus.places(words)) == 1:
            return words
    return None


def _runs(text: str, place: Place) -> Iterator[tuple[int, int]]:
    """Spans of whole sentences around a place, the shortest first."""
    low, high = max(0, place.start_char - AROUND), min(len(text), place.end_char + AROUND)
    spans = [(low + start, low + end) for start, end in sentences(text[low:high])]
    # A sentence that the window may have cut is none.
    spans = [s for s in spans if (s[0] > low or low == 0) and (s[1] < high or high == len(text))]
    inside = [i for i, (start, end) in enumerate(spans) if start < place.end_char and end > place.start_char]
    if not inside:
        return
    wider = range(WIDER + 1)
    runs = {
        (spans[max(0, inside[0] - before)][0], spans[min(len(spans) - 1, inside[-1] + after)][1])
        for before in wider
        for after in wider
    }
    yield from sorted(
        (r for r in runs if r[0] <= place.start_char and place.end_char <= r[1]),
        key=lambda r: (r[1] - r[0], r),
    )


def sentence_after(document: CorpusDocument, heading: tuple[int, int]) -> str | None:
    """The first sentence after a heading that lies in no heading; None where none follows soon."""
    low = heading[1]
    for start, end in sentences(document.text[low : low + AROUND]):
        if document.heading_at(low + start, low + end) is None:
            return document.text[low + start : low + end]
    return None
