"""Heading trails of chunks (CB-10): what all of a chunk's words stand under, and what each stands under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from linkrag_dagster.markdown.elements import Element

# A title, and the element index of its heading: equal titles at different places are two.
Trail = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ChunkTrails:
    """Trails of one chunk.

    Attributes:
        common: longest common prefix of the trails of its elements other than headings; of its headings, where it
            holds nothing else.
        each: the distinct trails of all its elements, empty ones left out, in order; equal titles at different
            places count as different.
    """

    common: tuple[str, ...]
    each: tuple[tuple[str, ...], ...]


class Trails:
    """Trails within one document.

    Args:
        elements: all its elements.
        tracked: deepest heading level that a trail names (CB-04).
    """

    def __init__(self, elements: Iterable[Element], tracked: int) -> None:
        self._elements: Mapping[int, Element] = {e.element_index: e for e in elements}
        self._untracked = {
            index for index, e in self._elements.items() if e.level is not None and e.level > tracked
        }
        # All elements below one heading share its trail.
        self._known: dict[tuple[tuple[str, ...], tuple[int, ...]], Trail] = {}
        self._alone: dict[Trail, ChunkTrails] = {}

    def of_element(self, element: Element) -> Trail:
        """The tracked headings above an element, and itself if it is one."""
        key = (element.heading_trail, element.trail_indexes)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._tracked_part(element)
        return known

    def _tracked_part(self, element: Element) -> Trail:
        places = element.trail_indexes
        if len(places) != len(element.heading_trail):
            # Another parser's elements may know titles only.
            return tuple((title, -1) for title in element.heading_trail)
        pairs = zip(element.heading_trail, places, strict=True)
        if self._untracked.isdisjoint(places):
            return tuple(pairs)
        return tuple([pair for pair in pairs if pair[1] not in self._untracked])

    def of_chunk(self, element_indexes: Sequence[int]) -> ChunkTrails:
        """Trails of a chunk that holds these elements, at least one."""
        every: dict[Trail, None] = {}
        body: dict[Trail, None] = {}
        before: Element | None = None
        for index in element_indexes:
            element = self._elements[index]
            if (
                before is not None
                and element.heading_trail is before.heading_trail
                and element.trail_indexes is before.trail_indexes
                and (before.kind != "heading" or element.kind == "heading")
            ):
                continue  # the very trail of the element before it, as below one heading
            before = element
            trail = self.of_element(element)
            every[trail] = None
            if element.kind != "heading":
                body[trail] = None
        if len(every) > 1:
            common = _common_prefix(list(body or every))
            return ChunkTrails(_titles(common), tuple([_titles(trail) for trail in every if trail]))
        (only,) = every
        known = self._alone.get(only)
        if known is None:
            titles = _titles(only)
            known = self._alone[only] = ChunkTrails(titles, (titles,) if only else ())
        return known


def _titles(trail: Trail) -> tuple[str, ...]:
    return tuple([title for title, _ in trail])


def _common_prefix(trails: Sequence[Trail]) -> Trail:
    if len(trails) == 1:
        return trails[0]
    # What the first and the last in order share, all between them share.
    first, last = min(trails), max(trails)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]
