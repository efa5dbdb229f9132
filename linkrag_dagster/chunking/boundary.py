"""Stage one: which headings end a coarse chunk (CB-01 to CB-09)."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.markdown.elements import Element

TRACKED_LEVELS = 5
"""Headings of level 6 are ordinary content but for the floor (CB-04)."""


def flushes(incoming: int, last: int, leaf: int, buffer_tokens: int, floor: int, headings_only: bool) -> bool:
    """Whether a heading ends the chunk before it.

    | buffer | incoming heading | decision | rule |
    | --- | --- | --- | --- |
    | headings only | any | keep | CB-08 |
    | at or above the floor | any, level 6 too | end | CB-06 |
    | below the floor | level 6 | keep | CB-04 |
    | below the floor | deeper than the last | keep | CB-07 |
    | below the floor | shallower than the last | end | CB-07 |
    | below the floor | as deep, the leaf level | keep | CB-07 |
    | below the floor | as deep, above the leaf level | end | CB-07 |

    Args:
        incoming: level of the heading, 1 to 6.
        last: level of the last tracked heading in the buffer; 0 where there is none.
        leaf: deepest tracked level of the document (CB-05); 0 where there is none.
        buffer_tokens: tokens of the buffer's elements, each by its own source.
        floor: `min_candidate_tokens`.
        headings_only: whether the buffer holds nothing but headings, or nothing.
    """
    if headings_only:
        return False
    if buffer_tokens >= floor:
        return True
    if incoming > TRACKED_LEVELS or incoming > last:
        return False
    return incoming < last or incoming != leaf


def group_elements(elements: Sequence[Element], tokens: Sequence[int], floor: int) -> list[list[int]]:
    """Groups of element indexes, one a coarse chunk, in order; thematic breaks belong to none (CB-01).

    Args:
        elements: the document's elements.
        tokens: tokens of each one's own source.
        floor: `min_candidate_tokens`.
    """
    leaf = max((e.level for e in elements if e.level is not None and e.level <= TRACKED_LEVELS), default=0)
    groups: list[list[int]] = []
    buffer: list[int] = []
    spent = last = 0
    headings_only = True

    def flush() -> None:
        nonlocal buffer, spent, last, headings_only
        if buffer:
            groups.append(buffer)
        buffer, spent, last, headings_only = [], 0, 0, True

    for element in elements:
        if element.kind == "rule":
            continue
        if element.kind == "front_matter":
            flush()
            groups.append([element.element_index])
            continue
        if element.level is not None and flushes(element.level, last, leaf, spent, floor, headings_only):
            flush()
        buffer.append(element.element_index)
        spent += tokens[element.element_index]
        if element.level is None:
            headings_only = False
        elif element.level <= TRACKED_LEVELS:
            last = element.level
    body = [group for group in groups if elements[group[0]].kind != "front_matter"]
    if buffer and headings_only and body:
        # Headings left alone at the end join the body before them, whatever its size (CB-09).
        body[-1].extend(buffer)
    else:
        flush()
    return groups
