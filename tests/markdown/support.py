"""What every parse must hold, whatever the text."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.markdown import Element
from linkrag_dagster.markdown.elements import ELEMENT_KINDS


def assert_tiles(text: str, elements: Sequence[Element]) -> None:
    """EL-03: elements are in order, never overlap, and white space (or the byte order mark) lies between them."""
    at = 1 if text.startswith("\ufeff") else 0
    line = 0
    for index, element in enumerate(elements):
        assert element.element_index == index
        assert element.kind in ELEMENT_KINDS
        assert at <= element.start_char < element.end_char <= len(text)
        between = text[at : element.start_char]
        assert not between.strip(), f"{between!r} before element {index} belongs to none"
        assert line <= element.start_line <= element.end_line
        broken = text[: element.start_char].replace("\r\n", "\n").replace("\r", "\n")
        inside = text[element.start_char : element.end_char].replace("\r\n", "\n").replace("\r", "\n")
        assert element.start_line == broken.count("\n") + 1
        assert element.end_line == element.start_line + inside.count("\n")
        assert text[element.start_char : element.end_char].strip()
        reached = element.start_char
        for found in element.protected:
            assert reached <= found.start_char < found.end_char <= element.end_char
            reached = found.end_char
        assert (element.level is not None) == (element.title is not None) == (element.kind == "heading")
        assert len(element.heading_trail) == len(element.trail_indexes)
        at, line = element.end_char, element.end_line
    assert not text[at:].strip()
