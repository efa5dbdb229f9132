"""Stage one end to end: leaf level, what stays verbatim, and what stands between elements."""

from __future__ import annotations

import pytest

from linkrag_dagster.chunking import ChunkSet, chunk_text

SETTINGS = {
    "tokenizer": "cl100k_base",
    "min_candidate_tokens": 40,
    "max_tokens": 200,
    "hard_max_tokens": 400,
    "header": False,
}


def chunked(text: str) -> ChunkSet:
    return chunk_text(text, settings=SETTINGS)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        pytest.param("## A\n\na\n\n## B\n\nb\n", 1, id="level 2 is the leaf: siblings share"),
        pytest.param("## A\n\na\n\n## B\n\nb\n\n### C\n\nc\n", 2, id="a deeper heading far below parts them"),
        pytest.param("## A\n\na\n\n## B\n\nb\n\n###### C\n\nc\n", 1, id="a level 6 is no leaf"),
    ],
)
def test_the_leaf_level_is_the_documents_own(text: str, groups: int) -> None:
    """CB-05, CB-04: the deepest tracked level of the whole document decides, before the walk."""
    sources = [coarse for coarse in chunked(text).coarse if coarse.role == "source"]
    assert len(sources) == groups


MIXED = """# Pump

Before the code.

```python
x = 1  # not a heading
# nor this
```

Between.

$$
E = m c^2
$$

| part | code |
| --- | --- |
| seal | R-17 |

After.
"""


def test_code_math_and_small_tables_stay_verbatim_and_protected() -> None:
    """CB-11, CB-12: the mixed chunk is the source's own slice, its protected ranges recorded."""
    result = chunked(MIXED)
    (source,) = [coarse for coarse in result.coarse if coarse.role == "source"]
    assert source.verbatim
    assert source.content == MIXED[source.start_char : source.end_char]
    kinds = {
        element.kind: MIXED[element.start_char : element.end_char]
        for element in result.elements
        if element.kind in ("code", "math", "table")
    }
    held = [source.content[part.start_char : part.end_char] for part in source.protected]
    assert sorted(held) == sorted(kinds.values())


def test_what_stands_between_elements_is_the_sources_own() -> None:
    """CB-15: blank lines as found between verbatim elements, two line ends beside a rendered one, views aligned."""
    text = "Above.\n\n\n\nBelow the wide gap.\n\n![a crane](crane.png)\n\n\n\nEnd.\n"
    result = chunked(text)
    source = next(coarse for coarse in result.coarse if coarse.role == "source")
    assert "Above.\n\n\n\nBelow the wide gap.\n\n[image: image_001]" in source.content
    assert source.content.endswith("\n\nEnd.")
    elements = {element.element_index: element for element in result.elements}
    for view in source.views:
        element = elements[view.element_index]
        shown = source.content[view.start : view.end]
        if view.rendered:
            assert shown.startswith("[image: image_001]")
        else:
            assert shown == text[element.start_char : element.end_char]


def test_a_dropped_rule_leaves_one_separator() -> None:
    """CB-01, CB-15: a thematic break enters no chunk; what stood on both sides is parted by a blank line."""
    text = "Above.\n\n---\n\nBelow.\n"
    (source,) = chunked(text).coarse
    assert source.content == "Above.\n\nBelow."
    assert [text[span.start_char : span.end_char] for span in source.spans] == ["Above.", "Below."]


def test_the_trail_of_a_chunk_is_what_its_elements_share() -> None:
    """CB-10: a heading at the end of a buffer does not name the body before it."""
    text = "# Memory\n\n## Heap\n\nwords of the heap\n\n## Stack\n\nwords of the stack\n"
    (source,) = [coarse for coarse in chunked(text).coarse if coarse.role == "source"]
    assert source.heading_trail == ("Memory",)
    deeper = chunked("# Memory\n\n## Heap\n\nwords of the heap\n")
    assert deeper.coarse[0].heading_trail == ("Memory", "Heap")
