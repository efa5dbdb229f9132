"""Packing: where cuts fall, what stays together, what is split and how it is told (SD-02 to SD-14)."""

from __future__ import annotations

from typing import Any

import pytest

from linkrag_dagster.chunking import ChunkSet, FinalChunk, chunk_text
from linkrag_dagster.chunking.atoms import Atom
from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.packer import Limits, Packer
from linkrag_dagster.tokens import load_tokenizer

CL100K = load_tokenizer("cl100k_base")
WORDS = "The harbour office keeps a ledger of every boat that enters."


def _pack(text: str, most: int, hard: int | None = None, **options: Any) -> ChunkSet:
    limits = {"min_candidate_tokens": 1, "max_tokens": most, "hard_max_tokens": hard or most}
    return chunk_text(text, tokenizer="cl100k_base", settings={**limits, "header": False, **options})


def _sources(made: ChunkSet) -> list[FinalChunk]:
    return [f for f in made.final if f.role == "source"]


def _packer(*texts: str, limits: Limits, **scores: Any) -> Packer:
    """Atoms of these texts; one that begins with # is a heading."""
    atoms: list[Atom] = []
    at = 0
    for number, text in enumerate(texts):
        heading = text.startswith("#")
        atoms.append(Atom(at, at + len(text), "heading" if heading else "paragraph", number, heading=heading))
        at += len(text)
    content = "".join(texts)
    return Packer(atoms, content, Measure.of(CL100K, content), limits, **scores)


ABCD = [f"{letter}{' word' * 9}\n\n" for letter in "abcd"]
ROOM_FOR_THREE = Limits(1, 36, 36)


def test_without_depth_the_last_legal_gap_is_cut() -> None:
    """SD-07, S2-03: a structural fallback, recorded as one."""
    packer = _packer(*ABCD, limits=ROOM_FOR_THREE)
    segments = packer.segments()
    assert [(s.first, s.last, s.reason) for s in segments] == [(0, 3, "structural"), (3, 4, "end")]
    assert [(g.legal, g.chosen) for g in packer.trace("c0000", segments)] == [
        (True, False),
        (True, False),
        (True, True),
    ]


@pytest.mark.parametrize(
    ("depths", "cut"),
    [
        ([0.9, 0.1, 0.2], 1),
        ([0.2, 0.9, 0.9], 3),
        ([None, 0.1, None], 2),
        ([None, None, None], 3),
    ],
)
def test_tokens_trigger_and_depth_places(depths: list[float | None], cut: int) -> None:
    """SD-07: the deepest legal gap, of equal ones the later; None is no depth, not a zero."""
    first = _packer(*ABCD, limits=ROOM_FOR_THREE, depths=depths).segments()[0]
    assert first.last == cut
    assert first.reason == ("structural" if depths[cut - 1] is None else "depth")


def test_small_segments_join_the_closer_neighbour() -> None:
    """SD-10: below the minimum to the side with the higher cohesion; a tie or no score, to the preceding."""
    limits = Limits(8, 20, 20)
    texts = [f"a{' word' * 11}\n\n", "b\n\n", f"c{' word' * 11}\n\n"]
    depths = [0.5, 0.6]
    after = _packer(*texts, limits=limits, depths=depths, cohesion=[0.1, 0.8]).segments()
    before = _packer(*texts, limits=limits, depths=depths, cohesion=[0.8, 0.1]).segments()
    tie = _packer(*texts, limits=limits, depths=depths).segments()
    assert [s.last for s in before] == [2, 3]
    assert [s.last for s in tie] == [2, 3]
    assert [s.last for s in after] in ([1, 3], [2, 3])


def test_no_chunk_ends_with_a_heading() -> None:
    """SD-08: a gap right after a heading is legal only when nothing else is; one that leaves only headings never."""
    text = "\n\n".join(f"## Section {n}\n\n{WORDS} {WORDS}" for n in range(12))
    for most in (30, 37, 44, 60):
        for chunk in _sources(_pack(text, most)):
            assert not chunk.content.rstrip().splitlines()[-1].startswith("#")


def test_a_paragraph_that_does_not_fit_with_its_heading_is_cut() -> None:
    """SD-08: never the heading alone, never more than the hard maximum."""
    text = f"## A heading of some words\n\n{WORDS} {WORDS} {WORDS}"
    chunks = _sources(_pack(text, 38))
    assert chunks[0].content.startswith("## A heading of some words\n\nThe harbour")
    assert all(c.tokens <= 38 for c in chunks)


def test_a_heading_stays_with_its_block_up_to_the_hard_maximum() -> None:
    """SD-12: `heading_attached`, `protected_single` and `protected_with_context` say why a chunk is longer."""
    code = "```\n" + "\n".join(f"line_{n} = {n}" for n in range(8)) + "\n```"
    attached = _sources(_pack(f"{WORDS * 3}\n\n## Code\n\n{code}\n\n{WORDS * 3}", 40, 80))
    assert [c.oversized_reason for c in attached if "line_3" in c.content] == ["heading_attached"]
    single = _sources(_pack(f"{WORDS}\n\n{code}\n\n{WORDS * 3}", 40, 80))
    assert [c.oversized_reason for c in single if "line_3" in c.content] == ["protected_single"]
    introduced = _sources(_pack(f"{WORDS * 3}\n\nRun this:\n\n{code}\n\n{WORDS * 3}", 40, 80))
    assert [c.oversized_reason for c in introduced if "line_3" in c.content] == ["protected_with_context"]
    assert any(c.content.startswith("Run this:") for c in introduced)


def test_code_above_the_hard_maximum_is_split_by_lines() -> None:
    """SD-11: lossless, whole lines, the fence's opening line repeated in the text, part i/n."""
    code = "```python\n" + "\n".join(f"value_{n} = compute({n})" for n in range(40)) + "\n```"
    made = _pack(f"# Code\n\n{code}\n\nAfter it.", 60)
    parts = [c for c in made.chunks if c.part is not None]
    assert [(c.part, c.parts) for c in parts] == [(n + 1, len(parts)) for n in range(len(parts))]
    assert len(parts) > 3
    assert "".join(c.content for c in parts).strip() == f"# Code\n\n{code}"
    assert all(c.text.startswith("```python\n") for c in parts[1:])
    assert all(c.content.endswith("\n") for c in parts)
    assert all(c.tokens <= 60 for c in parts)


def test_truncation_is_recorded() -> None:
    """SD-11: `oversize: truncate` keeps whole lines and a row that says what is missing."""
    code = "```python\n" + "\n".join(f"value_{n} = compute({n})" for n in range(40)) + "\n```"
    chunk = next(
        c for c in _pack(f"# Code\n\n{code}\n\nAfter it.", 60, oversize="truncate").chunks if c.truncated
    )
    assert chunk.content.startswith("# Code\n\n```python\n")
    assert chunk.content.endswith(")\n")
    assert chunk.tokens <= 60 < (chunk.original_token_count or 0)
    assert chunk.truncated_reason


@pytest.mark.parametrize("indent", ["", "> ", "  "])
def test_white_space_behind_a_truncated_block_is_left_out_with_the_rest(indent: str) -> None:
    """SD-11, S2-02: blank lines that a chunk could not hold do not bring back what was cut away."""
    code = "\n".join(f"value_{n} = compute({n})" for n in range(40))
    block = "\n".join(f"{indent}{line}" for line in f"```python\n{code}\n```".split("\n"))
    text = {"": "", "> ": "> Quoted\n>\n", "  ": "- Item\n\n"}[indent] + block
    made = _pack(f"{text}\n{' ' * 3}\n{chr(10) * 3000}After it.", 60, oversize="truncate")
    chunks = _sources(made)
    assert [c.truncated for c in chunks].count(True) == 1
    assert all(c.tokens <= 60 for c in chunks)
    assert chunks[-1].content == "After it."


def test_nested_blocks_are_not_cut() -> None:
    """EL-06: no cut falls inside a fence of a list item."""
    items = "\n".join(f"- step {n}\n\n  ```\n  one {n}\n  two {n}\n  three {n}\n  ```\n" for n in range(8))
    for most in (40, 55, 70):
        for chunk in _sources(_pack(items, most)):
            assert chunk.content.count("```") % 2 == 0


def test_long_text_is_cut_at_sentences() -> None:
    """SD-02: lines, then sentences, Chinese and Japanese stops included."""
    for sentence in (WORDS, "港口办公室每天清晨登记进港的船只。", "港の事務所は毎朝船を登録する。"):
        chunks = _sources(_pack(" ".join([sentence] * 20), 60))
        assert len(chunks) > 2
        assert all(c.content.rstrip().endswith(sentence[-1]) for c in chunks)
        assert {c.cut_reason for c in chunks[:-1]} == {"sentence"}


def test_groups_of_lines_part_no_sentence() -> None:
    """SD-02: of the ends of lines those are cut that end a sentence or an item, where a piece reaches one."""
    wrapped = (
        "The ledger of the harbour lists\nthe boats that came in at dawn\nand those that left by noon.\n"
    )
    item = "- boats that came in at dawn and\n  stayed in the harbour of the town\n  for a week without a berth\n"
    for text, first in ((wrapped * 30, "The ledger"), (item * 30, "- boats")):
        for most in range(30, 90, 7):
            chunks = _sources(_pack(text, most))
            assert len(chunks) > 2
            assert all(c.content.startswith(first) for c in chunks)


def test_lines_without_stops_are_grouped_as_they_come() -> None:
    """SD-02: no end of a line is better than another; groups stay a fourth of the limit, and fill chunks well."""
    line = "boats that came in at dawn and stayed in the harbour of the town\n"
    sizes = [c.tokens for c in _sources(_pack(line * 60, 80))]
    assert min(sizes[:-1]) > 60


def test_a_long_quotation_is_cut_at_its_stops() -> None:
    """SD-02: a sentence above the limit ends at stops inside its quotes before it is cut between words."""
    for sentence in (
        "港口办公室每天清晨登记进港的船只。",
        "Every morning the harbour office lists the boats. ",
    ):
        spoken = f"他说：“{sentence * 20}”"
        chunks = _sources(_pack(spoken, 60))
        assert len(chunks) > 2
        assert {c.cut_reason for c in chunks[:-1]} == {"sentence"}


def test_noop_promises_no_length() -> None:
    """S2-01: one to one, and it says so."""
    made = chunk_text(WORDS * 50, tokenizer="cl100k_base", strategy="noop", settings={"max_tokens": 30})
    assert [(f.content, f.hard_max_enforced, f.strategy) for f in made.final] == [(WORDS * 50, False, "noop")]
    assert made.trace == ()


def test_only_long_source_chunks_are_refined() -> None:
    """SD-01, SD-16: short chunks, derived ones and front matter leave no trace."""
    front = "---\n" + "\n".join(f"key{n}: value" for n in range(40)) + "\n---\n"
    table = "| a | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 40
    made = _pack(f"{front}\n# T\n\nShort.\n\n{table}", 60)
    assert made.trace == ()
    assert [f.hard_max_enforced for f in made.final] == [False, True, False]
    assert {g.coarse_id for g in _pack(WORDS + "\n\n" + WORDS * 9, 60).trace} == {"c0000"}
