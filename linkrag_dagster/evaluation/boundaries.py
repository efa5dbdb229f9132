"""Chunk boundaries against reference segmentations, beside degenerate baselines (ME-04)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkrag_dagster.evaluation.axes import Units, map_cuts
from linkrag_dagster.evaluation.boundary_baselines import degenerate_baselines
from linkrag_dagster.evaluation.gold.records import ReferenceSegmentation
from linkrag_dagster.evaluation.segmentation import BoundaryScores, boundary_gaps, boundary_scores

CHUNKS = "chunks"
SCORES = ("pk", "window_diff", "boundary_similarity", "b_precision", "b_recall")
COUNTS = ("reference_boundaries", "hypothesis_boundaries")


@dataclass(frozen=True, slots=True)
class BoundaryRow:
    """One score of one document.

    Attributes:
        doc_id: the document.
        method: `chunks`, or a baseline: `none`, `every_gap`, `uniform`, `random` (the last two know the number of
            segments).
        metric: one of `SCORES` or `COUNTS`.
        value: None where it is not defined.
    """

    doc_id: str
    method: str
    metric: str
    value: float | None


def score_boundaries(
    references: Sequence[ReferenceSegmentation],
    cuts: Mapping[str, Sequence[int]],
    tokens: Mapping[str, Units],
    *,
    seed: int = 0,
) -> list[BoundaryRow]:
    """Score the cuts of each segmented document, and those of the baselines, on the same two axes.

    Pk and WindowDiff count source tokens; Boundary Similarity, B-precision and B-recall count the legal gaps, those
    between the reference's units. A cut inside a unit goes to its nearer edge.

    Args:
        references: reference segmentations.
        cuts: code points at which chunks start, by document.
        tokens: spans of the source tokens, by document.
        seed: of the random baseline.

    Returns:
        By document, method and metric.
    """
    rows: list[BoundaryRow] = []
    for reference in sorted(references, key=lambda r: r.doc_id):
        units = reference.units
        found: dict[str, Sequence[int]] = {CHUNKS: cuts.get(reference.doc_id, ())}
        for name, masses in degenerate_baselines(reference.masses, seed).items():
            found[name] = [units[gap + 1][0] for gap in boundary_gaps(masses)]
        true = [units[boundary][0] for boundary in reference.boundaries]
        axis = tokens[reference.doc_id]
        for method, places in found.items():
            scores = boundary_scores(
                (map_cuts(true, axis).masses, map_cuts(places, axis).masses),
                (reference.masses, map_cuts(places, units).masses),
            )
            rows += [
                BoundaryRow(reference.doc_id, method, name, _value(scores, name))
                for name in (*SCORES, *COUNTS)
            ]
    return rows


def _value(scores: BoundaryScores, name: str) -> float | None:
    value = getattr(scores, name)
    return None if value is None else float(value)


def mean_scores(rows: Sequence[BoundaryRow]) -> dict[str, dict[str, float | None]]:
    """Method → metric → mean over documents, those without a value left out; None where none has one."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        values = found.setdefault(row.method, {}).setdefault(row.metric, [])
        if row.value is not None:
            values.append(row.value)
    return {
        method: {metric: sum(sorted(v)) / len(v) if v else None for metric, v in metrics.items()}
        for method, metrics in found.items()
    }
