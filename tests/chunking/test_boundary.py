"""The boundary rule and the walk, without a parser."""

from __future__ import annotations

import itertools

import pytest

from linkrag_dagster.chunking.boundary import flushes, partition
from linkrag_dagster.markdown.elements import Element


@pytest.mark.parametrize(
    ("incoming", "last", "leaf", "tokens", "headings_only", "flush"),
    [
        pytest.param(1, 3, 3, 500, True, False, id="CB-08: headings only are kept"),
        pytest.param(6, 2, 3, 500, True, False, id="CB-08: before a level 6 too"),
        pytest.param(3, 2, 3, 128, False, True, id="CB-06: the floor is reached"),
        pytest.param(6, 2, 3, 128, False, True, id="CB-06: a level 6 flushes by the floor"),
        pytest.param(6, 2, 3, 127, False, False, id="CB-04: and by nothing else"),
        pytest.param(3, 2, 3, 127, False, False, id="CB-07: deeper"),
        pytest.param(1, 0, 2, 127, False, False, id="CB-07: a preamble counts as level 0"),
        pytest.param(2, 3, 3, 127, False, True, id="CB-07: shallower"),
        pytest.param(3, 3, 3, 127, False, False, id="CB-07: siblings at the leaf level"),
        pytest.param(3, 3, 4, 127, False, True, id="CB-07: siblings above it"),
    ],
)
def test_truth_table(
    incoming: int, last: int, leaf: int, tokens: int, headings_only: bool, flush: bool
) -> None:
    """CB-04 to CB-08: every line of the table."""
    assert flushes(incoming, last, leaf, tokens, headings_only, floor=128) is flush


def test_more_tokens_never_keep() -> None:
    """CB-06: whatever the levels, a buffer that is flushed stays flushed when it grows."""
    for incoming, last, leaf in itertools.product(range(1, 7), range(6), range(6)):
        small = flushes(incoming, last, leaf, 1, False, floor=128)
        assert flushes(incoming, last, leaf, 128, False, floor=128) >= small


def _document(*kinds: str | int) -> list[Element]:
    """Elements of these kinds; a number is a heading of that level."""
    return [
        Element(i, "heading", kind, i, i + 1, i + 1, i + 1)
        if isinstance(kind, int)
        else Element(i, kind, None, i, i + 1, i + 1, i + 1)
        for i, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize(
    ("kinds", "tokens", "groups"),
    [
        pytest.param(
            (2, "paragraph", 3, "paragraph", 3, "paragraph", 2, "paragraph"),
            1,
            [[0, 1, 2, 3, 4, 5], [6, 7]],
            id="worked example",
        ),
        pytest.param(
            (2, 3, "paragraph", 3, "paragraph"), 128, [[0, 1, 2], [3, 4]], id="A.1 alone reaches the floor"
        ),
        pytest.param(
            ("rule", "paragraph", "rule", "paragraph"), 1, [[1, 3]], id="CB-01: rules belong to none"
        ),
        pytest.param(
            ("front_matter", 1, "paragraph"), 1, [[0], [1, 2]], id="CB-02: front matter stands alone"
        ),
        pytest.param(
            ("paragraph", "list", "table", "code", "image", "math", "blockquote"),
            500,
            [[0, 1, 2, 3, 4, 5, 6]],
            id="CB-03",
        ),
        pytest.param(
            (1, "paragraph", 1, 2), 200, [[0, 1, 2, 3]], id="CB-09: trailing headings join the body"
        ),
        pytest.param(("front_matter", 1, 2), 1, [[0], [1, 2]], id="CB-09: never front matter"),
        pytest.param((1, 2, 6), 500, [[0, 1, 2]], id="CB-09: headings only"),
        pytest.param(("rule",), 1, [], id="nothing visible"),
    ],
)
def test_partition(kinds: tuple[str | int, ...], tokens: int, groups: list[list[int]]) -> None:
    """CB-01 to CB-09: which elements stay together."""
    assert partition(_document(*kinds), [tokens] * len(kinds), floor=128) == groups
