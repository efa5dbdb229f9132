"""Where the smallest cuts fall: graphemes, marks on blanks, lone carriage returns (TK-03, EL-06)."""

from __future__ import annotations

import pytest

from linkrag_dagster.chunking import ChunkSet, check_final, chunk_text, coarse_chunks, resolve_settings
from linkrag_dagster.markdown import parse
from linkrag_dagster.tokens import load_tokenizer, sentences
from tests.chunking.scripted import Hashed

CL100K = load_tokenizer("cl100k_base")
FAMILY = "👨‍👩‍👧"
STACK = "e" + "\u0301" * 60


def _limits(least: int, most: int, hard: int) -> dict[str, int]:
    return {"min_candidate_tokens": least, "max_tokens": most, "hard_max_tokens": hard}


def _packed(text: str, limits: dict[str, int], strategy: str = "pack") -> ChunkSet:
    return chunk_text(text, tokenizer=CL100K, settings=limits, strategy=strategy, scorer=Hashed())


@pytest.mark.parametrize("block", ["{}", "```\n{}\n```", "- a\n\n  ```\n  {}\n  ```"])
def test_a_grapheme_between_the_limits_stays_whole(block: str) -> None:
    """TK-03: it is cut above the hard maximum alone."""
    text = block.format((FAMILY + " ") * 12)
    assert 8 < CL100K.count(FAMILY) <= 16
    for final in _packed(text, _limits(1, 8, 16)).final:
        assert final.content.count("👨") == final.content.count("👧")
        assert final.cut_reason != "token_safe_residue"


@pytest.mark.parametrize("strategy", ["pack", "semantic_depth_window"])
def test_what_splits_a_grapheme_says_so(strategy: str) -> None:
    """TK-03: whatever chose the place: no depth hides it; the grapheme's end is none of these places."""
    made = _packed(f"One word.\n\n{STACK}\n\nAnother word.", _limits(1, 10, 20), strategy)
    assert "".join(f.content for f in made.final) == made.coarse[0].content
    inside = [f for f in made.final if not f.content.startswith(("One", "e")) and "\u0301" in f.content]
    assert inside
    at = 0
    for final in made.final:
        at = final.coarse_end
        whole = made.coarse[0].content
        if at < len(whole) and whole[at] == "\u0301":
            assert final.cut_reason == "token_safe_residue"
    assert [f.cut_reason for f in made.final].count("token_safe_residue") == len(inside)


def test_a_derived_table_keeps_graphemes() -> None:
    """CB-13, TK-03: as the budget's hard maximum allows; a larger one says where it is parted."""
    text = f"| a |\n| --- |\n| {(FAMILY + '字') * 6} |\n\n| b |\n| --- |\n| {STACK} |\n"
    made = _packed(text, _limits(1, 8, 20))
    first, second = ([c for c in made.chunks if c.element_id == f"table_{n:03d}"] for n in (1, 2))
    assert all(c.content.count("👨") == c.content.count("👧") for c in first)
    assert "token_safe_residue" not in {c.cut_reason for c in first}
    assert "token_safe_residue" in {c.cut_reason for c in second}


def test_adjacent_context_holds_no_half_grapheme() -> None:
    """CB-14: where not even one grapheme fits there is no context on that side."""
    text = f"{FAMILY}\n\n![a chart](b.png)\n\n{FAMILY}"
    settings = resolve_settings({"adjacent_context_tokens": 3, "tokenizer": "cl100k_base"})
    _, derived = coarse_chunks(parse(text), text, settings, CL100K)
    assert (derived.context_before, derived.context_after) == (None, None)


def test_a_mark_on_a_blank_stays_on_it() -> None:
    """TK-03: neither sentences nor runs of white space end between the two."""
    text = "Words. \u0301 " * 3 + " " * 200 + "\u0301 more words. " * 3
    made = _packed(text, _limits(1, 3, 6))
    assert len(made.final) > 3
    assert not any(f.content.startswith("\u0301") for f in made.final)
    assert sentences("是。\u0301是。") == [(0, 3), (3, 5)]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_blocks_in_lists_whatever_the_line_breaks(line_break: str) -> None:
    """EL-06: only the lines of a nested block are its lines, also where lone carriage returns end them."""
    text = (
        "- intro " + "words " * 40 + "\n\n  | a | b |\n  | --- | --- |\n" + "  | 1 | 2 |\n" * 4 + "\n"
        "- rest " + "words " * 40 + "\n\n  ```python\n" + "  value = 1\n" * 30 + "  ```\n"
    ).replace("\n", line_break)
    limits = _limits(5, 50, 60)
    made = _packed(text, limits)
    table = text[text.index("| a") : text.rindex("| 1 | 2 |") + len("| 1 | 2 |")]
    assert any(table in f.content for f in made.final)
    parts = [f for f in made.final if f.part is not None]
    assert {f.repeated_prefix for f in parts[1:]} == {"  ```python"}
    chosen = resolve_settings({**limits, "tokenizer": "cl100k_base"})
    assert check_final(made.final, made.coarse, text, chosen, CL100K) == []


@pytest.mark.parametrize("most", [2, 3, 5, 8, 13])
def test_white_space_behind_a_full_piece(most: int) -> None:
    """S2-02: no chunk of white space, and none above the limit for its sake."""
    for words in range(1, 40):
        text = "the harbour " * words + "\n"
        for final in _packed(f"{text}next", _limits(1, most, most)).final:
            assert CL100K.count(final.content) <= most
            assert final.content.strip()


@pytest.mark.parametrize("blanks", ["\r\n\r\n\n\n", "\r\r\n\n\n\n", "\r\n" * 40, "\n\r\n" * 9])
@pytest.mark.parametrize("hard", [4, 13])
def test_white_space_is_not_parted_inside_a_line_break(blanks: str, hard: int) -> None:
    """TK-03: CR LF is one grapheme, also where blank lines are cut for their length."""
    made = _packed(f"alpha{blanks}|\n\nc", _limits(1, 3, hard))
    (whole,) = {c.content for c in made.coarse}
    ends = [f.coarse_end for f in made.final][:-1]
    assert ends
    assert not any(whole[place - 1 : place + 1] == "\r\n" for place in ends)
