"""The header of an indexed text: document title and heading trail (EX-02)."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.markdown.elements import Element

JOINT = " > "


def header_parts(title: str, trail: Sequence[str]) -> list[str]:
    """Title and headings, outermost first, each on one line; a first heading equal to the title is not repeated."""
    parts = [" ".join(part.split()) for part in (title, *trail)]
    if len(parts) > 1 and parts[0] == parts[1]:
        del parts[0]
    return [part for part in parts if part]


def header_line(parts: Sequence[str]) -> str:
    """`Title > Section > Sub`."""
    return JOINT.join(parts)


def title_of(elements: Sequence[Element]) -> str:
    """Title of a document without a declared one: its first level-1 heading, else none."""
    for element in elements:
        if element.kind == "heading" and element.level == 1 and element.title:
            return element.title
    return ""
