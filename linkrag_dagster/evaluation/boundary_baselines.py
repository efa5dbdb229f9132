"""Degenerate segmentations to print beside boundary scores: none, every gap, uniform, random (ME-04).

On some sets "no boundary" wins Pk and WindowDiff: a score means little without these four beside it.
"""

from __future__ import annotations

import random
from itertools import pairwise

from linkrag_dagster.evaluation.segmentation import Masses, masses_from_gaps


def no_boundary(units: int) -> tuple[int, ...]:
    """One segment."""
    return masses_from_gaps([], units)


def every_gap(units: int) -> tuple[int, ...]:
    """A boundary in each gap."""
    return (1,) * units


def uniform(units: int, segments: int) -> tuple[int, ...]:
    """Segments of equal length, the remainder spread evenly.

    Raises:
        ValueError: not `1 <= segments <= units`.
    """
    _refuse(units, segments)
    edges = [units * part // segments for part in range(segments + 1)]
    return tuple(right - left for left, right in pairwise(edges))


def at_random(units: int, segments: int, seed: int) -> tuple[int, ...]:
    """Boundaries in gaps drawn without replacement; the same seed gives the same ones.

    Raises:
        ValueError: not `1 <= segments <= units`.
    """
    _refuse(units, segments)
    drawn = random.Random(seed).sample(range(units - 1), segments - 1)
    return masses_from_gaps(sorted(drawn), units)


def degenerate_baselines(reference_masses: Masses, seed: int = 0) -> dict[str, tuple[int, ...]]:
    """The four baselines on the reference's axis; `uniform` and `random` know its number of segments.

    Returns:
        Masses by name: `none`, `every_gap`, `uniform`, `random`.

    Raises:
        ValueError: an empty reference.
    """
    units, segments = sum(reference_masses), len(reference_masses)
    return {
        "none": no_boundary(units),
        "every_gap": every_gap(units),
        "uniform": uniform(units, segments),
        "random": at_random(units, segments, seed),
    }


def _refuse(units: int, segments: int) -> None:
    if not 1 <= segments <= units:
        raise ValueError(f"{segments} segments of {units} units: give 1 segment or more, at most one a unit")
