"""Ranges inside a block that no cut may enter (EL-06)."""

from __future__ import annotations

import pytest

from linkrag_dagster.markdown import parse


def protected(text: str) -> list[tuple[str, str]]:
    """Kind and source of the ranges of the one element of a text."""
    (element,) = parse(text)
    return [(found.kind, text[found.start_char : found.end_char]) for found in element.protected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n\n  ```py\n  x\n  ```\n- b\n", [("code", "```py\n  x\n  ```")]),
        ("- ```\n  x\n  ```\n", [("code", "```\n  x\n  ```")]),
        ("1. a\n\n       indented\n\n       more\n\n2. b", [("code", "indented\n\n       more")]),
        (
            "- a\n  | b | c |\n  |---|---|\n  | d | e |\n- f\n",
            [("table", "| b | c |\n  |---|---|\n  | d | e |")],
        ),
        (
            "- $$ x $$\n- \\[\n  y\n\n  # z\n  \\]\n",
            [("math", "$$ x $$"), ("math", "\\[\n  y\n\n  # z\n  \\]")],
        ),
        ("> ~~~\n> x\n>\n> ~~~\n> text\n", [("code", "~~~\n> x\n>\n> ~~~")]),
        ("> - a\n>   > ```\n>   > x\n>   > ```\n", [("code", "```\n>   > x\n>   > ```")]),
        ("> ```\n> never closed\n>\n", [("code", "```\n> never closed")]),
        ("[^1]: a\n\n    ```\n    x\n    ```\n", [("code", "```\n    x\n    ```")]),
        ("- <div>\n  ```\n  x\n  ```\n  </div>\n", [("code", "```\n  x\n  ```")]),
    ],
)
def test_inside_lists_quotes_and_footnotes(text: str, expected: list[tuple[str, str]]) -> None:
    """EL-06: fences, indented code, tables and formulas, from their own first character to their last line's end."""
    assert protected(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<div>\n```\n# x\n```\n</div>\n", [("code", "```\n# x\n```")]),
        ("<ul>\n      ~~~\nx\n      ~~~\n</ul>", [("code", "~~~\nx\n      ~~~")]),
        ("<div>\n| a | b |\n|---|---|\n| c | d |\n</div>", [("table", "| a | b |\n|---|---|\n| c | d |")]),
        ("<div>\n$$\nx\n$$\n</div>", [("math", "$$\nx\n$$")]),
        ("<!--\n\n```\nx\n\n-->", [("code", "```\nx\n\n-->")]),
        ("<div><pre>\na\n</pre></div>", [("code", "<pre>\na\n</pre>")]),
        (
            "<div>\n<table><tr><td><TABLE></TABLE></td></tr>\n</table> b\n</div>",
            [("table", "<table><tr><td><TABLE></TABLE></td></tr>\n</table>")],
        ),
        ("<pre>\n```\nx\n```\n</pre>\n", [("code", "<pre>\n```\nx\n```\n</pre>")]),
        ("<p>\nplain | pipe\n</p>", []),
    ],
)
def test_inside_html(text: str, expected: list[tuple[str, str]]) -> None:
    """EL-06: inside HTML: Markdown's blocks, and its own `<pre>` and `<table>`; of nested ones the outermost."""
    assert protected(text) == expected


def test_plain_lists_protect_nothing() -> None:
    """EL-06: nested items, paragraphs and headings may be cut."""
    assert protected("- a\n  - b\n\n    c\n\n    # d\n") == []
