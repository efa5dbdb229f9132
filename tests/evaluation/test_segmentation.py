"""Boundary metrics against their oracle, their definitions and segeval (ME-04)."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linkrag_dagster.evaluation.segmentation import (
    boundary_edits,
    boundary_gaps,
    boundary_precision_recall,
    boundary_scores,
    boundary_similarity,
    default_window,
    masses_from_gaps,
    pk,
    window_diff,
)


def _row_values(row: dict[str, Any]) -> dict[str, object]:
    reference, hypothesis, span = row["ref_masses"], row["hyp_masses"], row["n_t"]
    window = row["k"] if row["k_rule"] == "explicit" else None
    edits = boundary_edits(reference, hypothesis, span)
    precision, recall = boundary_precision_recall(reference, hypothesis, span)
    segeval_precision, segeval_recall = edits.confusion_precision_recall
    return {
        "n_units": sum(reference),
        "k": default_window(reference) if window is None else window,
        "pk": pk(reference, hypothesis, window),
        "windowdiff": window_diff(reference, hypothesis, window),
        "windowdiff_lamprier2007_segeval": window_diff(reference, hypothesis, window, padded=True),
        "matches": edits.matches,
        "transpositions": [list(pair) for pair in edits.transpositions],
        "additions_ref_only": edits.additions_reference_only,
        "additions_hyp_only": edits.additions_hypothesis_only,
        "boundary_similarity": boundary_similarity(reference, hypothesis, span),
        "b_precision_seed": precision,
        "b_recall_seed": recall,
        "b_precision_segeval": segeval_precision,
        "b_recall_segeval": segeval_recall,
    }


def test_oracle(shared: Path) -> None:
    """ME-04: every field of the oracle that can be derived, undefined ones included."""
    lines = (shared / "oracles" / "segmentation.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 49
    for row in map(json.loads, lines):
        for name, value in _row_values(row).items():
            if name in row:
                want = (
                    pytest.approx(row[name], abs=1e-9, rel=0) if isinstance(row[name], float) else row[name]
                )
                assert value == want, (row["id"], row["case"], name)


Masses = tuple[int, ...]


@st.composite
def segmentations(draw: st.DrawFn) -> tuple[Masses, Masses]:
    """Two segmentations of one axis."""
    units = draw(st.integers(1, 40))
    gaps: st.SearchStrategy[set[int]] = st.sets(st.integers(0, units - 2)) if units > 1 else st.just(set())
    return masses_from_gaps(sorted(draw(gaps)), units), masses_from_gaps(sorted(draw(gaps)), units)


def _slow_windows(reference: Masses, hypothesis: Masses, k: int) -> tuple[int, int, int]:
    """Pk's errors, WindowDiff's errors and windows, one window at a time by the definitions."""
    sides = [set(boundary_gaps(reference)), set(boundary_gaps(hypothesis))]
    windows = range(sum(reference) - k)
    counts = [[sum(gap in side for gap in range(i, i + k)) for i in windows] for side in sides]
    pairs = list(zip(*counts, strict=True))
    return sum((a == 0) != (b == 0) for a, b in pairs), sum(a != b for a, b in pairs), len(pairs)


@given(segmentations(), st.none() | st.integers(1, 45))
def test_windows_equal_their_definition(pair: tuple[Masses, Masses], window: int | None) -> None:
    """ME-04: Pk and WindowDiff, window by window; None where no window fits."""
    reference, hypothesis = pair
    k = default_window(reference) if window is None else window
    pk_errors, wd_errors, windows = _slow_windows(reference, hypothesis, k)
    assert pk(reference, hypothesis, window) == (pk_errors / windows if windows else None)
    assert window_diff(reference, hypothesis, window) == (wd_errors / windows if windows else None)


@given(segmentations())
def test_padded_windows_equal_their_definition(pair: tuple[Masses, Masses]) -> None:
    """ME-04: the padded form is the plain one on an axis with k more units at each end, over one window more."""
    reference, hypothesis = pair
    k = default_window(reference)

    def stretched(masses: Masses) -> Masses:
        return masses_from_gaps([gap + k for gap in boundary_gaps(masses)], sum(masses) + 2 * k)

    _, errors, windows = _slow_windows(stretched(reference), stretched(hypothesis), k)
    assert window_diff(reference, hypothesis, padded=True) == errors / (windows + 1)


def _slow_edits(reference: Masses, hypothesis: Masses, span: int) -> tuple[list[tuple[int, int]], int, int]:
    """Near misses by trying every distance and gap, as segeval does; additions of both sides."""
    only = set(boundary_gaps(reference)) - set(boundary_gaps(hypothesis))
    others = set(boundary_gaps(hypothesis)) - set(boundary_gaps(reference))
    pairs: list[tuple[int, int]] = []
    for distance in range(1, span):
        for left in range(sum(reference)):
            right = left + distance
            for a, b in ((only, others), (others, only)):
                if left in a and right in b:
                    a.remove(left)
                    b.remove(right)
                    pairs.append((left, right))
    return pairs, len(only), len(others)


@given(segmentations(), st.integers(1, 45))
@example(((1, 1, 2, 1), (2, 1, 1, 1)), 5)
def test_edits_equal_the_slow_way(pair: tuple[Masses, Masses], span: int) -> None:
    """ME-04: pairing neighbours from a heap finds what trying all pairs finds."""
    edits = boundary_edits(*pair, span)
    assert (
        list(edits.transpositions),
        edits.additions_reference_only,
        edits.additions_hypothesis_only,
    ) == _slow_edits(pair[0], pair[1], span)


@given(segmentations(), st.integers(1, 6))
def test_ranges_and_symmetry(pair: tuple[Masses, Masses], span: int) -> None:
    """ME-04: all values lie in [0, 1]; B is symmetric, and precision one way is recall the other way."""
    reference, hypothesis = pair
    similarity = boundary_similarity(reference, hypothesis, span)
    precision, recall = boundary_precision_recall(reference, hypothesis, span)
    for value in (pk(*pair), window_diff(*pair), similarity, precision, recall):
        assert value is None or 0 <= value <= 1
    assert similarity == boundary_similarity(hypothesis, reference, span)
    assert (recall, precision) == boundary_precision_recall(hypothesis, reference, span)
    assert window_diff(*pair, 3) == window_diff(hypothesis, reference, 3)


@given(segmentations())
def test_a_perfect_score_means_equal_boundaries(pair: tuple[Masses, Masses]) -> None:
    """ME-04: B is 1, and WindowDiff with a window of one gap 0, exactly where the segmentations are equal."""
    reference, hypothesis = pair
    assert (boundary_similarity(reference, hypothesis) == 1) == (reference == hypothesis)
    if sum(reference) > 1:
        assert (window_diff(reference, hypothesis, 1) == 0) == (reference == hypothesis)
    assert pk(reference, reference) in (0.0, None)


@given(segmentations())
def test_pk_never_exceeds_window_diff(pair: tuple[Masses, Masses]) -> None:
    """ME-04: a window whose ends disagree holds another number of boundaries."""
    if (loose := pk(*pair)) is not None and (strict := window_diff(*pair)) is not None:
        assert loose <= strict


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12))
def test_window_rule(masses: list[int]) -> None:
    """ME-04: max(2, round-half-even(n / (2 · segments))), in exact arithmetic."""
    assert default_window(masses) == max(2, round(Fraction(sum(masses), 2 * len(masses))))


@given(segmentations())
def test_masses_and_gaps_are_inverse(pair: tuple[Masses, Masses]) -> None:
    """Masses say what boundaries say."""
    assert masses_from_gaps(boundary_gaps(pair[0]), sum(pair[0])) == pair[0]


def test_near_misses_differ_from_segeval() -> None:
    """ME-04: the seed's precision counts what a near miss keeps; segeval's is perfect where all are near misses."""
    assert boundary_precision_recall([9, 11], [10, 10]) == (0.5, 0.5)
    assert boundary_edits([9, 11], [10, 10]).confusion_precision_recall == (1.0, 1.0)
    assert boundary_precision_recall([4], [2, 2]) == (0.0, None)
    assert boundary_precision_recall([2, 2], [4]) == (None, 0.0)


def test_an_empty_axis() -> None:
    """ME-04: without units there is no window and no boundary."""
    assert pk([], []) is None
    assert window_diff([], []) is None
    assert boundary_similarity([], []) == 1.0
    assert boundary_precision_recall([], []) == (None, None)


def test_counts_stand_beside_scores() -> None:
    """ME-04: one record with both axes, their counts and all metrics."""
    scores = boundary_scores(([40, 60], [50, 50]), ([2, 3], [1, 1, 3]))
    assert (scores.tokens, scores.gaps, scores.window) == (100, 4, 25)
    assert (scores.reference_boundaries, scores.hypothesis_boundaries) == (1, 2)
    assert (scores.reference_token_boundaries, scores.hypothesis_token_boundaries) == (1, 1)
    assert scores.pk == scores.window_diff == 20 / 75
    assert (scores.boundary_similarity, scores.b_precision, scores.b_recall) == (0.5, 0.5, 1.0)


def test_thousands_of_units() -> None:
    """ME-04: a long document with every gap cut on both sides of a shift needs no table of pairs."""
    units = 60_000
    even = masses_from_gaps(range(0, units - 1, 2), units)
    odd = masses_from_gaps(range(1, units - 1, 2), units)
    edits = boundary_edits(even, odd, units)
    assert (edits.matches, len(edits.transpositions)) == (0, len(odd) - 1)
    assert window_diff(even, odd, units // 2 + 1) is not None


@pytest.mark.parametrize(
    ("reference", "hypothesis", "said"),
    [([3, 2], [4], "5 units, the hypothesis 4"), ([2, 0, 2], [4], "mass 0"), ([5, -1], [4], "mass -1")],
)
def test_bad_masses_are_refused(reference: list[int], hypothesis: list[int], said: str) -> None:
    """ME-04: only segmentations of one axis are compared."""
    for metric in (pk, window_diff, boundary_similarity, boundary_precision_recall):
        with pytest.raises(ValueError, match=said):
            metric(reference, hypothesis)


def test_bad_settings_are_refused() -> None:
    """ME-04: windows and spans of nothing; gaps that are not on the axis."""
    with pytest.raises(ValueError, match="window is 0"):
        pk([4], [4], 0)
    with pytest.raises(ValueError, match="max_transposition is 0"):
        boundary_similarity([4], [4], 0)
    for gaps, units in (([3], 4), ([-1], 4), ([1, 1], 4), ([0], 0)):
        with pytest.raises(ValueError, match="rising gaps"):
            masses_from_gaps(gaps, units)


@pytest.fixture(scope="module")
def segeval() -> Any:
    """The reference implementation, where it is installed."""
    with warnings.catch_warnings():
        # Its docstrings hold invalid escapes.
        warnings.simplefilter("ignore")
        return pytest.importorskip("segeval")


@pytest.mark.parametrize("span", [2, 3, 7])
@pytest.mark.parametrize("seed", range(8))
def test_segeval_agrees(segeval: Any, seed: int, span: int) -> None:
    """ME-04: on random segmentations with a boundary each."""
    from linkrag_dagster.evaluation.boundary_baselines import at_random

    reference, hypothesis = at_random(60, 4 + seed, seed), at_random(60, 3 + 2 * seed, seed + 100)
    pair = (hypothesis, reference)
    assert pk(reference, hypothesis) == pytest.approx(float(segeval.pk(*pair)), abs=1e-9, rel=0)
    assert window_diff(reference, hypothesis) == pytest.approx(
        float(segeval.window_diff(*pair)), abs=1e-9, rel=0
    )
    want = float(segeval.boundary_similarity(*pair, n_t=span))
    assert boundary_similarity(reference, hypothesis, span) == pytest.approx(want, abs=1e-9, rel=0)
