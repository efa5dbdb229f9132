"""Windows of an indexed text that the encoder can't read at once: `overflow: vectors` and `pool` (EX-05).

The chunk stays whole, `content` and `text` are its own; what the encoder is given are the windows, slices of `text`
that lose nothing but the white space between them. With `vectors` each keeps its vector, and the nearest one counts in
a search; with `pool` they make one: their mean, each by its tokens, of length one again. The header stands in the
first window only: every word of `text` is read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.chunking.measure import Measure
from linkrag_dagster.chunking.overflow import by_words
from linkrag_dagster.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class TextWindow:
    """What the encoder reads at a time.

    Attributes:
        start, end: its place in the text, code points, half-open; it begins and ends with a visible one.
        tokens: of the encoder, special ones included.
    """

    start: int
    end: int
    tokens: int


def encoder_windows(text: str, tokenizer: Tokenizer, window: int) -> tuple[TextWindow, ...]:
    """The windows of a text, in order: cut between blocks, else lines, sentences, or where it is token-safe (TK-03).

    Args:
        text: an indexed text, not blank.
        tokenizer: the encoder's.
        window: most tokens that it sees, special ones included.
    """
    room = max(1, window - tokenizer.special_tokens)
    cuttings = by_words(text, Measure.of(tokenizer, text), room, "end")
    places = [_visible(text, c.start, c.end) for c in cuttings]
    sizes = tokenizer.count_many([text[start:end] for start, end in places])
    return tuple(
        TextWindow(start, end, size + tokenizer.special_tokens)
        for (start, end), size in zip(places, sizes, strict=True)
    )


def unseen_tokens(windows: Sequence[TextWindow], window: int) -> int:
    """Tokens that the encoder would not see of any of them: 0 unless one code point has more than there is room for."""
    return sum(max(0, w.tokens - window) for w in windows)


def broken_windows(text: str, windows: Sequence[TextWindow], tokenizer: Tokenizer, window: int) -> str:
    """What is wrong with the windows of a text: words that none holds, or two, wrong counts, one too long; else ""."""
    at = 0
    for number, held in enumerate(windows):
        between = text[at : held.start]
        if held.start < at or held.start >= held.end or (between and not between.isspace()):
            return f"window {number} [{held.start}, {held.end}) does not follow what is read up to {at}"
        at = held.end
    if text[at:].strip():
        return f"no window holds the text from {at} on"
    sizes = tokenizer.count_many([text[w.start : w.end] for w in windows])
    for number, (held, size) in enumerate(zip(windows, sizes, strict=True)):
        total = size + tokenizer.special_tokens
        if held.tokens != total or total > window:
            return f"window {number} says {held.tokens} tokens, has {total}, and {window} fit"
    return ""


def _visible(text: str, start: int, end: int) -> tuple[int, int]:
    words = text[start:end]
    first = start + len(words) - len(words.lstrip())
    return first, max(first, start + len(words.rstrip()))
