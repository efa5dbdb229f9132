"""ST-09: Hearst's TextTiling."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from linkrag_dagster.chunking.depth import depth_scores
from linkrag_dagster.chunking.strategies.texttiling import APART, BLOCK, WORDS, paragraph_gaps, topics_of
from linkrag_dagster.markdown import parse
from tests.chunking.strategies.support import chunks, pieces, words

SEA = "Sailors steer the ship across deep ocean water while waves lift the wooden hull and wind fills every sail."
BREAD = "Bakers knead flour yeast and salt into soft dough before the oven turns each loaf golden brown and crisp."


def _document(*topics: str) -> str:
    return "\n\n".join("\n\n".join([topic] * 12) for topic in topics)


def _change(text: str, topic: str) -> int:
    """Where a topic begins."""
    return text.index(topic)


def test_cuts_where_the_topic_changes() -> None:
    """ST-09: the deepest valley is at the change, a cut at the paragraph gap there; all cuts are at such gaps."""
    text = _document(SEA, BREAD)
    made = pieces("texttiling", text)
    assert _change(text, BREAD) in {p.start_char for p in made}
    topics = topics_of(text)
    deepest = topics.positions[topics.deep()[0]]
    assert abs(deepest - _change(text, BREAD)) <= WORDS * 6
    assert all(text[: p.start_char].endswith("\n\n") for p in made[1:])


def test_without_gaps_no_cut() -> None:
    """ST-09: a single paragraph and a text of few words stay whole."""
    assert len(words("texttiling", (SEA + " ") * 12 + (BREAD + " ") * 12)) == 1
    assert words("texttiling", "Two words.\n\nAnd more.") == ["Two words.\n\nAnd more."]
    assert words("texttiling", "") == []


def test_curve_against_its_definition() -> None:
    """ST-09: the running counts give what counting each block anew gives."""
    text = _document(SEA, BREAD, SEA + " " + BREAD)
    topics = topics_of(text)
    tokens = [w.strip(".").lower() for w in text.split()]
    ignored = {"the", "and", "while", "into", "before", "each"}
    rows = [[w for w in tokens[k : k + WORDS] if w not in ignored] for k in range(0, len(tokens), WORDS)]
    assert len(topics.cohesion) == len(rows) - 1
    for gap, score in enumerate(topics.cohesion, start=1):
        left = Counter(w for row in rows[max(0, gap - BLOCK) : gap] for w in row)
        right = Counter(w for row in rows[gap : gap + BLOCK] for w in row)
        product = sum(left[w] * right[w] for w in left)
        length = math.sqrt(sum(v * v for v in left.values()) * sum(v * v for v in right.values()))
        assert score == pytest.approx(product / length)


def test_boundaries_keep_apart() -> None:
    """ST-09: at least three pseudo-sentences between two of them, the deepest first."""
    topics = topics_of(_document(*[SEA, BREAD] * 6))
    found = topics.deep()
    assert len(found) > 3
    assert all(abs(a - b) >= APART for a in found for b in found if a != b)
    assert [topics.depths[g] for g in found] == sorted((topics.depths[g] for g in found), reverse=True)


def test_a_heading_stays_with_what_follows() -> None:
    """ST-09, SD-08: no piece ends with a heading."""
    text = "\n\n".join(["# Sea", *[SEA] * 12, "# Bread", *[BREAD] * 12])
    made = words("texttiling", text)
    assert len(made) > 1
    assert all(text[gap:].startswith(("# Bread", SEA, BREAD)) for gap in paragraph_gaps(parse(text)))
    assert len(paragraph_gaps(parse(text))) == 23
    assert not any(w.splitlines()[-1].startswith("#") for w in made)


def test_chinese_words() -> None:
    """ST-09: words of an unspaced script count one by one."""
    sea = "水手驾驶帆船穿越深海，海浪托起船身，海风吹满船帆。"
    bread = "面包师把面粉酵母和盐揉成面团，再放进烤箱烤成金黄。"
    text = _document(sea * 2, bread * 2)
    assert text.index(bread) in {p.start_char for p in pieces("texttiling", text)}


def test_depths_of_the_oracle(shared: Path) -> None:
    """SD-06, ST-09: the depth that both use, against the reference's curves."""
    lines = (shared / "oracles" / "texttiling_depth.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert len(cases) > 10
    for case in cases:
        assert depth_scores(case["scores"]) == pytest.approx(case["depth_climb_while_gt"]), case["id"]


def test_reasons() -> None:
    """ST-09: each cut says why."""
    *cuts, last = [p.ends for p in pieces("texttiling", _document(SEA, BREAD))]
    assert set(cuts) == {"topic"}
    assert last == "end"


def test_every_gap_is_told_with_its_scores() -> None:
    """ST-09, SD-16: the whole curve, every gap between blocks, and the cuts with the depth that decided them."""
    text = "# Both\n\n" + _document(SEA, BREAD)
    _, made, trace = chunks("texttiling", text)
    topics = topics_of(text)
    assert topics.cutoff is not None
    assert [row.gap_index for row in trace] == list(range(len(trace)))
    assert [row.position for row in trace] == sorted(row.position for row in trace)
    assert len(set(row.position for row in trace)) == len(trace)
    cuts = [row for row in trace if row.chosen]
    assert [row.position for row in cuts] == [c.end_char for c in made[:-1]]
    assert cuts and all(row.legal and (row.depth or 0.0) > topics.cutoff for row in cuts)
    threshold = f"threshold {topics.cutoff:.3f}"
    scored = [row for row in trace if row.depth is not None]
    assert all(row.reason.endswith(threshold) and row.cohesion is not None for row in scored)
    assert {row.cohesion for row in scored} <= set(topics.cohesion)
    # Each point of the curve is told, by itself or at the cut or the gap between blocks that it stands for.
    assert {d for d in topics.depths if d <= topics.cutoff} <= {row.depth for row in scored}
    heading = next(row for row in trace if row.reason.startswith("after_heading"))
    assert not heading.legal and heading.position == len("# Both")


def test_the_cut_after_front_matter_has_no_score() -> None:
    """CB-02: structure decided it."""
    _, _, trace = chunks("texttiling", "---\ntitle: x\n---\n\nTwo words.\n")
    assert [(row.chosen, row.depth, row.reason) for row in trace] == [(True, None, "topic")]
