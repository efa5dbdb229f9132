"""Stage one's rule, `candidate_boundary`: where structure ends a coarse chunk (CB-01 to CB-09)."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.markdown.elements import Element


def flushes(
    incoming_level: int,
    last_level: int,
    leaf_level: int,
    buffer_tokens: int,
    headings_only: bool,
    *,
    floor: int,
    tracked: int = 5,
) -> bool:
    """Whether a heading ends the buffer before it (True: flush; False: keep). The first line that fits decides.

    | # | rule  | headings only | buffer tokens | incoming level | against the last tracked level | result |
    | - | ----- | ------------- | ------------- | -------------- | ------------------------------ | ------ |
    | 1 | CB-08 | yes           | any           | any            | any                            | keep   |
    | 2 | CB-06 | no            | >= floor      | any            | any                            | flush  |
    | 3 | CB-04 | no            | < floor       | > tracked      | any                            | keep   |
    | 4 | CB-07 | no            | < floor       | <= tracked     | deeper                         | keep   |
    | 5 | CB-07 | no            | < floor       | <= tracked     | shallower                      | flush  |
    | 6 | CB-07 | no            | < floor       | <= tracked     | same, and both the leaf level  | keep   |
    | 7 | CB-07 | no            | < floor       | <= tracked     | same, above the leaf level     | flush  |

    Args:
        incoming_level: level of the heading, 1 to 6.
        last_level: level of the last tracked heading in the buffer; 0 if there is none (preamble).
        leaf_level: deepest tracked level of the document (CB-05).
        buffer_tokens: sum over the buffer's elements of the tokens of each one's own source.
        headings_only: whether the buffer holds nothing but headings; an empty one does.
        floor: `min_candidate_tokens`.
        tracked: `max_tracked_heading_level`.
    """
    if headings_only:
        return False
    if buffer_tokens >= floor:
        return True
    if incoming_level > tracked or incoming_level > last_level:
        return False
    return incoming_level < last_level or incoming_level != leaf_level


def leaf_level(elements: Sequence[Element], tracked: int) -> int:
    """The deepest tracked heading level of a document; 0 if it has none (CB-05)."""
    return max((e.level for e in elements if e.level is not None and e.level <= tracked), default=0)


def partition(
    elements: Sequence[Element], tokens: Sequence[int], *, floor: int, tracked: int = 5
) -> list[list[int]]:
    """Positions of the elements of each source chunk, in order; rules belong to none (CB-01).

    Args:
        elements: all elements of a document.
        tokens: tokens of each one's own source.
        floor: `min_candidate_tokens`.
        tracked: `max_tracked_heading_level`.
    """
    leaf = leaf_level(elements, tracked)
    groups: list[list[int]] = []
    buffer: list[int] = []
    size, last, headings_only = 0, 0, True
    for position, element in enumerate(elements):
        if element.kind == "rule":
            continue
        own_chunk = element.kind == "front_matter"  # CB-02
        level = element.level if element.kind == "heading" else None
        if buffer and (
            own_chunk
            or (
                level is not None
                and flushes(level, last, leaf, size, headings_only, floor=floor, tracked=tracked)
            )
        ):
            groups.append(buffer)
            buffer = []
            size, last, headings_only = 0, 0, True
        if own_chunk:
            groups.append([position])
            continue
        buffer.append(position)
        size += tokens[position]
        if level is None:
            headings_only = False
        elif level <= tracked:
            last = level
    if buffer and headings_only and groups and elements[groups[-1][0]].kind != "front_matter":
        groups[-1].extend(buffer)  # CB-09
    elif buffer:
        groups.append(buffer)
    return groups
