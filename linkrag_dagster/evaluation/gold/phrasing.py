"""Are the two phrasings of a needle what they claim to be: the document's own words, and a ticket in other words?

A `ticket` phrasing may share one content word with the words that answer it; a second one would let plain word
matching find them, which is what the phrasing is there to measure. Content words are those of the lexical analyzer:
stop words left out, inflections as one, a compound as one word; the rest of English's closed-class words, which a
search index keeps, count as none either. Chinese and Japanese, which write no spaces, are compared by pairs of
characters between function words: a stretch of 2 or 3 common characters counts as one word, of 4 or 5 as two, and so
on; a single common character counts as none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from linkrag_dagster.evaluation.gold.findings import Finding
from linkrag_dagster.evaluation.gold.records import OwnQuestion
from linkrag_dagster.lexical.analyzers import Analyzer, load_analyzer
from linkrag_dagster.lexical.normal_form import normal_form
from linkrag_dagster.lexical.words import CJK_RUN, WORDS

DOC, TICKET = "doc", "ticket"
SHARED_WORDS = 1
"""Content words that a ticket may share with its needle."""

_CLOSED = """
about above across after again against all along already also although always among any anyone anything around
because before behind below beneath beside besides between beyond both cannot despite down during each either else
enough even ever every everyone everything except few further hence hers herself himself however inside instead
itself just least less like many may maybe me might more most much must myself near neither never next nobody none
nor nothing now off often once one only onto other others otherwise ought ours ourselves out outside over own per
perhaps quite rather same several since some someone something sometimes still though through throughout thus till
together too toward towards under unless until up upon upward via well whatever whenever whereas wherever whether
while within without yet yours yourself
"""
_CLOSED_CLASS = frozenset(_CLOSED.split())
# Function words of Chinese (both writings), the longest first where one begins another.
_FUNCTION_WORDS = re.compile(
    "为什么|為什麼|是不是|有没有|有沒有|能不能|会不会|會不會|什么|什麼|怎么|怎麼|怎样|怎樣|如何|多少|哪些|哪个|哪個|哪里|哪裡|"
    "是否|可以|应该|應該|需要|这个|這個|那个|那個|这些|這些|那些|一个|一個|我们|我們|他们|他們|以及|或者|因为|因為|所以|如果|"
    "但是|时候|時候|之后|之後|之前|的|了|是|在|和|与|與|及|或|而|但|就|都|也|很|被|把|让|讓|给|給|对|對|从|從|到|为|為|于|於|"
    "有|会|會|能|要|我|你|他|她|它|们|們|吗|嗎|呢|吧|啊|几|幾|哪|谁|誰|么|麼|这|這|那|个|個|其|之|不|没|沒"
)


def phrasing_findings(questions: Iterable[OwnQuestion], analyzer: Analyzer | None = None) -> list[Finding]:
    """Check the phrasings of answerable questions.

    Args:
        questions: a corpus's own questions.
        analyzer: what makes words; `default` where it is left out.

    Returns:
        Findings of the kinds in `findings.PHRASING`. A needle of which no question names a phrasing is not checked
        for its pair.
    """
    used = load_analyzer("default") if analyzer is None else analyzer
    needles: dict[str, list[OwnQuestion]] = {}
    for question in sorted(questions, key=lambda q: q.question_id):
        if question.answerable:
            needles.setdefault(question.needle_id, []).append(question)
    return [
        finding
        for needle_id, asked in sorted(needles.items())
        for finding in (*_pair(needle_id, asked), *_overlaps(asked, used))
    ]


def shared_content_words(question: str, needle: str, analyzer: Analyzer) -> tuple[str, ...]:
    """Content words of a question that stand in a needle too, each once, as the question writes them."""
    asked, there = normal_form(question), normal_form(needle)
    return (*_shared_words(asked, there, analyzer), *_shared_stretches(asked, there))


def _pair(needle_id: str, asked: Sequence[OwnQuestion]) -> Iterator[Finding]:
    first = asked[0]
    counts = Counter(question.phrasing for question in asked)
    if any(counts) and counts != {DOC: 1, TICKET: 1}:
        named = ", ".join(f"{name or 'none'} × {count}" for name, count in sorted(counts.items()))
        message = f"needle {needle_id!r} has the phrasings {named}"
        yield _finding(first, "phrasings", message, f"give it one {DOC} and one {TICKET} phrasing")
    for other in asked[1:]:
        if set(map(frozenset, other.groups)) != set(map(frozenset, first.groups)):
            message = (
                f"its evidence differs from that of {first.question_id}, another phrasing of {needle_id!r}"
            )
            yield _finding(
                other, "evidence_differs", message, "give both the same evidence, or other needle ids"
            )


def _overlaps(asked: Sequence[OwnQuestion], analyzer: Analyzer) -> Iterator[Finding]:
    for question in asked:
        if question.phrasing != TICKET:
            continue
        needle = "\n".join(needle.text for group in question.groups for needle in group)
        words = shared_content_words(question.question, needle, analyzer)
        if len(words) > SHARED_WORDS:
            message = (
                f"a ticket may share {SHARED_WORDS} content word with its needle, and shares {len(words)}: "
                f"{', '.join(words)}"
            )
            yield _finding(question, "ticket_overlap", message, "say them in other words", words)


def _finding(
    question: OwnQuestion, kind: str, message: str, suggestion: str, words: tuple[str, ...] = ()
) -> Finding:
    return Finding(
        question.question_id,
        kind,
        message,
        suggestion,
        words=words,
        file=question.file,
        line=question.line,
    )


def _shared_words(asked: str, there: str, analyzer: Analyzer) -> list[str]:
    """Words outside of Chinese and Japanese."""
    terms = {term for word in _words(there) for term in analyzer.tokens(word)}
    found: list[str] = []
    counted: set[str] = set()
    # Compounds first: their parts are no further words.
    words = {word: analyzer.tokens(word) for word in _words(asked)}
    for word in sorted(words, key=lambda w: -len(words[w])):
        common = terms.intersection(words[word])
        if common - counted:
            counted |= common
            found.append(word)
    return sorted(found, key=asked.index)


def _words(text: str) -> list[str]:
    words = [word for word in WORDS.findall(text) if not CJK_RUN.match(word)]
    return [word for word in words if word.casefold() not in _CLOSED_CLASS]


def _shared_stretches(asked: str, there: str) -> list[str]:
    """Common stretches of Chinese and Japanese, cut into words of two characters."""
    pairs = {run[i : i + 2] for run in CJK_RUN.findall(there) for i in range(len(run) - 1)}
    found: dict[str, None] = {}
    for run in CJK_RUN.findall(asked):
        for piece in _FUNCTION_WORDS.split(run):
            for stretch in _stretches(piece, pairs):
                cuts = [*range(0, len(stretch) - 1, 2)]
                ends = [*cuts[1:], len(stretch)]
                found.update((stretch[a:b], None) for a, b in zip(cuts, ends, strict=True))
    return list(found)


def _stretches(piece: str, pairs: set[str]) -> Iterator[str]:
    """The longest stretches of a piece all of whose pairs are among `pairs`."""
    start: int | None = None
    for index in range(len(piece)):
        if piece[index : index + 2] in pairs:
            start = index if start is None else start
        elif start is not None:
            yield piece[start : index + 1]
            start = None
