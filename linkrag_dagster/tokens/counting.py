"""Exact token counts of any slice of one text, which is tokenised once (TK-02)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.tokens.cutting import SLACK, Cut, first_choice, longest_prefix, window_width
from linkrag_dagster.tokens.tokenizer import Tokenizer, well_formed

# Code points encoded at a time: bounds what the tokenizer holds at once.
_BLOCK = 1 << 18
# Slices shorter than this are encoded in one go if any of their words must be: once is cheaper than twice.
_SHORT = 64
# So few slices are quicker counted one by one.
_FEW = 8
# Remainders longer than this (inside one word without an end) are remembered, a few at a time.
_LONG_REMAINDER = 2048
_REMEMBERED = 64


class TokenCounter:
    """Counts tokens of slices of one text: `count(a, b) == tokenizer.count(text[a:b])`, always.

    The text is tokenised once, in blocks. Between positions where counts add up (`Tokenizer.safe_cuts`)
    a count is a difference of prefix sums; what a slice holds outside them is encoded anew, because a
    cut there changes the tokens beside it.

    Args:
        tokenizer: whose tokens are counted.
        text: any text; positions are its code points.
    """

    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        self.tokenizer = tokenizer
        self.text = text
        self._densest = tokenizer.densest
        self._plain = well_formed(text)
        cuts, sums = _prefix_sums(tokenizer, self._plain)
        self._cuts = _array("q", cuts)
        self._sums = _array("q", sums)
        # How many cuts stand at or before each position: looked up far more often than searching would be cheap.
        marks = np.zeros(len(text) + 1, dtype=np.uint8)
        marks[cuts] = 1
        self._ranks = _array("i", np.cumsum(marks, dtype=np.int32))
        self._remainders: dict[tuple[int, int], int] = {}
        self._density = 4.0  # code points a token, as the last prefix had them

    @property
    def total(self) -> int:
        """Tokens of the whole text."""
        return self._sums[-1]

    def count(self, start: int, end: int) -> int:
        """Tokens of `text[start:end]` encoded alone.

        Raises:
            ValueError: not `0 <= start <= end <= len(text)`.
        """
        if not 0 <= start <= end <= len(self._plain):
            raise ValueError(f"no slice [{start}, {end}) in a text of {len(self._plain)} code points")
        ranks, cuts = self._ranks, self._cuts
        first, last = ranks[start], ranks[end] - 1
        if first and cuts[first - 1] == start:
            first -= 1
        if first > last:
            return self._encode(start, end)
        head, tail = cuts[first], cuts[last]
        if end - start <= _SHORT and (start < head or tail < end):
            return self.tokenizer.count(self._plain[start:end])
        total = self._sums[last] - self._sums[first]
        if start < head:
            total += self._encode(start, head)
        if tail < end:
            total += self._encode(tail, end)
        return total

    def count_followed(self, start: int, end: int, words: str) -> int:
        """Tokens of `text[start:end] + words` encoded alone; what stands before the last safe cut is looked up."""
        if not words:
            return self.count(start, end)
        last = self._ranks[end] - 1
        if self._cuts[last] == end:  # safe before what follows in the text, not before other words
            last -= 1
        cut = self._cuts[last] if last >= 0 else start
        if cut <= start:
            return self.tokenizer.count(self._plain[start:end] + words)
        return self.count(start, cut) + self.tokenizer.count(self._plain[cut:end] + words)

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Whether `count(start, end) <= limit`; a short slice is not even counted."""
        return (end - start) * self._densest <= limit or self.count(start, end) <= limit

    def fits_to(self, end: int, limit: int) -> Callable[[int], bool]:
        """`count(start, end) <= limit` as a function of `start`, for many of them.

        What stands at the end is encoded once, and what stands at a start only where it decides.
        """
        last = self._ranks[end] - 1
        most: int | None = None  # tokens from the first safe cut to the last one of a slice that still fits

        def fits(start: int) -> bool:
            nonlocal most
            first = self._cut_from(start)
            if first > last:
                return self.fits(start, end, limit)
            if most is None:  # not before it is needed: within a run without safe cuts it may be very long
                most = limit - self._encode(self._cuts[last], end)
            cut = self._cuts[first]
            left = most - self._sums[last] + self._sums[first]
            return left >= 0 and ((cut - start) * self._densest <= left or self._encode(start, cut) <= left)

        return fits

    def first_above(
        self, start: int, ends: Sequence[int], at: int, limit: int, shift: int = 0, stop: int | None = None
    ) -> int:
        """Index, from `at` on, of the first end for which `text[start:end]` has more than `limit` tokens.

        `stop`, if none has. Most ends need no count: safe cuts before them tell.

        Args:
            start: where the slices begin.
            ends: where they end, ascending.
            at: index of the first of them to look at.
            limit: tokens.
            shift: what to add to each of `ends` for its place in the text.
            stop: index of the first of them not to look at; None for as many as there are.
        """
        stop = len(ends) if stop is None else stop
        head, densest = self._cut_from(start), self._densest
        most: int | None = None  # tokens before the last safe cut of a slice that still fits
        for index in range(at, stop):
            end = ends[index] + shift
            last = self._ranks[end] - 1
            if last < head:
                if self.count(start, end) > limit:
                    return index
                continue
            if most is None:
                most = limit + self._sums[head] - self._encode(start, self._cuts[head])
            known, cut = self._sums[last], self._cuts[last]
            if known > most or (
                known + densest * (end - cut) > most and known + self._encode(cut, end) > most
            ):
                return index
        return stop

    def count_each(self, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
        """`count` of each slice, in order: all lookups at once. Linear for slices that don't overlap.

        Args:
            starts, ends: of the slices, of one length.

        Raises:
            ValueError: as for `count`.
        """
        if len(starts) <= _FEW:
            return [self.count(start, end) for start, end in zip(starts, ends, strict=True)]
        begins, stops = np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)
        for at in np.flatnonzero((begins < 0) | (begins > stops) | (stops > len(self._plain))).tolist():
            self.count(starts[at], ends[at])
        cuts, sums = np.frombuffer(self._cuts, dtype=np.int64), np.frombuffer(self._sums, dtype=np.int64)
        ranks = np.frombuffer(self._ranks, dtype=np.int32)
        first = np.where(cuts[ranks[begins] - 1] == begins, ranks[begins] - 1, ranks[begins])
        last = ranks[stops] - 1
        safe = first <= last
        # A slice without a safe cut is one remainder: all of it stands before the "cut" at its end.
        heads = np.where(safe, cuts[np.minimum(first, len(cuts) - 1)], stops)
        tails = np.where(safe, cuts[last], stops)
        found = np.where(safe, sums[last] - sums[np.minimum(first, len(cuts) - 1)], 0)
        for left, right in ((begins, heads), (tails, stops)):
            ragged = np.flatnonzero(left < right)
            pieces = [
                self._plain[a:b] for a, b in zip(left[ragged].tolist(), right[ragged].tolist(), strict=True)
            ]
            found[ragged] += np.array(self.tokenizer.count_many(pieces), dtype=np.int64)
        return found.tolist()

    def prefix(self, start: int, limit: int, end: int | None = None) -> Cut:
        """The longest good piece of at most `limit` tokens that begins at `start` (TK-03).

        See `cutting.longest_prefix`, which says what a good place is. Cutting a text from its start to
        its end by repeated calls takes linear time.

        Args:
            start: where the piece begins.
            limit: most tokens of the piece, at least 1.
            end: most that the piece may hold; None for the end of the text.

        Raises:
            ValueError: `limit` is below 1, or not `0 <= start < end <= len(text)`.
        """
        stop = len(self._plain) if end is None else end
        if limit < 1:
            raise ValueError(f"a piece needs a limit of at least 1 token, not {limit}")
        if not 0 <= start < stop <= len(self._plain):
            raise ValueError(f"no text in [{start}, {stop}) of {len(self._plain)} code points")
        cut = self._read_off(start, limit, stop)
        if cut is None:
            cut = longest_prefix(self.tokenizer, self._plain, start, stop, limit, self._density, self.count)
        if cut.position < stop:  # a short slice that ends before the limit says little
            self._density = max(0.25, (cut.position - start) / limit)
        return cut

    def _read_off(self, start: int, limit: int, end: int) -> Cut | None:
        """What `longest_prefix` would say, where its first try suffices and the sums know it.

        Between two safe cuts tokens are the same in every slice. So they are those of this one up to its last safe
        cut; if that stands far enough behind the limit, only the last token boundary within the limit is wanting.
        """
        first, last = self._cut_from(start), self._ranks[end] - 1
        head, tail = self._cuts[first], self._cuts[last]
        width = window_width(limit, self._density)
        if first >= last or head - start > width or end - tail > width:
            # Long stretches without safe cuts are not read to their end at every piece (linear time).
            return Cut(end, False) if end - start <= width and self.count(start, end) <= limit else None
        fits = limit + self._sums[first] - self._encode(start, head)
        if self._sums[last] <= fits and self._sums[last] + self._encode(tail, end) <= fits:
            return Cut(end, False)
        if self._sums[last] < fits + SLACK or self._sums[first] >= fits:
            return None
        # The limit falls between these two; behind the last token may stand blanks that are none.
        after = bisect_left(self._sums, fits, first + 1, last)
        boundary = self._cuts[after]
        if self._sums[after] > fits or not self._plain[boundary - 1].isalnum():
            word = self._cuts[after - 1]
            boundary = self._boundary(word, boundary, fits - self._sums[after - 1])
            if (
                boundary == word
            ):  # no token of it fits: where the last one that does ends, the sums don't know
                return None
        place = first_choice(self._plain, start, boundary)
        return None if place is None or self.count(start, place) > limit else Cut(place, False)

    def _cut_from(self, position: int) -> int:
        """The first cut at or after a position."""
        rank = self._ranks[position]
        return rank - 1 if rank and self._cuts[rank - 1] == position else rank

    def _boundary(self, start: int, end: int, tokens: int) -> int:
        """The last token boundary of a slice, at most that many tokens from its start."""
        offsets = self.tokenizer.encode_offsets(self._plain[start:end])
        while 0 < tokens < len(offsets) and offsets.starts[tokens] < offsets.ends[tokens - 1]:
            tokens -= 1
        return start + int(offsets.ends[tokens - 1]) if tokens else start

    def _encode(self, start: int, end: int) -> int:
        """Tokens of a slice, encoded now."""
        if start >= end:
            return 0
        if end - start < _LONG_REMAINDER:
            return self.tokenizer.count(self._plain[start:end])
        key = (start, end)
        known = self._remainders.get(key)
        if known is None:
            known = self.tokenizer.count(self._plain[start:end])
            if len(self._remainders) >= _REMEMBERED:
                self._remainders.clear()
            self._remainders[key] = known
        return known


def _array(kind: Literal["q", "i"], values: NDArray[np.int64] | NDArray[np.int32]) -> array[int]:
    """The values where single ones are read several times as fast as from NumPy's arrays."""
    made: array[int] = array(kind)
    made.frombytes(values.data.cast("B"))
    return made


def _prefix_sums(tokenizer: Tokenizer, text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Safe cuts of `text` with 0 and its length, and the tokens before each; both of one shape."""
    if not text:
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    inner = tokenizer.safe_cuts(text)
    cuts = np.zeros(len(inner) + 2, dtype=np.int64)
    cuts[1:-1], cuts[-1] = inner, len(text)
    sums = np.zeros(len(cuts), dtype=np.int64)
    first = 0
    while first < len(cuts) - 1:
        # The last cut within a block, and at least the next one.
        last = max(int(np.searchsorted(cuts, int(cuts[first]) + _BLOCK, side="right")) - 1, first + 1)
        start, end = int(cuts[first]), int(cuts[last])
        between = tokenizer.count_between(text[start:end], cuts[first : last + 1] - start)
        sums[first + 1 : last + 1] = sums[first] + np.cumsum(between)
        first = last
    return cuts, sums
