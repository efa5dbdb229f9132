"""Exact token counts of any slice of one text, which is tokenised once (TK-02)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkrag_dagster.tokens.cutting import SLACK, Cut, first_choice, longest_prefix, window_width
from linkrag_dagster.tokens.tokenizer import Tokenizer, well_formed

# Code points encoded at a time: bounds what the tokenizer holds at once.
_BLOCK = 1 << 18
# Slices shorter than this are encoded outright, which is cheaper than looking prefix sums up.
_SHORT = 64
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
        self._plain = well_formed(text)
        cuts, sums = _prefix_sums(tokenizer, self._plain)
        self._cuts = array("q", cuts.tobytes())
        self._sums = array("q", sums.tobytes())
        # How many cuts stand at or before each position: looked up far more often than searching would be cheap.
        marks = np.zeros(len(text) + 1, dtype=np.int32)
        marks[cuts] = 1
        self._ranks = array("i", np.cumsum(marks, dtype=np.int32).tobytes())
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
        if end - start <= _SHORT:
            return self.tokenizer.count(self._plain[start:end]) if start < end else 0
        first, last = self._cut_from(start), self._ranks[end] - 1
        if first > last:
            return self._encode(start, end)
        head, tail = self._cuts[first], self._cuts[last]
        total = self._sums[last] - self._sums[first]
        if start < head:
            total += self._encode(start, head)
        if tail < end:
            total += self._encode(tail, end)
        return total

    def count_each(self, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
        """`count` of each slice, in order: all lookups at once. Linear for slices that don't overlap.

        Args:
            starts, ends: of the slices, of one length.

        Raises:
            ValueError: as for `count`.
        """
        if not starts:
            return []
        begins, stops = np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)
        wrong = np.flatnonzero((begins < 0) | (begins > stops) | (stops > len(self._plain)))
        if len(wrong):
            at = int(wrong[0])
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
        self._density = max(0.25, (cut.position - start) / limit)
        return cut

    def _read_off(self, start: int, limit: int, end: int) -> Cut | None:
        """What `longest_prefix` would say, where its first window and its first try suffice and the sums know both.

        Between two safe cuts tokens are the same in every slice. So they are those of the window up to its last safe
        cut; if that stands far enough behind the limit, only the last token boundary within the limit is wanting.
        """
        width = window_width(limit, self._density)
        if end - start <= width and self.count(start, end) <= limit:
            return Cut(end, False)
        first, behind = self._cut_from(start), self._ranks[min(end, start + width)] - 1
        if first >= behind:
            return None
        fits = limit + self._sums[first] - self._encode(start, self._cuts[first])
        if self._sums[behind] < fits + SLACK or self._sums[first] >= fits:
            return None
        # The limit falls between these two; behind the last token may stand blanks that are none.
        after = bisect_left(self._sums, fits, first + 1, behind)
        boundary = self._boundary(self._cuts[after - 1], self._cuts[after], fits - self._sums[after - 1])
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
