"""ST-07: the six of seed 000's ablation."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.chunking import Span
from tests.chunking.strategies.support import chunks, pieces

TEXT = "# Doc\n\n## One\n\n" + "First words here. " * 40 + "\n\n## Two\n\n" + "Second words there. " * 40


def test_same_cuts_with_and_without_header_and_copy() -> None:
    """ST-07: B has A's own words, D, E and F have C's; only header and copy differ."""
    own = {n: [(p.start_char, p.end_char) for p in pieces(f"ablation_{n}", TEXT)] for n in "abcdef"}
    assert own["a"] == own["b"] != own["c"] == own["d"] == own["e"] == own["f"]
    assert [e - s for s, e in own["a"][:-1]] == [512] * (len(own["a"]) - 1)


def test_headers() -> None:
    """ST-07: E and F have a header, the others none, whatever the settings say."""
    for name in "abcdef":
        for wanted in (True, False):
            _, made, _ = chunks(f"ablation_{name}", TEXT, title="T", header=wanted)
            assert all(bool(c.header) == (name in "ef") for c in made)
    _, made, _ = chunks("ablation_e", TEXT, title="T")
    assert made[0].header == "T > Doc > One"


def test_the_copy_is_the_end_of_the_piece_before() -> None:
    """ST-07: 64 characters of the previous piece's own words, as evidence; as many chunks as without."""
    for bare, copied in (("a", "b"), ("c", "d"), ("e", "f")):
        _, without, _ = chunks(f"ablation_{bare}", TEXT)
        _, made, _ = chunks(f"ablation_{copied}", TEXT)
        assert len(made) == len(without) > 2
        assert made[0].content == without[0].content
        for before, plain, chunk in zip(without[:-1], without[1:], made[1:], strict=True):
            assert chunk.content.startswith(before.content[-64:])
            assert chunk.content.endswith(plain.content)
            assert chunk.start_char == before.end_char - 64
            held = {k for span in chunk.spans for k in range(span.start_char, span.end_char)}
            assert held >= {
                *range(before.end_char - 64, before.end_char),
                *range(plain.start_char, plain.end_char),
            }


def test_a_copy_across_a_heading_keeps_two_spans() -> None:
    """ST-07, CB-17: the heading between them is in neither, so the chunk is not verbatim."""
    text = "## One\n\nfirst\n\n## Two\n\nsecond\n"
    _, made, _ = chunks("ablation_d", text, overlap=3)
    assert made[1].content == "rst\n\nsecond"
    assert not made[1].verbatim
    assert made[1].spans == (Span(10, 13), Span(23, 29))


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(1, 50), st.integers(0, 60))
def test_any_text(text: str, size: int, overlap: int) -> None:
    """ST-07: chunks of any text keep the contract; the same number with and without a copy."""
    sizes: dict[str, Any] = {"size": size, "overlap": min(overlap, size - 1)}
    for bare, copied in (("a", "b"), ("c", "d")):
        assert len(chunks(f"ablation_{bare}", text, **sizes)[1]) == len(
            chunks(f"ablation_{copied}", text, **sizes)[1]
        )
