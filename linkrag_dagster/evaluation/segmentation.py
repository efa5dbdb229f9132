"""Boundary metrics: Pk, WindowDiff, Boundary Similarity, B-precision and B-recall (ME-04).

A segmentation is a sequence of masses: the lengths of its segments, in units of one axis. `[4, 4, 4]` has 12 units and
boundaries at the gaps 3 and 7, a gap being named by the unit before it, from 0. The units are source tokens for Pk and
WindowDiff, spans between legal gaps for the others (`axes`). Every value is None where its denominator is empty.

References:
    Pk: Beeferman, Berger & Lafferty (1999), Statistical models for text segmentation.
    WindowDiff: Pevzner & Hearst (2002), A critique and improvement of an evaluation metric for text segmentation.
    Padded WindowDiff: Lamprier, Amghar, Levrat & Saubion (2007), On evaluation methodologies for text segmentation.
    Boundary Similarity: Fournier (2013), Evaluating text segmentation using boundary edit distance.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

Masses = Sequence[int]

MAX_TRANSPOSITION = 2
"""Fournier's default: boundaries in adjacent gaps are a near miss, farther ones are not."""


@dataclass(frozen=True, slots=True)
class BoundaryEdits:
    """How the boundaries of two segmentations correspond.

    Attributes:
        matches: boundaries in the same gap.
        transpositions: near misses, each a pair of gaps `(left, right)`, one held by each segmentation; shorter ones
            first, then from left to right.
        additions_reference_only: boundaries of the reference alone, near misses left out.
        additions_hypothesis_only: boundaries of the hypothesis alone, near misses left out.
        max_transposition: number of gaps that a near miss may span, both ends counted.
    """

    matches: int
    transpositions: tuple[tuple[int, int], ...]
    additions_reference_only: int
    additions_hypothesis_only: int
    max_transposition: int

    @property
    def credit(self) -> float:
        """Matches, and what remains of near misses: a distance of d gaps costs d / max_transposition."""
        lost = sum(right - left for left, right in self.transpositions)
        return self.matches + len(self.transpositions) - lost / self.max_transposition

    @property
    def compared(self) -> int:
        """Edits and matches: the denominator of Boundary Similarity."""
        additions = self.additions_reference_only + self.additions_hypothesis_only
        return self.matches + len(self.transpositions) + additions

    @property
    def confusion_precision_recall(self) -> tuple[float | None, float | None]:
        """B-precision and B-recall as segeval's confusion matrix has them; see `boundary_precision_recall`."""
        lost = sum(right - left for left, right in self.transpositions)
        hits = self.matches + lost / self.max_transposition
        predicted = hits + self.additions_hypothesis_only
        required = hits + self.additions_reference_only
        return (hits / predicted if predicted else None, hits / required if required else None)


@dataclass(frozen=True, slots=True)
class BoundaryScores:
    """All boundary metrics of one document, with the counts beside them.

    Attributes:
        tokens: units of the token axis.
        gaps: legal gaps of the other axis.
        reference_boundaries, hypothesis_boundaries: on the axis of legal gaps.
        reference_token_boundaries, hypothesis_token_boundaries: on the token axis.
        window: window of Pk and WindowDiff, in tokens.
        pk, window_diff: error rates, 0 is best.
        boundary_similarity, b_precision, b_recall: 1 is best.
    """

    tokens: int
    gaps: int
    reference_boundaries: int
    hypothesis_boundaries: int
    reference_token_boundaries: int
    hypothesis_token_boundaries: int
    window: int
    pk: float | None
    window_diff: float | None
    boundary_similarity: float
    b_precision: float | None
    b_recall: float | None


def boundary_gaps(masses: Masses) -> list[int]:
    """The gaps that hold a boundary, each named by the unit before it, from 0.

    Raises:
        ValueError: a mass is not a positive whole number.
    """
    for position, mass in enumerate(masses):
        if mass != int(mass) or mass < 1:
            raise ValueError(f"segment {position} has mass {mass}: give each segment 1 unit or more")
    return [end - 1 for end in accumulate(masses)][:-1]


def masses_from_gaps(gaps: Sequence[int], units: int) -> tuple[int, ...]:
    """The segmentation of `units` units with a boundary in each of `gaps`: the inverse of `boundary_gaps`.

    Raises:
        ValueError: a gap outside `0 … units - 2`, or gaps that do not rise.
    """
    edges = [-1, *gaps, units - 1] if units else list(gaps)
    masses = tuple(right - left for left, right in pairwise(edges))
    if any(mass < 1 for mass in masses) or (gaps and not units):
        raise ValueError(
            f"gaps {list(gaps)[:10]} on {units} units: give rising gaps between 0 and {units - 2}"
        )
    return masses


def default_window(reference_masses: Masses) -> int:
    """Half the mean segment of the reference, rounded half to even, at least 2 (ME-04)."""
    units, segments = sum(reference_masses), len(reference_masses)
    whole, rest = divmod(units, 2 * segments) if segments else (0, 0)
    # In whole numbers: a float quotient near .5 would decide by its last bit.
    if rest > segments or (rest == segments and whole % 2):
        whole += 1
    return max(2, whole)


def pk(reference_masses: Masses, hypothesis_masses: Masses, window: int | None = None) -> float | None:
    """Pk: the share of windows whose two ends are in one segment by one segmentation alone; 0 is best.

    Beeferman, Berger & Lafferty (1999). A window of k compares the units i and i + k, for each of the n - k places.

    Args:
        reference_masses, hypothesis_masses: segments' lengths on one axis.
        window: k in units; None = `default_window` of the reference.

    Returns:
        From 0 to 1; None where no window fits.

    Raises:
        ValueError: different numbers of units, a mass or window under 1.
    """
    reference, hypothesis, k = _windows(reference_masses, hypothesis_masses, window)
    return _share((reference == 0) != (hypothesis == 0)) if k else None


def window_diff(
    reference_masses: Masses, hypothesis_masses: Masses, window: int | None = None, *, padded: bool = False
) -> float | None:
    """WindowDiff: the share of windows that hold another number of boundaries; 0 is best.

    Pevzner & Hearst (2002). A window of k units spans the k gaps between the units i and i + k.

    Args:
        reference_masses, hypothesis_masses: segments' lengths on one axis.
        window: k in units; None = `default_window` of the reference.
        padded: count errors near both ends as often as others, with k phantom units before and after (Lamprier et al.
            2007). The denominator is n + k + 1, one more than the windows, as segeval has it.

    Returns:
        From 0 to 1; None where no window fits.

    Raises:
        ValueError: different numbers of units, a mass or window under 1.
    """
    reference, hypothesis, k = _windows(reference_masses, hypothesis_masses, window, padded=padded)
    if not k:
        return None
    wrong = reference != hypothesis
    return int(np.count_nonzero(wrong)) / (wrong.size + 1) if padded else _share(wrong)


def boundary_edits(
    reference_masses: Masses, hypothesis_masses: Masses, max_transposition: int = MAX_TRANSPOSITION
) -> BoundaryEdits:
    """Boundary edit distance of two segmentations with one kind of boundary (Fournier 2013).

    Boundaries that match no other are paired, nearest first, then from left to right, as long as a pair spans at most
    `max_transposition` gaps; what remains is added or missed.

    Raises:
        ValueError: different numbers of units, a mass or `max_transposition` under 1.
    """
    if max_transposition < 1:
        raise ValueError(f"max_transposition is {max_transposition}: give 1 (no near misses) or more")
    _same_units(reference_masses, hypothesis_masses)
    reference, hypothesis = set(boundary_gaps(reference_masses)), set(boundary_gaps(hypothesis_masses))
    matches = len(reference & hypothesis)
    transpositions = _near_misses(sorted(reference ^ hypothesis), reference, max_transposition)
    return BoundaryEdits(
        matches,
        tuple(transpositions),
        len(reference) - matches - len(transpositions),
        len(hypothesis) - matches - len(transpositions),
        max_transposition,
    )


def boundary_similarity(
    reference_masses: Masses, hypothesis_masses: Masses, max_transposition: int = MAX_TRANSPOSITION
) -> float:
    """Boundary Similarity, B: 1 less the mean cost of edits and matches; 1 is best (Fournier 2013).

    A match costs nothing, a boundary of one side 1, a near miss of d gaps d / `max_transposition`. Symmetric. Two
    segmentations without any boundary agree: 1.

    Raises:
        ValueError: different numbers of units, a mass or `max_transposition` under 1.
    """
    edits = boundary_edits(reference_masses, hypothesis_masses, max_transposition)
    return edits.credit / edits.compared if edits.compared else 1.0


def boundary_precision_recall(
    reference_masses: Masses, hypothesis_masses: Masses, max_transposition: int = MAX_TRANSPOSITION
) -> tuple[float | None, float | None]:
    """B-precision and B-recall by the seed's words: the credit of matched boundaries over the boundaries there are.

    The credit (matches 1, a near miss of d gaps 1 - d / `max_transposition`) is divided by the hypothesis' boundaries
    for precision, by the reference's for recall (`seeds/004`). segeval differs: its confusion matrix gives a near miss
    d / `max_transposition`, the *cost*, as a hit, and leaves the rest of it out of the denominator, so that a
    segmentation with near misses alone has a perfect 1.0. That form is `BoundaryEdits.confusion_precision_recall`.

    Returns:
        Precision, None where the hypothesis has no boundary; recall, None where the reference has none.

    Raises:
        ValueError: different numbers of units, a mass or `max_transposition` under 1.
    """
    edits = boundary_edits(reference_masses, hypothesis_masses, max_transposition)
    predicted, required = len(hypothesis_masses) - 1, len(reference_masses) - 1
    return (
        edits.credit / predicted if predicted > 0 else None,
        edits.credit / required if required > 0 else None,
    )


def boundary_scores(
    token_masses: tuple[Masses, Masses],
    gap_masses: tuple[Masses, Masses],
    *,
    window: int | None = None,
    max_transposition: int = MAX_TRANSPOSITION,
) -> BoundaryScores:
    """All boundary metrics of one document (ME-04).

    Args:
        token_masses: reference and hypothesis on the axis of source tokens: Pk and WindowDiff.
        gap_masses: the same two on the axis of legal gaps: Boundary Similarity, B-precision, B-recall.
        window: window in tokens; None = `default_window` of the reference.
        max_transposition: gaps that a near miss may span.

    Raises:
        ValueError: as the metrics do.
    """
    token_reference, token_hypothesis = token_masses
    gap_reference, gap_hypothesis = gap_masses
    window = default_window(token_reference) if window is None else window
    precision, recall = boundary_precision_recall(gap_reference, gap_hypothesis, max_transposition)
    return BoundaryScores(
        tokens=sum(token_reference),
        gaps=max(0, sum(gap_reference) - 1),
        reference_boundaries=max(0, len(gap_reference) - 1),
        hypothesis_boundaries=max(0, len(gap_hypothesis) - 1),
        reference_token_boundaries=max(0, len(token_reference) - 1),
        hypothesis_token_boundaries=max(0, len(token_hypothesis) - 1),
        window=window,
        pk=pk(token_reference, token_hypothesis, window),
        window_diff=window_diff(token_reference, token_hypothesis, window),
        boundary_similarity=boundary_similarity(gap_reference, gap_hypothesis, max_transposition),
        b_precision=precision,
        b_recall=recall,
    )


Counts = npt.NDArray[np.int64]


def _windows(
    reference_masses: Masses, hypothesis_masses: Masses, window: int | None, *, padded: bool = False
) -> tuple[Counts, Counts, int]:
    """Boundaries in each window of the reference and of the hypothesis; and the window, 0 where none fits."""
    units = _same_units(reference_masses, hypothesis_masses)
    k = default_window(reference_masses) if window is None else window
    if k < 1:
        raise ValueError(f"the window is {k} units: give 1 or more")
    counts: list[Counts] = []
    for masses in (reference_masses, hypothesis_masses):
        boundary_gaps(masses)
        segments = np.repeat(np.arange(len(masses), dtype=np.int64), np.asarray(masses, dtype=np.int64))
        if padded and units:
            segments = np.pad(segments, k, mode="edge")
        counts.append(segments[k:] - segments[:-k])
    return counts[0], counts[1], k if counts[0].size else 0


def _share(wrong: npt.NDArray[np.bool_]) -> float:
    return int(np.count_nonzero(wrong)) / wrong.size


def _same_units(reference_masses: Masses, hypothesis_masses: Masses) -> int:
    units, others = sum(reference_masses), sum(hypothesis_masses)
    if units != others:
        raise ValueError(
            f"the reference has {units} units, the hypothesis {others}: map both to one axis first"
        )
    return units


def _near_misses(gaps: list[int], reference: set[int], max_transposition: int) -> list[tuple[int, int]]:
    """Pair unmatched boundaries of opposite sides, nearest pairs first, then from left to right.

    Two that are nearest have no free boundary between them (it would be nearer to one of the two), so it suffices to
    look at neighbours, and at the new neighbours once a pair is taken: m log m for m boundaries, whatever the span.
    """
    before = list(range(-1, len(gaps) - 1))
    after = list(range(1, len(gaps) + 1))
    free = [True] * len(gaps)
    nearest: list[tuple[int, int, int]] = []

    def offer(left: int, right: int) -> None:
        if left < 0 or right >= len(gaps) or (gaps[left] in reference) == (gaps[right] in reference):
            return
        distance = gaps[right] - gaps[left]
        if distance < max_transposition:
            heapq.heappush(nearest, (distance, left, right))

    for left in range(len(gaps) - 1):
        offer(left, left + 1)
    pairs: list[tuple[int, int]] = []
    while nearest:
        _, left, right = heapq.heappop(nearest)
        if not (free[left] and free[right]):
            continue
        free[left] = free[right] = False
        pairs.append((gaps[left], gaps[right]))
        outer_left, outer_right = before[left], after[right]
        if outer_left >= 0:
            after[outer_left] = outer_right
        if outer_right < len(gaps):
            before[outer_right] = outer_left
        offer(outer_left, outer_right)
    return pairs
