"""Windows, cosines, and which text of an atom is scored (SD-03 to SD-05)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from linkrag_dagster.chunking import chunk_text, plan_final, resolve_settings
from linkrag_dagster.chunking.atoms import Atom
from linkrag_dagster.chunking.cohesion import cohesion_scores, unscorable_breaks
from linkrag_dagster.chunking.scored_text import scored_text
from linkrag_dagster.markdown import parse
from linkrag_dagster.tokens import load_tokenizer

CL100K = load_tokenizer("cl100k_base")
Vector = NDArray[np.float64]
ATOMS = st.lists(st.tuples(st.booleans(), st.integers(0, 60)), min_size=1, max_size=40)


def _vectors(scored: list[bool]) -> list[Vector | None]:
    draw = np.random.default_rng(len(scored))
    return [draw.normal(size=4) if one else None for one in scored]


def _mean(
    vectors: list[Vector | None], tokens: list[int], order: list[int], window: int, weighting: str
) -> Any:
    """A window as SD-04 says it: atom by atom."""
    held: list[Vector] = []
    weights: list[int] = []
    size = 0
    for position in order:
        if size >= window and held:
            break
        size += tokens[position]
        vector = vectors[position]
        if vector is not None:
            held.append(vector)
            weights.append(tokens[position] if weighting == "tokens" else 1)
    return np.average(held, axis=0, weights=weights) if held and sum(weights) else None


@given(ATOMS, st.integers(1, 200), st.sampled_from(["equal", "tokens"]))
def test_windows_extend_until_full_and_scored(
    atoms: list[tuple[bool, int]], window: int, weighting: str
) -> None:
    """SD-04: against the definition, for any atoms."""
    vectors, tokens = _vectors([scored for scored, _ in atoms]), [size for _, size in atoms]
    made = cohesion_scores(vectors, tokens, window=window, weighting=weighting)
    assert len(made) == len(atoms) - 1
    for gap, score in enumerate(made, start=1):
        left = _mean(vectors, tokens, list(range(gap - 1, -1, -1)), window, weighting)
        right = _mean(vectors, tokens, list(range(gap, len(atoms))), window, weighting)
        if left is None or right is None:
            assert score is None
        else:
            expected = left @ right / (np.linalg.norm(left) * np.linalg.norm(right))
            assert score == pytest.approx(expected, abs=1e-6)


def test_a_side_without_vectors_has_no_score() -> None:
    """SD-04: never a zero."""
    one = np.array([1.0, 0.0])
    assert cohesion_scores([None, one, None], [9, 9, 9]) == [None, None]
    assert cohesion_scores([None, None], [9, 9]) == [None]
    assert cohesion_scores([one, np.zeros(2)], [9, 9]) == [None]
    assert cohesion_scores([one], [9]) == []


def test_equal_neighbours_have_equal_scores() -> None:
    """SD-05: rounding noise makes no valley of a plateau."""
    one = np.array([0.1, 0.7, 0.3])
    assert set(cohesion_scores([one] * 50, [30] * 50)) == {1.0}


def test_long_chunks_are_scored_in_blocks() -> None:
    """SD-04: as a short chunk is, whatever the number of atoms."""
    draw = np.random.default_rng(7)
    vectors: list[Vector | None] = [draw.normal(size=3) for _ in range(5000)]
    tokens = [int(n) for n in draw.integers(1, 90, size=5000)]
    made = cohesion_scores(vectors, tokens)
    assert made[4000:4200] == cohesion_scores(vectors[3800:4400], tokens[3800:4400])[200:400]


def test_breaks_lie_in_long_unscorable_stretches() -> None:
    """SD-05: `max_gap_distance`; a stretch counts as a whole."""
    scored, tokens = [True, False, False, True, False, True], [9, 40, 50, 9, 80, 9]
    assert unscorable_breaks(scored, tokens, None) == frozenset()
    assert unscorable_breaks(scored, tokens, 90) == frozenset()
    # Gap 0 stands before atom 1: between gaps 0 and 1 lies atom 1, between gaps 1 and 2 atom 2.
    assert unscorable_breaks(scored, tokens, 89) == {0, 1}
    assert unscorable_breaks(scored, tokens, 79) == {0, 1, 3}


def test_what_is_scored() -> None:
    """SD-03: own words of running text, descriptions of images; no heading, code, math, definition, bare HTML."""
    text = (
        "# Title\n\nFirst paragraph.\n\n- item\n- item two\n\n> quoted\n\n```\ncode\n```\n\n$$\nx\n$$\n\n"
        "![quay wall](a.png)\n\n![](b.png)\n\n| a |\n| --- |\n| 1 |\n\n"
        "<div class='x'>\n<!-- hidden --><b>visible &amp; bold</b>\n</div>\n\n<br>\n\n"
        "[^1]: a note\n\n[link]: http://example.org\n"
    )
    settings = resolve_settings(
        {
            "strategy": "semantic_depth_window",
            "tokenizer": "cl100k_base",
            "max_tokens": 60,
            "hard_max_tokens": 60,
        },
        window=None,
    )
    made = chunk_text(text, tokenizer="cl100k_base", strategy="noop")
    plan = plan_final(made.coarse, text, settings, CL100K, made.elements)
    assert plan.texts == (
        "First paragraph.",
        "- item\n- item two",
        "> quoted",
        "quay wall",
        "visible & bold",
        "[^1]: a note",
    )


@pytest.mark.parametrize("mark", ["<!-", "<script", "<", "</"])
def test_marks_that_never_close_are_words(mark: str) -> None:
    """SD-03: a quarter of a million of them are read once, not once each."""
    content = mark * 250_000 + " words"
    element = parse("<div>\n</div>")[0]
    assert scored_text(Atom(0, len(content), "html", 0), content, element) == content
    open_comment = "<!--" * 250_000
    assert scored_text(Atom(0, len(open_comment), "html", 0), open_comment, element) is None
