"""ST-01, `fixed`: a window every so many units, blind to what it cuts (seeds 001 and 002)."""

from __future__ import annotations

from collections.abc import Iterator

from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source
from linkrag_dagster.tokens import TokenCounter
from linkrag_dagster.tokens.tokenizer import well_formed

WINDOW = "window"


def fixed(source: Source) -> Cutting:
    """Windows of `size` units, each `size - overlap` after the one before; the first that reaches the end is the last.

    In code points windows are exact. In tokens they hold at most `size`, counted again, and begin and end at token
    boundaries that split no code point. Windows of white space only are left out.
    """
    settings, text = source.settings, source.text
    size, overlap = settings.usual_size, settings.overlap or 0
    windows = (
        _of_tokens(source, size, overlap)
        if settings.in_tokens
        else character_windows(len(text), size, overlap)
    )
    return Cutting(
        [
            Piece(start, end, END if end == len(text) else WINDOW)
            for start, end in windows
            if not text[start:end].isspace()
        ]
    )


def character_windows(length: int, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Windows over `length` code points; none for an empty text."""
    step = max(1, size - overlap)
    for start in range(0, length, step):
        yield start, min(start + size, length)
        if start + size >= length:
            return


def _of_tokens(source: Source, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    text = source.text
    if not text:
        return
    offsets = source.tokenizer.encode_offsets(well_formed(text))
    starts, ends = offsets.starts.tolist(), offsets.ends.tolist()
    total = len(starts)
    if not total:
        yield 0, len(text)
        return
    counter = TokenCounter(source.tokenizer, text)
    # What no token covers stays with the token before it.
    places = [0, *(starts[k] if starts[k] >= ends[k - 1] else -1 for k in range(1, total)), len(text)]
    first = reached = 0
    while True:
        last = _whole(places, min(first + size, total), first)
        while last > first + 1 and counter.count(places[first], places[last]) > size:
            shorter = _whole(places, last - 1, first)
            if shorter >= last:
                break
            last = shorter
        if last <= reached:  # a code point of several tokens leaves no room for new words: less overlap
            first = _whole(places, first + 1, first)
            continue
        reached = last
        # Tokens across code points may leave no boundary that is near enough: then between code points.
        start = places[first]
        while counter.count(start, places[last]) > size:
            end = counter.prefix(start, size, places[last]).position
            if end == places[last]:
                break
            yield start, end
            start = end
        yield start, places[last]
        if last >= total:
            return
        following = _whole(places, max(last - overlap, first + 1), first)
        first = following if following > first else last


def _whole(places: list[int], index: int, above: int) -> int:
    """The last token boundary up to `index` that splits no code point and lies above `above`, else the next one."""
    at = index
    while at > above and places[at] < 0:
        at -= 1
    if at > above:
        return at
    at = index
    while places[at] < 0:
        at += 1
    return at
