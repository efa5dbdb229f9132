"""Kinds, places and trails of elements (EL-02 to EL-04)."""

from __future__ import annotations

import sys

import pytest

from linkrag_dagster.markdown import Element, MarkdownError, parse


def blocks(text: str) -> list[tuple[str, str]]:
    """Kind and source of every element."""
    return [(element.kind, text[element.start_char : element.end_char]) for element in parse(text)]


def headings(text: str) -> list[Element]:
    return [element for element in parse(text) if element.kind == "heading"]


def test_every_kind_with_its_exact_source() -> None:
    """EL-02, EL-03: thirteen kinds; the source runs from the first line's start to before the last line break."""
    text = (
        "---\ntitle: T\n---\n\n# One\n\nTwo\n---\n\n Text and\nmore.\n\n- a\n- b\n\n> q\nlazy\n\n"
        "~~~py\nx\n~~~\n\n    indented\n\n$$\ny\n$$\n\n| a |\n|---|\n| b |\n\n  ![alt](x.png)  \n\n"
        "<div>\nz\n</div>\n\n[^n]: note\n    more\n\n[d]: /u\n\n***\n"
    )
    assert blocks(text) == [
        ("front_matter", "---\ntitle: T\n---"),
        ("heading", "# One"),
        ("heading", "Two\n---"),
        ("paragraph", " Text and\nmore."),
        ("list", "- a\n- b"),
        ("blockquote", "> q\nlazy"),
        ("code", "~~~py\nx\n~~~"),
        ("code", "    indented"),
        ("math", "$$\ny\n$$"),
        ("table", "| a |\n|---|\n| b |"),
        ("image", "  ![alt](x.png)  "),
        ("html", "<div>\nz\n</div>"),
        ("footnote", "[^n]: note\n    more"),
        ("definition", "[d]: /u"),
        ("rule", "***"),
    ]


@pytest.mark.parametrize(
    "text", ["`#` and **b**", "a $x$ b", "<b>inline</b> html", "[link](/u)", "see ![i](u) here"]
)
def test_inline_syntax_forms_no_element(text: str) -> None:
    """EL-02: inline code, links, emphasis, math, HTML and images in text are part of their paragraph."""
    assert blocks(text) == [("paragraph", text)]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# x\n```",
        "~~~\n# x",
        "````\n```\n# x\n````",
        "<!--\n\n# x\n-->",
        "<pre>\n\n# x\n</pre>",
        "<div>\n# x\n</div>",
        "$$\na\n\n# x\n$$",
        "\\[\n# x\n\\]",
        "    # x",
        "> # x",
        "- # x",
        "[^n]: a\n\n    # x",
        "#x",
        "####### x",
        "\\# x",
    ],
)
def test_no_heading_inside_other_blocks(text: str) -> None:
    """EL-04: what looks like a heading inside code, HTML, math, a list or a quote is none."""
    assert headings(text + "\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$$ a $$\ntext", ["math", "paragraph"]),
        ("$$ a $$ (2.1)", ["math"]),
        ("$$\na\n$$, {#eq:one}\n", ["math"]),
        ("\\[ a \\]\n", ["math"]),
        ("\\[\na \\\\[2pt]\n\\\\]\n\\].\n", ["math"]),
        ("text\n$$\na\n$$\nmore", ["paragraph", "math", "paragraph"]),
        ("$$ a $$ is text", ["paragraph"]),
        ("\\[not a link\\](/u)", ["paragraph"]),
        ("$$$\na\n$$$", ["paragraph"]),
        ("$$\nnever closed\n\n# H", ["paragraph", "heading"]),
        ("$$$$", ["paragraph"]),
        ("- $$\n  a\n\n# H\n$$", ["list", "heading", "paragraph"]),
        ("- a\n$$\nb\n$$", ["list", "math"]),
    ],
)
def test_math_blocks(text: str, expected: list[str]) -> None:
    """EL-02: a formula opens at a line's start and closes at one's end, a stop and a number may follow; else text."""
    assert [kind for kind, _ in blocks(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a]: /x\n[b]: /y\ntext", ["[a]: /x", "[b]: /y", "text"]),
        ("[a]:\n  /x\n  'title\n  more'\n", ["[a]:\n  /x\n  'title\n  more'"]),
        ("[a]: /x 'no\nend", ["[a]: /x 'no\nend"]),
        ("[a\\]b]: /x\n[c]: <d e>\n===", ["[a\\]b]: /x", "[c]: <d e>", "==="]),
        ("[a]: javascript:x", ["[a]: javascript:x"]),
        ("text\n[a]: /x", ["text\n[a]: /x"]),
    ],
)
def test_definitions_have_exact_lines(text: str, expected: list[str]) -> None:
    """EL-02: each link reference definition is an element of its own lines."""
    assert [source for _, source in blocks(text)] == expected
    kinds = {kind for kind, source in blocks(text) if source.startswith("[") and "no\n" not in source}
    assert kinds <= {"definition"}


def test_footnotes_hold_what_is_indented_below_them() -> None:
    """EL-02: a footnote takes its indented blocks and lazy lines, and ends at the next footnote or plain text."""
    assert blocks("[^1]: a\n    b\n\n    c\n[^2]: d\nlazy\n\ntext\n[^3]: e") == [
        ("footnote", "[^1]: a\n    b\n\n    c"),
        ("footnote", "[^2]: d\nlazy"),
        ("paragraph", "text"),
        ("footnote", "[^3]: e"),
    ]


def test_trails_follow_levels_and_stop_at_five() -> None:
    """EL-03, CB-04: a trail ends with its own heading; level 6 leads nobody's; equal titles stay apart (CB-10)."""
    text = "p\n\n# A\n\n### N\n\nx\n\n###### six\n\ny\n\n## M\n\n# B\n\n### N\n\n##### five\n\nz\n"
    assert [(e.title, e.heading_trail, e.trail_indexes) for e in parse(text)] == [
        (None, (), ()),
        ("A", ("A",), (1,)),
        ("N", ("A", "N"), (1, 2)),
        (None, ("A", "N"), (1, 2)),
        ("six", ("A", "N", "six"), (1, 2, 4)),
        (None, ("A", "N"), (1, 2)),
        ("M", ("A", "M"), (1, 6)),
        ("B", ("B",), (7,)),
        ("N", ("B", "N"), (7, 8)),
        ("five", ("B", "N", "five"), (7, 8, 9)),
        (None, ("B", "N", "five"), (7, 8, 9)),
    ]


def test_ids_of_images_and_tables_count_in_document_order() -> None:
    """EL-05: images and tables are numbered apart; tables have no description of their own."""
    text = "![a](1)\n![](2)\n\n|a|\n|-|\n\n> ![n](3)\n\n![c](4)\n\n|b|\n|-|\n"
    found = [(e.element_id, e.description) for e in parse(text) if e.kind in ("image", "table")]
    assert found == [
        ("image_001", "a"),
        ("image_002", None),
        ("table_001", None),
        ("image_003", "c"),
        ("table_002", None),
    ]


@pytest.mark.parametrize("text", ["", "\ufeff", " \t\n\r\n", "\u00a0\n\n\u3000\x0b\x0c", "    \u00a0\n"])
def test_white_space_alone_has_no_elements(text: str) -> None:
    """EL-03: neither nothing nor any white space is an element."""
    assert parse(text) == []


def test_line_breaks_control_characters_and_marks_keep_their_places() -> None:
    """EL-04: offsets are of the text as it is: byte order mark, CR LF, CR, NUL, lone surrogates, tabs, NBSP."""
    text = "\ufeff# A\x00\r\n\r\n\tcode\r\r- b\ud83d\r\n\r\n  ```\r\n  c\u00a0\r\n  ```\r\nU\u2028V\x85W\r\n==\r\n"
    elements = parse(text)
    assert blocks(text) == [
        ("heading", "# A\x00"),
        ("code", "\tcode"),
        ("list", "- b\ud83d\r\n\r\n  ```\r\n  c\u00a0\r\n  ```"),
        ("heading", "U\u2028V\x85W\r\n=="),
    ]
    assert [(e.start_line, e.end_line) for e in elements] == [(1, 1), (3, 3), (5, 9), (10, 11)]
    (fence,) = elements[2].protected
    assert text[fence.start_char : fence.end_char] == "```\r\n  c\u00a0\r\n  ```"
    assert elements[0].title == "A"


@pytest.mark.parametrize(
    "text", ["- " * 10_000 + "x", ">" * 10_000 + " x", "1. " * 10_000 + "x", "> - " * 5_000 + "x"]
)
def test_ten_thousand_containers_on_one_line(text: str) -> None:
    """EL-04: nesting beyond what is told apart stays in its block; what follows is not swallowed."""
    elements = parse(text + "\n\n# After\n")
    assert [e.kind for e in elements][1:] == ["heading"]
    assert elements[0].end_char == len(text)


def test_items_indented_ever_deeper() -> None:
    """EL-04: a thousand nested items are one list, and its fences stay protected however deep."""
    text = (
        "".join("  " * depth + "- x\n" for depth in range(1_000))
        + "  " * 1_000
        + "```\n"
        + "  " * 1_000
        + "```\n"
    )
    (items, after) = parse(text + "\nAfter\n")
    assert (items.kind, after.kind, items.end_line) == ("list", "paragraph", 1_002)
    assert [(r.kind, text[r.start_char : r.start_char + 3]) for r in items.protected] == [("code", "```")]


def test_no_room_on_the_stack_is_a_named_error() -> None:
    """EL-04: a caller deep in its own recursion gets `MarkdownError`, with what to do."""

    def down(levels: int) -> list[Element]:
        return parse("- " * 30 + "x") if levels == 0 else down(levels - 1)

    depth = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    with pytest.raises(MarkdownError, match="flatten"):
        down(sys.getrecursionlimit() - depth - 60)
