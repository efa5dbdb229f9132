"""Heading trails of a run of elements (CB-10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.markdown.elements import Element

Trail = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChunkTrails:
    """The trails of a chunk.

    Attributes:
        common: the longest that its elements share.
        each: the distinct ones, in order of first appearance.
    """

    common: Trail
    each: tuple[Trail, ...]


class Trails:
    """Trails of runs of a document's elements.

    Args:
        elements: the document's elements.
        tracked: deepest heading level that leads a trail.
    """

    def __init__(self, elements: Sequence[Element], tracked: int = 5) -> None:
        self._elements = {e.element_index: e for e in elements}
        self._tracked = tracked

    def of_chunk(self, indexes: Sequence[int]) -> ChunkTrails:
        """Trails of the elements `indexes`, in order."""
        members = [self._elements[index] for index in indexes]
        return ChunkTrails(self._common(members), self._each(members))

    def _common(self, members: Sequence[Element]) -> Trail:
        """Longest common prefix of the trails of the elements other than headings; of the headings where all are.

        Headings are told apart by place: equal titles at different places are different.
        """
        bodies = [e for e in members if e.kind != "heading"] or list(members)
        if not bodies:
            return ()
        first = bodies[0]
        length = self._length(first)
        for element in bodies[1:]:
            shared = 0
            others = element.trail_indexes[: self._length(element)]
            for mine, theirs in zip(first.trail_indexes[:length], others, strict=False):
                if mine != theirs:
                    break
                shared += 1
            length = shared
        return first.heading_trail[:length]

    def _each(self, members: Sequence[Element]) -> tuple[Trail, ...]:
        seen: dict[tuple[int, ...], Trail] = {}
        for element in members:
            length = self._length(element)
            if length:
                seen.setdefault(element.trail_indexes[:length], element.heading_trail[:length])
        return tuple(seen.values())

    def _length(self, element: Element) -> int:
        """How much of an element's trail counts: an untracked heading's own title does not (CB-04)."""
        own = element.level is not None and element.level > self._tracked
        return len(element.trail_indexes) - own
