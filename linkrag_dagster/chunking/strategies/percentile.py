"""ST-04, `percentile`: between sentences whose distance is above the document's own percentile (seed 001)."""

from __future__ import annotations

import numpy as np

from linkrag_dagster.chunking.atom_vectors import Retries, text_vectors
from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source, WeighedGap
from linkrag_dagster.tokens import sentences

DISTANCE = "distance"


def percentile(source: Source) -> Cutting:
    """Pieces of whole sentences; a cut falls where two neighbours' cosine distance is above the percentile.

    The percentile is numpy's, linear between two values. A vector of length zero has no direction, hence no distance.
    Every gap is told with its distance and the threshold (SD-16).

    Raises:
        ValueError: there is no scorer.
        ScoringError: it failed.
    """
    if source.scorer is None:
        raise ValueError("strategy percentile compares texts: give it a scorer")
    text, settings = source.text, source.settings
    spans = sentences(text)
    words = [text[start:end] for start, end in spans]
    if len(spans) < 2:
        return Cutting([Piece(start, end, END) for start, end in spans])
    retries = Retries(settings.scorer_retries, settings.scorer_backoff)
    vectors = text_vectors(words, source.scorer, batch=settings.scorer_batch, retries=retries)
    table = np.array([vectors[word] for word in words])
    lengths = np.linalg.norm(table, axis=1)
    products = lengths[:-1] * lengths[1:]
    known = products > 0
    distances = np.full(len(products), np.nan)
    cosines = np.einsum("ij,ij->i", table[:-1], table[1:])[known] / products[known]
    # Noise of the last digits is no difference.
    distances[known] = np.round(1 - cosines, 12)
    cuts = np.zeros(len(distances), dtype=bool)
    threshold: float | None = None
    if known.any():
        threshold = float(np.percentile(distances[known], settings.percentile))
        cuts[known] = distances[known] > threshold
    pieces: list[Piece] = []
    first = 0
    for gap in [*np.flatnonzero(cuts).tolist(), len(spans) - 1]:
        ends = END if gap == len(spans) - 1 else DISTANCE
        pieces.append(Piece(spans[first][0], spans[gap][1], ends))
        first = gap + 1
    gaps = [
        _gap(end, None if np.isnan(distance) else float(distance), threshold, chosen)
        for (_, end), distance, chosen in zip(spans, distances.tolist(), cuts.tolist(), strict=False)
    ]
    return Cutting(pieces, gaps=gaps)


def _gap(position: int, distance: float | None, threshold: float | None, chosen: bool) -> WeighedGap:
    """A gap between two sentences; its cohesion is their cosine."""
    word = DISTANCE if chosen else "kept"
    if distance is None or threshold is None:
        return WeighedGap(position, None, None, True, chosen, f"{word}: no distance")
    figures = f"distance {distance:.3f}, threshold {threshold:.3f}"
    return WeighedGap(position, round(1 - distance, 12), None, True, chosen, f"{word}: {figures}")
