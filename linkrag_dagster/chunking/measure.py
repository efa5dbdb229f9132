"""Token counts of slices of one chunk's content, whether that is a slice of the document or a rendering."""

from __future__ import annotations

from collections.abc import Sequence

from linkrag_dagster.tokens import TokenCounter, Tokenizer
from linkrag_dagster.tokens.graphemes import next_boundary


class Measure:
    """Counts in the coordinates of a content; a document that was tokenised once is not tokenised again (TK-02).

    Args:
        counter: counts slices of a text that holds the content.
        shift: where the content begins in that text.
        length: code points of the content.
    """

    def __init__(self, counter: TokenCounter, shift: int, length: int) -> None:
        self._counter = counter
        self._shift = shift
        self.length = length

    @classmethod
    def of(cls, tokenizer: Tokenizer, content: str) -> Measure:
        """Of a content that stands nowhere in the document."""
        return cls(TokenCounter(tokenizer, content), 0, len(content))

    def count(self, start: int, end: int) -> int:
        """Tokens of `content[start:end]` encoded alone."""
        return self._counter.count(start + self._shift, end + self._shift)

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Whether `content[start:end]` has at most `limit` tokens."""
        return self._counter.fits(start + self._shift, end + self._shift, limit)

    def first_above(
        self, start: int, ends: Sequence[int], at: int, limit: int, stop: int | None = None
    ) -> int:
        """Index, from `at` on, of the first end for which `content[start:end]` has more than `limit` tokens.

        `stop`, or as many as there are `ends`, which ascend, if none before it has.
        """
        return self._counter.first_above(start + self._shift, ends, at, limit, self._shift, stop)

    def count_alone(self, content: str) -> int:
        """Tokens of any text, in the same tokenizer."""
        return self._counter.tokenizer.count(content)

    def prefix(self, start: int, limit: int, end: int) -> tuple[int, bool]:
        """End of the longest good piece from `start` with at most `limit` tokens, and whether it splits a grapheme."""
        cut = self._counter.prefix(start + self._shift, limit, end + self._shift)
        return cut.position - self._shift, cut.inside_grapheme

    def suffix(self, text: str, start: int, end: int, limit: int) -> int:
        """Start of the longest piece of `content[start:end]` that ends at `end` and has at most `limit` tokens.

        It begins with a word where words are told apart by blanks, else on a grapheme boundary; `end` if not even
        one grapheme fits.

        Args:
            text: the content itself.
            start: where the slice begins.
            end: where it ends.
            limit: tokens.
        """
        if limit < 1:
            return end
        fits, shift = self._counter.fits_to(end + self._shift, limit), self._shift
        if fits(start + shift):
            return start
        # Positions between low and high: text from `high` fits, from `low` does not.
        reach = 4 * limit
        while end - reach > start and fits(end - reach + shift):
            reach *= 2
        low, high = max(start, end - reach), end
        while high - low > 1:
            middle = (low + high) // 2
            if fits(middle + shift):
                high = middle
            else:
                low = middle
        position = _word_start(text, start, high, end)
        while position < end and not fits(position + shift):
            position = _word_start(text, start, position + 1, end)
        return position


def _word_start(text: str, start: int, position: int, end: int) -> int:
    """The first start of a word at or after `position`, within 64 code points; else a grapheme boundary there."""
    if position >= end or text[position - 1].isspace():
        return position
    for at in range(position, min(position + 64, end)):
        if text[at].isspace():
            visible = at
            while visible < end and text[visible].isspace():
                visible += 1
            return visible
    return min(next_boundary(text, start, position), end)
