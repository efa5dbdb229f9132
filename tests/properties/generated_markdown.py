"""Markdown documents as people and programs write them, generated block by block, nested where Markdown nests."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = st.lists(
    st.sampled_from(
        [
            *[
                "the",
                "harbour",
                "office",
                "keeps",
                "a",
                "ledger",
                "of",
                "every",
                "boat",
                "Dr.",
                "Lee,",
                "e.g.",
                "3.14",
                "enters.",
                "Does",
                "it?",
                "Yes!",
            ],
            *["港口", "办公室", "登记。", "船只，", "検索エンジン", "索引を", "ภาษาไทย", "ไม่เว้น", "журнал"],
            *["**bold**", "`code`", "[a](b)", "![a](b)", "<b>", "$a$", "\\*", "&amp;", "a|b", "[x]"],
            *[
                "👍🏽",
                "👨‍👩‍👧",
                "🇩🇪",
                "e\u0301\u0301",
                "क्षे",
                "\u200d",
                "\u00a0",
                "\u3000",
                "\ufeff",
                "\0",
                "\ud83d",
            ],
        ]
    ),
    min_size=1,
    max_size=25,
)


def _atx(level: int, words: str) -> str:
    return "#" * level + " " + words


def _setext(words: str, mark: str) -> str:
    return f"{words}\n{mark}"


def _table(cells: list[str], rows: int) -> str:
    lines = ["| " + " | ".join(cells) + " |", "|" + " --- |" * len(cells)]
    lines += ["| " + " | ".join(f"{cell} {row}" for cell in cells) + " |" for row in range(rows)]
    return "\n".join(lines)


def _fenced(fence: str, info: str, lines: list[str]) -> str:
    return "\n".join([fence + info, *lines, fence])


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _item(mark: str, text: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark))


def _document(front: str, blocks: list[str], between: str, line_break: str) -> str:
    return (front + between.join(blocks)).replace("\n", line_break)


LINE = st.builds(str.join, st.sampled_from([" ", " ", ""]), WORDS)
PARAGRAPHS = st.lists(LINE, min_size=1, max_size=4).map("\n".join)
HEADINGS = st.one_of(
    st.builds(_atx, st.integers(1, 6), LINE), st.builds(_setext, LINE, st.sampled_from(["===", "---"]))
)
CELLS = st.lists(st.sampled_from(["a", "港口", "x\\|y", "", "word and word"]), min_size=1, max_size=7)
TABLES = st.builds(_table, CELLS, st.integers(0, 20))
CODE_LINES = ["x = 1", "# no heading", "", "    y", "- no item", "| a |", "$$"]
CODE = st.builds(
    _fenced,
    st.sampled_from(["```", "~~~", "`````"]),
    st.sampled_from(["", "python", " sh x"]),
    st.lists(st.sampled_from(CODE_LINES), max_size=30),
)
OTHERS = st.sampled_from(
    [
        "$$\na + b\n$$",
        "\\[ c \\]",
        "---",
        "![a chart](b.png)",
        "![](b.png) ![图](c.png)",
        "<div>\n<pre>\nx\n\ny\n</pre>\n</div>",
        "<!-- a comment -->",
        "[x]: http://example.org 'title'",
        "[^1]: a note\n\n    with more",
        "    indented code",
        "\n\n\n",
        "=",
        "Run this:",
        "x" * 200,
        "e" + "\u0301" * 60,
    ]
)
BLOCKS = st.one_of(PARAGRAPHS, PARAGRAPHS, HEADINGS, TABLES, CODE, OTHERS)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    content = st.lists(inner, min_size=1, max_size=3).map("\n\n".join)
    return st.one_of(content.map(_quoted), st.builds(_item, st.sampled_from(["- ", "1. ", "* "]), content))


FRONT_MATTER = st.sampled_from(["", "", "", "---\ntitle: A b\n---\n\n", "+++\ntitle = 'x'\n+++\n", "\ufeff"])
DOCUMENTS = st.builds(
    _document,
    FRONT_MATTER,
    st.lists(st.recursive(BLOCKS, _nested, max_leaves=4), max_size=12),
    st.sampled_from(["\n\n", "\n\n", "\n"]),
    st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]),
)
