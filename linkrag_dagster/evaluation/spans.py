"""Sets of code points as sorted, disjoint, half-open spans."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Spans = Sequence[tuple[int, int]]


def union(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted and disjoint; touching spans become one, empty ones vanish."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def intersection(left: Spans, right: Spans) -> list[tuple[int, int]]:
    """What both hold; both sorted and disjoint, as `union` returns them."""
    common: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            common.append((start, end))
        if left[i][1] <= right[j][1]:
            i += 1
        else:
            j += 1
    return common


def difference(left: Spans, right: Spans) -> list[tuple[int, int]]:
    """What `left` alone holds; both sorted and disjoint, as `union` returns them."""
    rest: list[tuple[int, int]] = []
    j = 0
    for start, end in left:
        while j < len(right) and right[j][1] <= start:
            j += 1
        at = j
        while at < len(right) and right[at][0] < end:
            if start < right[at][0]:
                rest.append((start, right[at][0]))
            start = max(start, right[at][1])
            at += 1
        if start < end:
            rest.append((start, end))
    return rest


def holds(spans: Spans, start: int, end: int) -> bool:
    """Whether one of the spans, sorted and disjoint, holds `[start, end)` whole: one missing character fails."""
    place = bisect_right(spans, start, key=lambda span: span[0]) - 1
    return place >= 0 and end <= spans[place][1]
