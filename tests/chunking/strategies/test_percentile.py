"""ST-04: distances above the document's own percentile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.chunking.strategies.support import by_topic, chunks, pieces, words

TWO_TOPICS = "Cats purr. Cats sleep. Cats eat. Cats run. Dogs bark. Dogs dig. Dogs bite. Dogs swim."


def test_the_deepest_drop() -> None:
    """ST-04: one change of topic, one cut."""
    assert words("percentile", TWO_TOPICS, scorer=by_topic("Cats", "Dogs")) == [
        "Cats purr. Cats sleep. Cats eat. Cats run.",
        "Dogs bark. Dogs dig. Dogs bite. Dogs swim.",
    ]


def test_the_percentile_is_the_documents_own() -> None:
    """ST-04: numpy's linear percentile of the distances between neighbours."""
    generator = np.random.default_rng(7)
    count = 40
    text = " ".join(f"Sentence number {k} stands here." for k in range(count))
    table = generator.normal(size=(count, 8))

    def scorer(texts: Sequence[str]) -> NDArray[np.float64]:
        return table[[int(t.split()[2]) for t in texts]]

    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    distances = 1 - (unit[:-1] * unit[1:]).sum(axis=1)
    for percentile in (50, 90, 97.5):
        made = words("percentile", text, scorer=scorer, percentile=percentile)
        firsts = [int(w.split()[2]) for w in made]
        above = np.flatnonzero(distances > np.percentile(distances, percentile)) + 1
        assert firsts == [0, *above.tolist()]


def test_alike_everywhere_is_one_piece() -> None:
    """ST-04: no distance is above the percentile of equal ones; texts without a direction are never cut."""

    def nothing(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.zeros((len(texts), 3))

    assert len(words("percentile", TWO_TOPICS, scorer=by_topic("s"))) == 1
    assert len(words("percentile", TWO_TOPICS, scorer=nothing)) == 1
    assert words("percentile", " \n", scorer=nothing) == []


def test_needs_a_scorer() -> None:
    """ST-04, SD-15: never by other means instead."""
    with pytest.raises(ValueError, match="percentile compares texts: give it a scorer"):
        pieces("percentile", TWO_TOPICS)


def test_chunks() -> None:
    """ST-04, EX-07: whole sentences, the source's own white space between them."""
    _, made, trace = chunks("percentile", TWO_TOPICS, scorer=by_topic("Cats", "Dogs"))
    assert [c.cut_reason for c in made] == ["distance", "end"]
    assert [g.position for g in trace if g.chosen] == [made[0].end_char]


def test_every_gap_is_told_with_its_distance() -> None:
    """ST-04, SD-16: a row a gap between sentences: cosine, threshold, whether it was cut."""
    _, _, trace = chunks("percentile", TWO_TOPICS, scorer=by_topic("Cats", "Dogs"))
    assert [g.gap_index for g in trace] == list(range(7))
    assert [TWO_TOPICS[g.position - 1] for g in trace] == ["."] * 7
    assert [g.chosen for g in trace] == [False] * 3 + [True] + [False] * 3
    assert all(g.legal and g.depth is None and g.cohesion is not None for g in trace)
    assert [round(g.cohesion or 0.0, 3) for g in trace] == [1.0] * 3 + [0.002] + [1.0] * 3
    # numpy's 90th percentile of seven distances, six of them 0: 0.4 of the way to the largest.
    assert trace[3].reason == "distance: distance 0.998, threshold 0.399"
    assert trace[0].reason == "kept: distance 0.000, threshold 0.399"

    def nothing(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.zeros((len(texts), 3))

    _, _, trace = chunks("percentile", TWO_TOPICS, scorer=nothing)
    assert {(g.cohesion, g.chosen, g.reason) for g in trace} == {(None, False, "kept: no distance")}
