"""`semantic_depth_window` end to end: tokens say when, depth says where (SD-01 to SD-17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from linkrag_dagster.chunking import (
    ChunkSet,
    GapTrace,
    ScoringError,
    SettingsError,
    check_final,
    chunk_elements,
    chunk_text,
    resolve_settings,
)
from linkrag_dagster.markdown import parse
from linkrag_dagster.tokens import load_tokenizer
from tests.chunking.scripted import Failing, Hashed, Script

CL100K = load_tokenizer("cl100k_base")
SEMANTIC = "semantic_depth_window"
LINKRAG: dict[str, Any] = {
    "min_candidate_tokens": 128, "max_tokens": 512, "hard_max_tokens": 1024, "header": False
}  # fmt: skip
HEAP, THREADS = (1.0, 0.0), (0.0, 1.0)


def passage(word: str, tokens: int) -> str:
    """A paragraph of so many tokens about one word."""
    text = f"{word} " + "a " * tokens
    while CL100K.count(text.strip()) > tokens:
        text = text[:-2]
    assert CL100K.count(text.strip()) == tokens
    return text.strip()


def semantic(text: str, scorer: object, **settings: Any) -> ChunkSet:
    return chunk_text(
        text, strategy=SEMANTIC, tokenizer="cl100k_base", settings={**LINKRAG, **settings}, scorer=scorer
    )


def starts(made: ChunkSet) -> list[str]:
    """First words of the source chunks."""
    return [c.content.split()[0] for c in made.final if c.role == "source"]


def chosen(trace: Sequence[GapTrace]) -> list[GapTrace]:
    return [gap for gap in trace if gap.chosen]


def test_the_seeds_example() -> None:
    """SD-02 to SD-09, SD-16: heading, two passages, a described table, a new subject, code: cut after the table."""
    rows = "| area | share |\n| --- | --- |\n" + "| Eden | 8 |\n" * 6
    code = "```\n" + "cas = 1\n" * 38 + "```"
    text = "\n\n".join(
        [
            "#### Heap",
            passage("generations", 180),
            passage("eden", 200),
            rows.strip(),
            passage("tlab", 190),
            code,
        ]
    )
    described = [
        replace(e, description="shares of the survivor areas") if e.kind == "table" else e
        for e in parse(text)
    ]
    scorer = Script({"generations": HEAP, "eden": (0.9, 0.3), "survivor": (0.8, 0.4), "tlab": (0.1, 1.0)})
    made = chunk_elements(
        described, text, strategy=SEMANTIC, tokenizer="cl100k_base", settings=LINKRAG, scorer=scorer
    )
    assert [c.tokens for c in made.coarse if c.role == "source"] == [CL100K.count(text)]
    assert starts(made) == ["####", "tlab"]
    # Neither heading nor code is scored, and nothing twice.
    assert len(scorer.asked) == 4
    assert [(g.gap_index, g.reason) for g in chosen(made.trace)] == [(3, "depth")]
    assert [g.legal for g in made.trace] == [False, True, True, True, True]
    assert [g.cohesion is None for g in made.trace] == [True, False, False, False, True]
    assert max(g.depth or 0 for g in made.trace) == made.trace[3].depth
    table = next(c for c in made.chunks if c.role == "derived")
    assert table.source_chunk_id == made.chunks[0].chunk_id
    assert {c.strategy for c in made.chunks} == {SEMANTIC}


def test_an_earlier_deeper_gap_is_preferred() -> None:
    """SD-07: the segment need not be full."""
    words = [("harbour", 180), ("crane", 180), ("lamp", 140), ("keeper", 140)]
    text = "\n\n".join(passage(word, size) for word, size in words)
    one = {"harbour": HEAP, "crane": THREADS, "lamp": (0.1, 1.0), "keeper": (0.2, 1.0)}
    assert starts(semantic(text, Script(one))) == ["harbour", "crane"]
    other = {"harbour": HEAP, "crane": (1.0, 0.1), "lamp": (1.0, 0.2), "keeper": THREADS}
    assert starts(semantic(text, Script(other))) == ["harbour", "keeper"]


def test_of_equal_depths_the_later_is_taken() -> None:
    """SD-07: a chunk is filled where meaning does not say otherwise."""
    names = ["aft", "bow", "cog", "dory"]
    text = "\n\n".join(passage(name, 150) for name in names)
    flat = semantic(text, Script({name: HEAP for name in names}))
    assert [g.depth for g in flat.trace] == [0.0, 0.0, 0.0]
    assert starts(flat) == ["aft", "dory"]
    assert [g.reason for g in chosen(flat.trace)] == ["depth"]


def test_without_any_depth_the_last_legal_gap_is_taken() -> None:
    """SD-04, SD-07, SD-15: no evidence is no failure; the cut is structural, and nobody is asked."""
    block = "```\n" + "x = 1\n" * 50 + "```"
    text = "\n\n".join([block] * 4)
    scorer = Script({})
    made = semantic(text, scorer)
    assert scorer.calls == []
    assert {(g.cohesion, g.depth) for g in made.trace} == {(None, None)}
    assert [(g.gap_index, g.reason) for g in chosen(made.trace)] == [(1, "structural")]
    packed = chunk_text(text, strategy="pack", tokenizer="cl100k_base", settings=LINKRAG)
    assert [c.content for c in made.final] == [c.content for c in packed.final]


def test_a_side_without_vectors_gives_no_score() -> None:
    """SD-04: code alone on the right; the last gap has no score and the scored ones decide."""
    block = "```\n" + "x = 1\n" * 40 + "```"
    text = "\n\n".join([passage("harbour", 150), passage("crane", 150), passage("lamp", 150), block])
    made = semantic(text, Script({"harbour": HEAP, "crane": THREADS, "lamp": (0.1, 1.0)}))
    assert [g.cohesion is None for g in made.trace] == [False, False, True]
    assert starts(made) == ["harbour", "crane"]


def test_a_window_reaches_across_unscorable_stretches() -> None:
    """SD-04, SD-05: until it holds a vector; `max_gap_distance` keeps a climb from following."""
    block = "```\n" + "x = 1\n" * 80 + "```"
    text = "\n\n".join(
        [
            passage("harbour", 130),
            passage("quay", 130),
            block,
            block,
            passage("crane", 130),
            passage("lamp", 130),
        ]
    )
    scorer = Script({"harbour": HEAP, "quay": (1.0, 0.2), "crane": (0.5, 0.5), "lamp": (0.6, 0.5)})
    free = semantic(text, scorer)
    cohesion = [g.cohesion for g in free.trace]
    assert None not in cohesion
    # The gaps beside and inside the stretch compare the same two passages.
    assert cohesion[1] == cohesion[2] == cohesion[3]
    assert free.trace[1].depth == pytest.approx((cohesion[0] or 0) - (cohesion[1] or 0))
    held = semantic(text, scorer, max_gap_distance=600)
    assert held.trace[1].depth == free.trace[1].depth  # the climb to the left is free
    walled = semantic("\n\n".join(text.split("\n\n")[1:]), scorer, max_gap_distance=600)
    assert [g.depth for g in walled.trace][:2] == [0.0, 0.0]


def test_small_segments_join_the_side_they_hold_to() -> None:
    """SD-10: by cohesion; without a score the preceding side."""
    words = [("harbour", 350), ("buoy", 60), ("crane", 350)]
    text = "\n\n".join(passage(word, size) for word, size in words)
    right = {"harbour": HEAP, "buoy": (0.3, 1.0), "crane": THREADS}
    assert starts(semantic(text, Script(right))) == ["harbour", "buoy"]
    left = {"harbour": HEAP, "buoy": (1.0, 0.3), "crane": THREADS}
    assert starts(semantic(text, Script(left))) == ["harbour", "crane"]


def test_short_chunks_cost_nothing() -> None:
    """SD-01: only source chunks above the maximum are scored; front matter, derived and short ones pass."""
    table = "| a | b |\n| - | - |\n" + "| one | two |\n" * 300
    text = f"---\nnote: {'a ' * 700}\n---\n\n# A\n\n{passage('short', 300)}\n\n{table}\n"
    scorer = Script({})
    made = semantic(text, scorer)
    assert scorer.calls == []
    assert made.trace == ()
    assert [c.role for c in made.final] == ["source", "source", "derived"]


def test_a_failing_scorer_is_a_failure() -> None:
    """SD-15: never cut by other means instead."""
    text = "\n\n".join(passage(word, 300) for word in ("harbour", "crane"))
    scorer = Failing({"a": HEAP}, [TimeoutError("slow")] * 3)
    with pytest.raises(ScoringError, match="TimeoutError: slow") as caught:
        semantic(text, scorer, scorer_backoff=0)
    assert caught.value.retryable
    assert len(scorer.calls) == 3


def test_a_scorer_is_needed_by_one_strategy_alone() -> None:
    """SD-00: what is missing is said before any work; other strategies pass it over."""
    with pytest.raises(SettingsError, match="compares texts"):
        chunk_text("words", strategy=SEMANTIC, tokenizer="cl100k_base")
    scorer = Script({})
    assert chunk_text("words", tokenizer="cl100k_base", scorer=scorer).chunks
    assert scorer.calls == []


def test_functions_are_scorers() -> None:
    """SD-00."""

    def lengths(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, float(len(text))] for text in texts]

    text = "\n\n".join(passage(word, 300) for word in ("harbour", "crane"))
    assert starts(semantic(text, lengths)) == ["harbour", "crane"]


@pytest.mark.parametrize("oversize", ["split", "truncate"])
def test_oversized_blocks(oversize: str) -> None:
    """SD-09, SD-11, S2-02: as under `pack`; nothing is lost without a row that says so."""
    rows = "```python\n" + "value = compute(1, 2, 3)\n" * 300 + "```"
    text = "\n\n".join([passage("harbour", 200), rows, passage("crane", 200)])
    settings = {**LINKRAG, "oversize": oversize, "strategy": SEMANTIC, "tokenizer": "cl100k_base"}
    made = semantic(text, Hashed(), oversize=oversize)
    complete = resolve_settings(settings, window=None)
    assert check_final(made.final, made.coarse, text, complete, CL100K) == []
    cut = [c for c in made.final if c.truncated]
    if oversize == "truncate":
        (one,) = cut
        assert (one.original_token_count or 0) > 1024 >= one.tokens
    else:
        assert cut == []
        assert "".join(c.content for c in made.final) == text
        assert max(c.parts or 0 for c in made.final) > 1


def test_settings_change_the_scores() -> None:
    """SD-04, SD-05: window, weighting and smoothing."""
    words = [("harbour", 60), ("quay", 200), ("crane", 60), ("lamp", 200), ("keeper", 90)]
    text = "\n\n".join(passage(word, size) for word, size in words)
    scorer = Hashed(3)
    usual = [g.cohesion for g in semantic(text, scorer).trace]
    assert [g.cohesion for g in semantic(text, scorer, cohesion_window_tokens=300).trace] != usual
    assert [g.cohesion for g in semantic(text, scorer, window_weighting="tokens").trace] != usual
    smooth = semantic(text, scorer, smoothing="mean(2, 1)").trace
    assert [g.cohesion for g in smooth] == usual
    assert [g.depth for g in smooth] != [g.depth for g in semantic(text, scorer).trace]
