"""ST-09, `texttiling`: where the words change (Hearst, TextTiling, Computational Linguistics 23(1), 1997).

Pseudo-sentences of w=20 words; at each gap the cosine of the words of k=10 of them on each side; smoothed (s=2, n=1);
a boundary where the depth exceeds mean - deviation / 2 (Hearst's HC), at the nearest paragraph gap, boundaries at least
three pseudo-sentences apart. Beyond: words of unspaced scripts are told apart by a dictionary.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from linkrag_dagster.chunking.depth import Smoothing, depth_scores
from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source, WeighedGap
from linkrag_dagster.chunking.strategies.segmenter import word_boundaries
from linkrag_dagster.markdown.elements import Element

TOPIC = "topic"
WORDS, BLOCK, APART = 20, 10, 3
SMOOTHING = Smoothing(2, 1)

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Closed-class words say nothing about the topic; Hearst leaves them out too.
_WORDS_OF_NO_TOPIC = """
a about above after again all also am an and any are as at be because been before being below between both but by
can could did do does doing down during each few for from further had has have having he her here hers him his
how i if in into is it its itself just me more most my no nor not now of off on once only or other our out over
own same she should so some such than that the their them then there these they this those through to too under
until up very was we were what when where which while who whom why will with would you your
的 了 和 是 在 也 就 都 而 及 与 或 这 那 一个 我们 你 我 他 她 它 有 不 为 以 对 从 到 把 被 上 中 下 会 要 可以
の は が を に へ と で も や から まで です ます する した ある いる
"""
_FUNCTION_WORDS = frozenset(_WORDS_OF_NO_TOPIC.split())


@dataclass(frozen=True, slots=True)
class Topics:
    """The curve of a text.

    Attributes:
        positions: code point of each gap between two pseudo-sentences.
        cohesion: cosine of the blocks on both sides, from 0 to 1; one a gap.
        depths: of the valley there.
        cutoff: depths above it are boundaries; None without gaps.
    """

    positions: tuple[int, ...]
    cohesion: tuple[float, ...]
    depths: tuple[float, ...]
    cutoff: float | None

    def deep(self) -> list[int]:
        """Gaps whose depth exceeds the cutoff, the deepest first, each at least three from those before it."""
        if self.cutoff is None:
            return []
        order = sorted(range(len(self.depths)), key=lambda g: (-self.depths[g], g))
        taken: list[int] = []
        near: set[int] = set()
        for gap in order:
            if self.depths[gap] <= max(self.cutoff, 0.0):
                break
            if gap not in near:
                taken.append(gap)
                near.update(range(gap - APART + 1, gap + APART))
        return taken


def texttiling(source: Source) -> Cutting:
    """Pieces between topic boundaries, each a run of whole blocks; a heading stays with what follows it.

    Told are the curve, at every gap between pseudo-sentences, and every gap between blocks; a cut has the scores of the
    deepest boundary that it stands for (SD-16).
    """
    text, gaps = source.text, paragraph_gaps(source.elements)
    elements = [e for e in source.elements if e.kind != "rule"]
    if not elements:
        return Cutting([])
    topics = topics_of(text)
    deep = topics.deep()
    # The deepest first: a cut stands for it.
    scored: dict[int, int] = {}
    for gap in deep if gaps else ():
        scored.setdefault(_nearest(gaps, topics.positions[gap]), gap)
    cuts = set(scored)
    if elements[0].kind == "front_matter" and len(elements) > 1:
        cuts.add(elements[1].start_char)
    pieces: list[Piece] = []
    weighed: list[WeighedGap] = []
    curve = _curve(topics, deep)
    begin = elements[0].start_char
    for element, following in zip(elements, [*elements[1:], None], strict=True):
        if following is None:
            pieces.append(Piece(begin, element.end_char, END))
            continue
        # Where a pseudo-sentence ends with its block, both gaps are one.
        here = curve.pop(following.start_char, None)
        if following.start_char in cuts:
            pieces.append(Piece(begin, element.end_char, TOPIC))
            begin = following.start_char
            weighed.append(_cut(topics, element.end_char, scored.get(following.start_char)))
        elif element.kind == "heading":
            weighed.append(_between(element.end_char, here, legal=False, reason="after_heading"))
        else:
            weighed.append(_between(element.end_char, here, legal=True, reason="kept"))
    return Cutting(pieces, gaps=sorted((*weighed, *curve.values()), key=lambda gap: gap.position))


def _curve(topics: Topics, deep: Sequence[int]) -> dict[int, WeighedGap]:
    """The gaps between pseudo-sentences, by place: a cut falls between blocks, never there."""
    taken, cutoff = set(deep), topics.cutoff or 0.0
    found: dict[int, WeighedGap] = {}
    for gap, (position, cohesion, depth) in enumerate(
        zip(topics.positions, topics.cohesion, topics.depths, strict=True)
    ):
        word = "moved" if gap in taken else "near" if depth > max(cutoff, 0.0) else "shallow"
        reason = f"{word}: {_figures(topics, depth)}"
        found[position] = WeighedGap(position, cohesion, depth, False, False, reason)
    return found


def _between(position: int, here: WeighedGap | None, *, legal: bool, reason: str) -> WeighedGap:
    """A gap between two blocks that is not cut, with the scores of the pseudo-sentences' gap there, if there is one."""
    if here is None:
        return WeighedGap(position, None, None, legal, False, reason)
    figures = here.reason.partition(": ")[2]
    return WeighedGap(position, here.cohesion, here.depth, legal, False, f"{reason}: {figures}")


def _cut(topics: Topics, position: int, gap: int | None) -> WeighedGap:
    """A cut between two blocks; without a gap the one after front matter."""
    if gap is None:
        return WeighedGap(position, None, None, True, True, TOPIC)
    depth = topics.depths[gap]
    return WeighedGap(
        position, topics.cohesion[gap], depth, True, True, f"{TOPIC}: {_figures(topics, depth)}"
    )


def _figures(topics: Topics, depth: float) -> str:
    return f"depth {depth:.3f}, threshold {topics.cutoff or 0.0:.3f}"


def paragraph_gaps(elements: Sequence[Element]) -> list[int]:
    """Where blocks begin that a cut may stand before: not the first, nor one right after a heading."""
    blocks = [e for e in elements if e.kind != "rule"]
    return [right.start_char for left, right in pairwise(blocks) if left.kind != "heading"]


def topics_of(text: str) -> Topics:
    """Cohesion and depth at every gap between pseudo-sentences; linear time."""
    words = _words(text)
    ends = range(WORDS, len(words), WORDS)
    positions = tuple(words[end][0] for end in ends)
    # A last pseudo-sentence of few words is one all the same.
    sequences = [
        [word for _, word in words[start : start + WORDS] if word not in _FUNCTION_WORDS]
        for start in range(0, len(words), WORDS)
    ]
    cohesion = _cohesion(sequences)
    depths = [d or 0.0 for d in depth_scores(cohesion, smoothing=SMOOTHING)]
    cutoff = None
    if depths:
        mean = math.fsum(depths) / len(depths)
        deviation = math.sqrt(math.fsum((d - mean) ** 2 for d in depths) / len(depths))
        cutoff = mean - deviation / 2
    return Topics(positions, tuple(cohesion), tuple(depths), cutoff)


def _words(text: str) -> list[tuple[int, str]]:
    """Words in lower case with their places; runs of unspaced scripts as the words that a dictionary finds."""
    found: list[tuple[int, str]] = []
    cuts = word_boundaries(text, 0, len(text))
    at = 0
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        while at < len(cuts) and cuts[at] <= start:
            at += 1
        while at < len(cuts) and cuts[at] < end:
            found.append((start, text[start : cuts[at]].lower()))
            start = cuts[at]
            at += 1
        found.append((start, text[start:end].lower()))
    return found


def _cohesion(sequences: Sequence[Sequence[str]]) -> list[float]:
    """Cosine of the word counts of up to `BLOCK` sequences on each side of every gap; 0 where a side has no words."""
    window = _Blocks()
    scores: list[float] = []
    for sequence in sequences[:BLOCK]:
        window.right_gains(sequence)
    for gap in range(1, len(sequences)):
        window.right_loses(sequences[gap - 1])
        window.left_gains(sequences[gap - 1])
        if gap + BLOCK <= len(sequences):
            window.right_gains(sequences[gap + BLOCK - 1])
        if gap > BLOCK:
            window.left_loses(sequences[gap - BLOCK - 1])
        scores.append(window.cosine())
    return scores


class _Blocks:
    """Word counts of two neighbouring blocks, with their product and lengths kept up to date, word by word."""

    def __init__(self) -> None:
        self._left: Counter[str] = Counter()
        self._right: Counter[str] = Counter()
        self._product = self._left_square = self._right_square = 0

    def left_gains(self, words: Sequence[str]) -> None:
        for word in words:
            self._left_square += 2 * self._left[word] + 1
            self._product += self._right[word]
            self._left[word] += 1

    def left_loses(self, words: Sequence[str]) -> None:
        for word in words:
            self._left_square -= 2 * self._left[word] - 1
            self._product -= self._right[word]
            self._left[word] -= 1

    def right_gains(self, words: Sequence[str]) -> None:
        for word in words:
            self._right_square += 2 * self._right[word] + 1
            self._product += self._left[word]
            self._right[word] += 1

    def right_loses(self, words: Sequence[str]) -> None:
        for word in words:
            self._right_square -= 2 * self._right[word] - 1
            self._product -= self._left[word]
            self._right[word] -= 1

    def cosine(self) -> float:
        squares = self._left_square * self._right_square
        return self._product / math.sqrt(squares) if squares else 0.0


def _nearest(places: Sequence[int], position: int) -> int:
    """The nearest of ascending places; of two as near, the earlier."""
    at = bisect_left(places, position)
    around = [
        p for p in (places[at - 1] if at else None, places[at] if at < len(places) else None) if p is not None
    ]
    return min(around, key=lambda p: abs(p - position))
