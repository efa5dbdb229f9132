"""What holds for any Markdown: every character has its place, and markdown-it agrees on the blocks."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from linkrag_dagster.markdown import Element, parse
from tests.markdown.support import assert_tiles

COMMONMARK = [
    "a",
    "b",
    "#",
    "##",
    "#######",
    "-",
    "*",
    "+",
    "1.",
    "2)",
    "10.",
    ">",
    "```",
    "~~~",
    "````",
    "|",
    "|---|",
    "--|--",
    "---",
    "===",
    "=",
    "***",
    "___",
    "<div>",
    "</div>",
    "<!--",
    "-->",
    "<b>",
    "<pre>",
    "</pre>",
    "<?",
    "?>",
    "[x]:",
    "[x]:/u",
    "[x]",
    '"t"',
    "'",
    "(",
    "\\",
    "`",
    "![a](b)",
    "![x]",
    "**",
    "word",
    "&amp;",
]
BLANKS = ["\n", "\n", "\n\n", " ", "  ", "    ", "\t"]
OURS = [
    "$$",
    "$$$",
    "\\[",
    "\\]",
    "[^n]:",
    "+++",
    "a: b",
    "\u00a0",
    "\x0b",
    "\0",
    "\ud800",
    "\u2028",
    "\ufeff",
    "中文。",
]
LINES = [
    "- a\n",
    "> q\n",
    "# h\n",
    "text\n",
    "| a | b |\n|---|---|\n",
    "```\n",
    "    code\n",
    "$$\n",
    "---\n",
]


def texts(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=40).map("".join)


def outline(elements: list[Element]) -> list[tuple[object, ...]]:
    return [
        (
            e.kind,
            e.level,
            e.start_line,
            e.end_line,
            e.heading_trail,
            e.element_id,
            e.description,
            len(e.protected),
        )
        for e in elements
    ]


@given(texts([*COMMONMARK, *BLANKS, *OURS, *LINES, "\r", "\r\n"]))
@example("- \n\n-\n\n\n")
@example("</pre>\n\n2) \n\n2) | a |")
def test_elements_tile_any_markdown(text: str) -> None:
    """EL-03: elements in order, never overlapping, white space between; lines and nested ranges in bounds."""
    assert_tiles(text, parse(text))


@given(st.text(st.characters(), max_size=60))
def test_elements_tile_any_text(text: str) -> None:
    """EL-04: any string of code points, lone surrogates and NUL among them."""
    assert_tiles(text, parse(text))


@given(texts([*COMMONMARK, *BLANKS, *OURS, *LINES]), st.sampled_from(["\r\n", "\r"]))
def test_line_breaks_do_not_matter(text: str, line_break: str) -> None:
    """EL-04: CR LF and CR give the same elements at the same lines, with the text's own characters."""
    other = text.replace("\n", line_break)
    before, after = parse(text), parse(other)
    assert outline(before) == outline(after)
    for one, two in zip(before, after, strict=True):
        source = text[one.start_char : one.end_char].replace("\n", line_break)
        assert other[two.start_char : two.end_char] == source


@given(texts([*COMMONMARK, *BLANKS, *OURS, *LINES]))
def test_a_byte_order_mark_moves_everything_by_one(text: str) -> None:
    """EL-02: the mark belongs to no element and hides none."""
    text = text.lstrip("\ufeff")
    before, after = parse(text), parse("\ufeff" + text)
    assert outline(before) == outline(after)
    assert [(e.start_char + 1, e.end_char + 1) for e in before] == [(e.start_char, e.end_char) for e in after]


KINDS = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "blockquote",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "html_block": "html",
    "hr": "rule",
    "definition": "definition",
}


def reference(text: str) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
    """Blocks as markdown-it itself parses them: the top-level ones, and code and tables inside lists and quotes."""
    parser = MarkdownIt("commonmark", {"inline_definitions": True, "maxNesting": 64}).enable("table")
    rows = text.split("\n")
    top: list[tuple[str, int, int]] = []
    nested: list[tuple[str, int, int]] = []
    for token in parser.parse(text):
        if token.type not in KINDS or token.map is None:
            continue
        first, last = token.map[0], min(token.map[1], len(rows)) - 1
        while last > first and not rows[last].strip(" \t>"):
            last -= 1
        (nested if token.level else top).append((KINDS[token.type], first + 1, last + 1))
    return top, [found for found in nested if found[0] in ("code", "table")]


@given(texts([*COMMONMARK, *BLANKS, *LINES[:-2]]).filter(lambda text: not text.startswith(("---", "+++"))))
@example("> a\n    - b\n\n1. c\n   2. d\n> e\n```\nf")
def test_blocks_agree_with_markdown_it(text: str) -> None:
    """EL-01, EL-02: for CommonMark and GFM tables, rules called our way find what markdown-it's own parse finds."""
    elements = parse(text)
    top, nested = reference(text)
    # An image paragraph is one to markdown-it; trailing marks of a quote are blank to neither or both.
    found: list[tuple[str, int, int]] = []
    for element in elements:
        if element.kind == "image":
            if (
                found
                and found[-1][0] == "image"
                and not re.search(r"\n[ \t]*\n", gap(text, elements, element))
            ):
                found[-1] = ("image", found[-1][1], element.end_line)
                continue
            found.append(("image", element.start_line, element.end_line))
        else:
            found.append((element.kind, element.start_line, element.end_line))
    found = [("paragraph" if kind == "image" else kind, first, last) for kind, first, last in found]
    rows = text.split("\n")
    assert [trimmed(rows, one) for one in found] == [trimmed(rows, one) for one in top]
    if "<" not in text:  # markdown-it looks for nothing inside HTML
        starts = [text.count("\n", 0, r.start_char) + 1 for e in elements for r in e.protected]
        assert starts == [first for _, first, _ in nested]


def gap(text: str, elements: list[Element], element: Element) -> str:
    return text[elements[element.element_index - 1].end_char : element.start_char]


def trimmed(rows: list[str], found: tuple[str, int, int]) -> tuple[str, int, int]:
    kind, first, last = found
    while last > first and not rows[last - 1].strip(" \t>"):
        last -= 1
    return kind, first, last
