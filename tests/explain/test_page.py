"""The page: complete, true to the records, and harmless whatever the document holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.choices.strategies import STRATEGIES
from linkrag_dagster.explain import page
from tests.explain.documents import MIXED, TWO_TOPICS, chunked
from tests.explain.pages import read_page

HOSTILE = (
    "# <script>alert(1)</script> \u202etfel\n\n"
    "</style></title><script src='//evil'></script><img src=x onerror=alert(1)> harbour &amp; &#60; \" '\n\n"
    "NUL \x00 ESC \x1b[31m, lone \ud800 and \udfff, \u2066isolate, zero\u200bwidth, \ufeffbom, \U000e0041tag, kitchen\n"
)
ALLOWED_TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "h1", "h2", "h3", "p", "dl", "dt", "dd", "div",
    "span", "section", "b", "bdi", "i", "a", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "svg", "line",
    "rect", "circle", "path", "text",
}  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("text", [TWO_TOPICS, MIXED, HOSTILE, ""])
def test_every_chunk_cut_and_gap_is_there_with_the_offsets_of_its_record(strategy: str, text: str) -> None:
    """SD-16, EX-01: what the page says of places and tokens is what the records say, and its words are theirs."""
    made, limits = chunked(text, strategy)
    found = read_page(page(made, text, name="log.md", limits=limits))
    assert found.closed()
    shown = {p.attributes["id"]: p.attributes for p in found.chunks}
    for chunk in made.chunks:
        attributes = shown.pop(f"chunk-{chunk.ordinal}")
        assert (int(attributes["data-start"]), int(attributes["data-end"])) == (
            chunk.start_char,
            chunk.end_char,
        )
        assert int(attributes["data-tokens"]) == chunk.tokens
        assert attributes["data-role"] == chunk.role
        parts = found.parts[f"chunk-{chunk.ordinal}"]
        assert parts.get("core", "") == chunk.content
        if chunk.verbatim:
            assert parts.get("core", "") == text[chunk.start_char : chunk.end_char]
        assert parts.get("header", "") == chunk.header
    assert not shown
    ends = [c.end_char for c in made.chunks if c.role == "source"][:-1]
    assert [int(c.attributes["data-position"]) for c in found.cuts] == ends
    assert all(c.words.strip() for c in found.cuts)
    anchored = {a for a in found.anchors if a.startswith(("gap-", "cut-"))}
    assert len(found.anchors) == len(set(found.anchors))
    assert {link[1:] for link in found.links} <= set(found.anchors)
    if strategy in ("pack", "semantic_depth_window", "noop"):
        kept = {f"gap-{g.coarse_id}-{g.gap_index}" for g in made.trace if not g.chosen}
        assert {a for a in anchored if a.startswith("gap-")} == kept


def test_gaps_say_whether_they_are_legal_and_why_not() -> None:
    """SD-08, SD-16: on hover and on focus."""
    made, limits = chunked(TWO_TOPICS)
    drawn = page(made, TWO_TOPICS, limits=limits)
    found = read_page(drawn)
    by_index = {int(g.attributes["id"].rsplit("-", 1)[1]): g.attributes for g in found.gaps}
    for row in made.trace:
        if not row.chosen:
            attributes = by_index[row.gap_index]
            assert attributes["class"].split() == ["gap", "legal" if row.legal else "illegal"]
            assert attributes["data-reason"] == row.reason
            assert attributes["tabindex"] == "0"
    assert "only headings would stand before the cut" in drawn


def test_a_weighed_cut_tells_its_depth_and_what_it_was_weighed_against() -> None:
    """SD-07: deepest of so many; tokens up to the overflow; the valley's peaks."""
    made, limits = chunked(TWO_TOPICS)
    found = read_page(page(made, TWO_TOPICS, limits=limits))
    row = next(r for r in made.trace if r.chosen)
    words = found.cuts[0].words
    assert found.cuts[0].attributes["data-reason"] == "depth"
    assert f"depth {row.depth:.3f}" in words and "deepest of the" in words
    assert f"to {row.cohesion:.3f} and rises again" in words
    assert "the maximum is 90" in words


def test_curves_only_where_something_was_scored() -> None:
    """ST-01: a strategy without scores has cuts and reasons, and no curve."""
    made, limits = chunked(TWO_TOPICS)
    assert 'class="curve"' in page(made, TWO_TOPICS, limits=limits).split("</style>")[1]
    for strategy in ("pack", "fixed", "recursive"):
        made, limits = chunked(TWO_TOPICS, strategy)
        body = _page_of_mixed(max_tokens=40, hard_max_tokens=400)
    for mark in ("oversize", "derived image_001", "derived table_001", "not searched", "rendered"):
        assert f">{mark}</span>" in body
    assert "one protected block, kept whole" in body
    assert ">part 1/" in _page_of_mixed()
    assert ">truncated<" in _page_of_mixed(oversize="truncate")


def _page_of_mixed(**sizes: Any) -> str:
    made, limits = chunked(MIXED, **sizes)
    return page(made, MIXED, limits=limits)


def test_a_heading_that_cuts_is_named() -> None:
    """CB-04 to CB-07: the cut is the document's own."""
    made, limits = chunked(MIXED)
    found = read_page(page(made, MIXED, limits=limits))
    own = [c for c in found.cuts if "own" in c.attributes["class"].split()]
    assert [c.attributes["data-reason"] for c in own] == ["structure", "structure"]
    assert "front matter" in own[0].words
    assert "المطبخ" in own[1].words and "level 2" in own[1].words


def test_hostile_text_stays_text() -> None:
    """No script, no request, no mark that rearranges the page; and it can be encoded."""
    made, limits = chunked(HOSTILE)
    drawn = page(made, HOSTILE, name="</title><script>x</script>\u202e.md", limits=limits)
    drawn.encode("utf-8")
    found = read_page(drawn)
    assert found.tags <= ALLOWED_TAGS
    assert not {
        a for a in found.attributes if a.startswith("on") or a in ("src", "action", "formaction", "srcset")
    }
    assert all(link.startswith("#") for link in found.links)
    assert not set(drawn) & set("\x00\x1b\u202e\u2066\u200b\ufeff\U000e0041\ud800\udfff")
    assert "default-src 'none'" in drawn and "http://" not in drawn.replace("http://www.w3.org/2000/svg", "")


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_can_be_shown_and_read_back(text: str) -> None:
    """Whatever its characters: the page encodes, closes its tags, and gives each chunk's words back."""
    made, limits = chunked(text)
    drawn = page(made, text, name=text, limits=limits)
    found = read_page(drawn.encode("utf-8").decode("utf-8"))
    assert found.closed() and found.tags <= ALLOWED_TAGS
    for chunk in made.chunks:
        assert found.parts[f"chunk-{chunk.ordinal}"].get("core", "") == chunk.content


def test_right_to_left_words_are_set_apart() -> None:
    """Their direction is their own; the page's is not turned."""
    made, limits = chunked(MIXED)
    drawn = page(made, MIXED, limits=limits)
    assert '<html lang="en" dir="ltr">' in drawn
    assert '<div class="block heading" dir="auto">## المطبخ' in drawn


def test_scrolling_parts_can_be_reached_by_keyboard() -> None:
    """A region that scrolls has a name and takes the focus."""
    made, limits = chunked(TWO_TOPICS)
    drawn = page(made, TWO_TOPICS, limits=limits)
    assert drawn.count('class="scroll"') == drawn.count(
        'class="scroll" tabindex="0" role="region" aria-labelledby='
    )
