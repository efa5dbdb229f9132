"""Elements of a plain text: its paragraphs, and nothing read into them."""

from __future__ import annotations

import re

from linkrag_dagster.markdown.elements import Element

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


def parse_plain(text: str) -> list[Element]:
    """The paragraphs of a plain text, in order; a `#`, a `>` or four spaces mean nothing here.

    Paragraphs are runs of lines that hold more than white space. As in Markdown (EL-03) an element goes from
    the start of its first line to before its last line break, what lies between two elements is white space
    only, and a line break is LF, CR LF or CR. Offsets are code points of `text`, which may be any string;
    linear time.
    """
    starts = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]
    breaks = [*(match.start() for match in _LINE_BREAK.finditer(text)), len(text)]
    # A byte order mark is no content and belongs to no element (EL-02).
    starts[0] = 1 if text.startswith("\ufeff") else 0
    elements: list[Element] = []
    first: int | None = None
    for line in range(len(starts) + 1):
        blank = line == len(starts) or not text[starts[line] : breaks[line]].strip()
        if not blank and first is None:
            first = line
        elif blank and first is not None:
            elements.append(
                Element(len(elements), "paragraph", None, starts[first], breaks[line - 1], first + 1, line)
            )
            first = None
    return elements
