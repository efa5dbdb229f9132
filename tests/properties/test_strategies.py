"""Every strategy over generated Markdown: what its chunks say is the document's, in order, and all that it promises."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import pytest
import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkrag_dagster.choices.strategies import COMPARISON_STRATEGIES, STRATEGIES
from linkrag_dagster.chunking import ChunkSet, CoarseChunk, chunk_text
from linkrag_dagster.tokens import load_tokenizer
from tests.chunking.scripted import Hashed
from tests.properties.generated_markdown import DOCUMENTS

CL100K = load_tokenizer("cl100k_base")
BOUNDED = ("pack", "semantic_depth_window")
SIZES = st.sampled_from([1, 3, 8, 20, 60, 200, 1000])
LIMITS = st.tuples(SIZES, SIZES, SIZES).map(
    lambda sizes: dict(
        zip(("min_candidate_tokens", "max_tokens", "hard_max_tokens"), sorted(sizes), strict=True)
    )
)
SOME = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
# Headings that stand in the trail instead of a piece.
IN_THE_TRAIL = ("document_aware", "auto", "header", "ablation_c", "ablation_d", "ablation_e", "ablation_f")


def _chunked(text: str, strategy: str, limits: dict[str, int], **more: Any) -> ChunkSet:
    return chunk_text(
        text, strategy=strategy, tokenizer=CL100K, settings={**limits, **more}, scorer=Hashed(1, 3)
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
@SOME
@given(DOCUMENTS, LIMITS)
def test_words_are_the_documents_own(strategy: str, text: str, limits: dict[str, int]) -> None:
    """EX-06, EX-07, TK-02: content is the slice, spans are in it in order, counts are counts, ids are unique."""
    made = _chunked(text, strategy, limits)
    assert len({c.chunk_id for c in made.chunks}) == len(made.chunks)
    for chunk in made.chunks:
        assert chunk.content.strip()
        assert chunk.tokens == CL100K.count(chunk.content)
        assert chunk.encoder_tokens == CL100K.count(chunk.text)
        if chunk.verbatim:
            assert text[chunk.start_char : chunk.end_char] == chunk.content
        at = 0
        for span in chunk.spans:
            words = text[span.start_char : span.end_char]
            assert words
            at = chunk.content.index(words, at) + len(words)
    starts = [c.start_char for c in made.final if c.role == "source"]
    assert starts == sorted(starts)


@pytest.mark.parametrize("strategy", COMPARISON_STRATEGIES)
@SOME
@given(DOCUMENTS, LIMITS)
def test_comparison_strategies_cover_the_text(strategy: str, text: str, limits: dict[str, int]) -> None:
    """ST-01 to ST-10: all words are in some piece, save rules, and headings where the trail names them."""
    made = _chunked(text, strategy, limits)
    covered = bytearray(len(text))
    for span in (span for chunk in made.chunks for span in chunk.spans):
        covered[span.start_char : span.end_char] = b"\1" * (span.end_char - span.start_char)
    for element in made.elements:
        if element.kind == "rule" or (element.kind == "heading" and strategy in IN_THE_TRAIL):
            covered[element.start_char : element.end_char] = b"\1" * (element.end_char - element.start_char)
    missed = [place for place, done in enumerate(covered) if not done and not text[place].isspace()]
    assert [text[place] for place in missed if text[place] != "\ufeff"] == []


@pytest.mark.parametrize("strategy", ["noop", *BOUNDED])
@SOME
@given(DOCUMENTS, LIMITS)
def test_finals_tile_their_coarse_chunks(strategy: str, text: str, limits: dict[str, int]) -> None:
    """CB-01, SD-13: elements are in source chunks once and in order; finals concatenate to their coarse chunk."""
    made = _chunked(text, strategy, limits)
    held = [i for c in made.coarse if c.role == "source" for i in c.element_indexes]
    assert held == [e.element_index for e in made.elements if e.kind != "rule"]
    parts: dict[str, list[str]] = {}
    for final in made.final:
        parts.setdefault(final.coarse_id, []).append(final.content)
    assert {i: "".join(p) for i, p in parts.items()} == {c.coarse_id: c.content for c in made.coarse}


@pytest.mark.parametrize("strategy", BOUNDED)
@SOME
@given(DOCUMENTS, LIMITS)
def test_where_cuts_fall(strategy: str, text: str, limits: dict[str, int]) -> None:
    """TK-03, EL-06, S2-02: no grapheme and no protected block is parted, unless it alone exceeds the hard maximum."""
    made = _chunked(text, strategy, limits)
    hard = limits["hard_max_tokens"]
    coarse = {c.coarse_id: c for c in made.coarse}
    for final in made.final:
        whole = coarse[final.coarse_id]
        if final.role == "derived" or final.coarse_end == len(whole.content):
            continue
        place = final.coarse_end
        boundaries = [0, *(m.end() for m in regex.finditer(r"\X", whole.content))]
        if place not in boundaries:
            at = bisect_right(boundaries, place)
            assert CL100K.count(whole.content[boundaries[at - 1] : boundaries[at]]) > hard
            assert final.cut_reason == "token_safe_residue"
        for block in _lines_of_blocks(whole, place):
            assert CL100K.count(block) > hard
    for final in made.final:
        if final.role == "source" and final.kinds != ("front_matter",) and final.tokens > hard:
            words = final.content.strip()
            fewest = min(CL100K.count(words), CL100K.count(final.content.rstrip()))
            assert len(words) == 1 or (final.oversized_reason == "separators" and fewest <= hard)


def _lines_of_blocks(chunk: CoarseChunk, place: int) -> list[str]:
    """Protected blocks that a cut parts, each with the rest of its lines and the blanks after them."""
    found: list[str] = []
    for block in chunk.protected:
        if block.start_char < place < block.end_char:
            before = regex.search(r"[^\r\n]*\Z", chunk.content[: block.start_char])
            after = regex.match(r"[^\r\n]*\s*", chunk.content[block.end_char :])
            assert before is not None and after is not None
            found.append(before.group() + chunk.content[block.start_char : block.end_char] + after.group())
    return found


@pytest.mark.parametrize("strategy", ["noop", *BOUNDED])
@SOME
@given(DOCUMENTS, LIMITS, st.sampled_from(["And more words.", "Noch ein Absatz", "最后一段。"]))
def test_an_appended_paragraph_changes_the_end_alone(
    strategy: str, text: str, limits: dict[str, int], more: str
) -> None:
    """EX-06: all but the last two source chunks and their ids stay as they are (headings at the end may move)."""
    before = _chunked(text, strategy, limits)
    after = _chunked(text + "\n\n" + more, strategy, limits)
    sources = [c.coarse_index for c in before.coarse if c.role == "source"]
    stable = sources[-2] if len(sources) > 1 else 0
    assert before.coarse[:stable] == after.coarse[:stable]
    kept = {c.coarse_id for c in before.coarse[:stable]}
    ids = [c.chunk_id for c in before.chunks if c.final_id.split(".")[0] in kept]
    assert set(ids) <= {c.chunk_id for c in after.chunks}
