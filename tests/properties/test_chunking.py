"""Properties of chunking that hold for any text, any limits and any tokenizer."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkrag_dagster.chunking import (
    ChunkSet,
    ChunkSettings,
    check_chunks,
    check_coarse,
    check_final,
    chunk_text,
    coarse_chunks,
    export_chunks,
    final_chunks,
    resolve_settings,
)
from linkrag_dagster.chunking.default_encoder import default_encoder
from linkrag_dagster.tokens import Tokenizer, load_tokenizer
from tests.chunking.scripted import Hashed

CL100K = load_tokenizer("cl100k_base")
ENCODER = default_encoder()

LINES = [
    "# Title",
    "## Section",
    "## Section",
    "### 小节",
    "###### note",
    "Setext",
    "---",
    "***",
    "A sentence that is long enough to be cut somewhere. Another one, by Dr. Lee, follows it!",
    "港口办公室每天清晨登记进港的船只，记录船主、货物和泊位。两条船争一个泊位时，以登记较早者为准。",
    "Run this:",
    "- item one",
    "  - nested item",
    "    ```",
    "> quoted words",
    "```python",
    "x = 1",
    "```",
    "~~~",
    "$$",
    "| a | b |",
    "| --- | --- |",
    "| 1 | a value in a cell |",
    "![alt text](image.png)",
    "![](image.png)",
    "<div>",
    "</div>",
    "[^1]: a note",
    "[link]: http://example.org",
    "👍🏽👨‍👩‍👧 e\u0301\u0301\u0301",
    "x" * 300,
    "",
    "",
    "   ",
    "\t",
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(LINES), max_size=40).map("\n".join),
    st.lists(st.sampled_from(LINES), max_size=40).map("\r\n".join),
    st.text(max_size=200),
    st.text(alphabet=" \n\t#-`|>ab。👍", max_size=200),
)
LIMITS = st.integers(4, 60).flatmap(
    lambda hard: st.integers(2, hard).flatmap(
        lambda most: st.integers(1, most).map(
            lambda least: {"min_candidate_tokens": least, "max_tokens": most, "hard_max_tokens": hard}
        )
    )
)
OPTIONS = st.fixed_dictionaries(
    {
        "header": st.booleans(),
        "adjacent_context": st.sampled_from(["section", "physical"]),
        "adjacent_context_tokens": st.sampled_from([0, 3, 64]),
        "oversize": st.sampled_from(["split", "truncate"]),
        "index_front_matter": st.booleans(),
        "overlap_tokens": st.sampled_from([0, 1, 7, 64]),
        "protected_overlap": st.booleans(),
    }
)
SCORING = st.fixed_dictionaries(
    {
        "cohesion_window_tokens": st.sampled_from([1, 20, 128]),
        "window_weighting": st.sampled_from(["equal", "tokens"]),
        "max_gap_distance": st.sampled_from([None, 1, 30]),
        "smoothing": st.sampled_from(["none", "mean(2, 1)", "mean(4, 3)"]),
        "scorer_batch": st.integers(1, 12),
    }
)
SCORERS = st.builds(Hashed, st.integers(0, 1000), st.integers(1, 3))
SLOW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def _contracts(
    made: ChunkSet, text: str, chosen: ChunkSettings, encoder: Tokenizer, window: int | None
) -> list[str]:
    found = [
        *check_coarse(made.coarse, made.elements, text, chosen, CL100K),
        *check_final(made.final, made.coarse, text, chosen, CL100K),
        *check_chunks(made.chunks, made.final, text, chosen, CL100K, encoder, window),
    ]
    return [f"{v.rule}: {v.message}" for v in found]


@SLOW
@given(TEXTS, LIMITS, OPTIONS, st.sampled_from(["noop", "pack"]))
def test_every_contract_holds(
    text: str, limits: dict[str, int], options: dict[str, Any], strategy: str
) -> None:
    """CB-16, S2-02, EX-07: contracts recount and compare everything; here with small limits."""
    chosen = resolve_settings(
        {**limits, **options, "strategy": strategy, "tokenizer": "cl100k_base"}, window=None
    )
    made = chunk_text(text, settings=chosen, strategy=strategy, tokenizer="cl100k_base")
    assert _contracts(made, text, chosen, CL100K, None) == []


@SLOW
@given(TEXTS, LIMITS, OPTIONS, SCORING, SCORERS)
def test_any_scores_keep_every_contract(
    text: str, limits: dict[str, int], options: dict[str, Any], scoring: dict[str, Any], scorer: Hashed
) -> None:
    """SD-13, S2-02, SD-16: whatever a scorer says, finals tile, limits hold, and equal input gives equal chunks."""
    strategy = "semantic_depth_window"
    chosen = resolve_settings(
        {**limits, **options, **scoring, "strategy": strategy, "tokenizer": "cl100k_base"}, window=None
    )
    made = chunk_text(text, settings=chosen, strategy=strategy, tokenizer="cl100k_base", scorer=scorer)
    assert _contracts(made, text, chosen, CL100K, None) == []
    again = chunk_text(
        text,
        settings=chosen,
        strategy=strategy,
        tokenizer="cl100k_base",
        scorer=Hashed(scorer.seed, scorer.dimensions),
    )
    assert made == again
    refined = {c.coarse_id for c in made.coarse if c.role == "source" and c.tokens > limits["max_tokens"]}
    refined -= {c.coarse_id for c in made.coarse if c.kinds == ("front_matter",)}
    assert {gap.coarse_id for gap in made.trace} <= refined
    for coarse_id in refined:
        ends = [f.coarse_end for f in made.final if f.coarse_id == coarse_id][:-1]
        gaps = [gap for gap in made.trace if gap.coarse_id == coarse_id]
        assert [gap.gap_index for gap in gaps] == list(range(len(gaps)))
        assert options["oversize"] == "truncate" or [g.position for g in gaps if g.chosen] == ends
        assert all((gap.cohesion is None) == (gap.depth is None) for gap in gaps)
        assert all(-1 <= gap.cohesion <= 1 for gap in gaps if gap.cohesion is not None)


@SLOW
@given(TEXTS, LIMITS)
def test_source_chunks_tile_the_document(text: str, limits: dict[str, int]) -> None:
    """CB-01, SD-13: every element in exactly one source chunk; finals concatenate to their coarse chunk."""
    made = chunk_text(text, tokenizer="cl100k_base", settings=limits)
    held = [i for c in made.coarse if c.role == "source" for i in c.element_indexes]
    assert held == [e.element_index for e in made.elements if e.kind != "rule"]
    for candidate in made.coarse:
        parts = [f.content for f in made.final if f.coarse_id == candidate.coarse_id]
        assert "".join(parts) == candidate.content
        assert all(part.strip() for part in parts)


@SLOW
@given(TEXTS, LIMITS)
def test_hard_max_holds_when_counted_again(text: str, limits: dict[str, int]) -> None:
    """S2-02, TK-02: no source core under `pack` is above the hard maximum, but for what cannot be cut."""
    made = chunk_text(text, tokenizer="cl100k_base", settings=limits)
    for chunk in made.final:
        if chunk.role == "source" and chunk.kinds != ("front_matter",):
            words = chunk.content.strip()
            allowed = CL100K.count(chunk.content) <= limits["hard_max_tokens"]
            blanks_alone = (
                CL100K.count(words) <= limits["hard_max_tokens"] and chunk.oversized_reason == "separators"
            )
            assert allowed or blanks_alone or len(words) == 1


@SLOW
@given(TEXTS, LIMITS)
def test_words_stand_where_their_offsets_say(text: str, limits: dict[str, int]) -> None:
    """EX-07: content is the slice of verbatim chunks; spans are in the content of the others, in order."""
    made = chunk_text(text, tokenizer="cl100k_base", settings=limits)
    for chunk in made.chunks:
        assert chunk.content in chunk.text
        if chunk.verbatim:
            assert text[chunk.start_char : chunk.end_char] == chunk.content
        at = 0
        for span in chunk.spans:
            at = (
                chunk.content.index(text[span.start_char : span.end_char], at)
                + span.end_char
                - span.start_char
            )
    anchors = {c.chunk_id: c for c in made.chunks if c.role == "source"}
    for chunk in made.chunks:
        if chunk.role == "derived":
            assert chunk.element_id in anchors[chunk.source_chunk_id or ""].contained_element_ids


@SLOW
@given(TEXTS, LIMITS)
def test_equal_input_gives_equal_chunks(text: str, limits: dict[str, int]) -> None:
    """EX-06: nothing depends on anything but the arguments."""
    assert chunk_text(text, tokenizer="cl100k_base", settings=limits) == chunk_text(
        text, tokenizer="cl100k_base", settings=limits
    )


@SLOW
@given(TEXTS, LIMITS, OPTIONS, st.integers(40, 80))
def test_nothing_is_cut_by_the_window(
    text: str, limits: dict[str, int], options: dict[str, Any], window: int
) -> None:
    """EX-05: with a window far smaller than the chunks, all texts fit and all words are there."""
    chosen = resolve_settings({**limits, **options, "tokenizer": "cl100k_base"}, window=None)
    made = chunk_text(text, settings={**limits, **options}, tokenizer="cl100k_base")
    coarse = coarse_chunks(made.elements, text, chosen, CL100K)
    final, trace = final_chunks(coarse, text, chosen, CL100K, made.elements)
    chunks = export_chunks(final, text, chosen, CL100K, ENCODER.tokenizer, window, "A title of a few words")
    again = ChunkSet(made.elements, coarse, final, chunks, trace)
    assert _contracts(again, text, chosen, ENCODER.tokenizer, window) == []
