"""Boundaries by people: gold from votes, and how far the annotators agree (ME-04).

Each annotator, who has seen no algorithm's output, gives every legal gap one vote: `split`, `keep`, or `either`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

from linkrag_dagster.evaluation.segmentation import (
    MAX_TRANSPOSITION,
    Masses,
    boundary_edits,
    boundary_similarity,
    masses_from_gaps,
)

Vote = Literal["split", "keep", "either"]

LEAST_ANNOTATORS = 3
QUORUM = 2
"""Votes that make a boundary."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold segmentations of one document on the axis of its legal gaps.

    Attributes:
        strict: masses; a boundary where two or more voted `split`.
        lenient: masses; a boundary where two or more voted `split` or `either`. It holds every strict boundary.
    """

    strict: tuple[int, ...]
    lenient: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of annotators over a set of documents.

    Attributes:
        pairs: comparisons made: pairs of annotators, times documents.
        mean_similarity: mean of Boundary Similarity over the pairs.
        observed: Boundary Similarity with the credit and the comparisons of all pairs summed; None without boundaries.
        expected: agreement by chance.
        corrected: `(observed - expected) / (1 - expected)`; None where it has no denominator.
    """

    pairs: int
    mean_similarity: float
    observed: float | None
    expected: float
    corrected: float | None


def gold_from_votes(votes: Mapping[str, Sequence[Vote]]) -> Gold:
    """Strict and lenient gold of one document (`seeds/004`; ME-04).

    Args:
        votes: by annotator, a vote for every legal gap in order.

    Raises:
        ValueError: fewer than three annotators, votes of different length, or another word than the three.
    """
    if len(votes) < LEAST_ANNOTATORS:
        raise ValueError(
            f"{len(votes)} annotators ({', '.join(sorted(votes))}): gold needs {LEAST_ANNOTATORS} or more"
        )
    lengths = {annotator: len(row) for annotator, row in votes.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"votes of different length {lengths}: give each annotator a vote for every gap")
    for annotator, row in votes.items():
        for gap, vote in enumerate(row):
            if vote not in get_args(Vote):
                raise ValueError(
                    f"annotator {annotator!r}, gap {gap}: vote {vote!r} is not split, keep or either"
                )
    columns = list(zip(*votes.values(), strict=True))
    split = [sum(vote == "split" for vote in column) for column in columns]
    not_keep = [sum(vote != "keep" for vote in column) for column in columns]
    return Gold(
        masses_from_gaps([gap for gap, count in enumerate(split) if count >= QUORUM], len(columns) + 1),
        masses_from_gaps([gap for gap, count in enumerate(not_keep) if count >= QUORUM], len(columns) + 1),
    )


def segmentation_from_votes(votes: Sequence[Vote]) -> tuple[int, ...]:
    """One annotator's own segmentation: the gaps voted `split`."""
    return masses_from_gaps([gap for gap, vote in enumerate(votes) if vote == "split"], len(votes) + 1)


def agreement(
    documents: Mapping[str, Mapping[str, Masses]], max_transposition: int = MAX_TRANSPOSITION
) -> Agreement:
    """Pairwise Boundary Similarity, and its chance-corrected form: Fleiss' multi-pi over boundary edits.

    Observed agreement is Boundary Similarity pooled over documents and pairs; by chance two annotators agree with the
    square of the mean share of gaps that an annotator splits. Fournier & Inkpen (2012), Segmentation similarity and
    agreement; Fournier (2013); Artstein & Poesio (2008). Equals segeval's `fleiss_pi_linear` where that is defined.

    Args:
        documents: by document, by annotator, masses on the axis of legal gaps; the same annotators throughout.
        max_transposition: gaps that a near miss may span.

    Raises:
        ValueError: no document, fewer than two annotators, another set of annotators in some document, or masses that
            differ in their units.
    """
    if not documents:
        raise ValueError("no documents: agreement needs one or more")
    annotators = sorted(next(iter(documents.values())))
    if len(annotators) < 2:
        raise ValueError(f"annotators {annotators}: agreement needs two or more")
    similarities: list[float] = []
    shares: list[float] = []
    credit = 0.0
    compared = 0
    for document, segmentations in sorted(documents.items()):
        if sorted(segmentations) != annotators:
            raise ValueError(
                f"document {document!r} has annotators {sorted(segmentations)}, not {annotators}"
            )
        for first, second in combinations(annotators, 2):
            edits = boundary_edits(segmentations[first], segmentations[second], max_transposition)
            credit += edits.credit
            compared += edits.compared
            similarities.append(
                boundary_similarity(segmentations[first], segmentations[second], max_transposition)
            )
        gaps = sum(segmentations[annotators[0]]) - 1
        if gaps > 0:
            shares += [(len(segmentations[annotator]) - 1) / gaps for annotator in annotators]
    observed = credit / compared if compared else None
    expected = (sum(shares) / len(shares)) ** 2 if shares else 0.0
    corrected = (observed - expected) / (1 - expected) if observed is not None and expected < 1 else None
    return Agreement(len(similarities), sum(similarities) / len(similarities), observed, expected, corrected)
