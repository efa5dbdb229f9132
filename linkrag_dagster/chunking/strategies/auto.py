"""ST-10, `auto`: seed 001's two questions, answered by what can be measured in the document.

has the format a syntax?                          yes -> document_aware
has the text boundaries at all?                   no  -> fixed
do topic and paragraph boundaries agree?          yes -> recursive
                                                  no  -> percentile, without a scorer texttiling
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from linkrag_dagster.chunking.strategies.document_aware import by_syntax, named_syntax
from linkrag_dagster.chunking.strategies.fixed import fixed
from linkrag_dagster.chunking.strategies.percentile import percentile
from linkrag_dagster.chunking.strategies.pieces import Cutting, Source
from linkrag_dagster.chunking.strategies.recursive import recursive
from linkrag_dagster.chunking.strategies.syntax.detection import PLAIN, syntax_of
from linkrag_dagster.chunking.strategies.texttiling import paragraph_gaps, texttiling
from linkrag_dagster.markdown.elements import Element

# Speaker turns, time stamps of transcripts and logs, headers of mails, quoted mails.
_TURN = re.compile(
    r"^[ \t]*(?:[\[(<]?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])>]?"
    r"|[\[(]?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"
    r"|(?:From|To|Cc|Subject|Date|Sent|发件人|收件人|主题|时间)[ \t]*[:：]"
    r"|[^\W\d_][\w.'’ -]{0,30}[:：][ \t]+\S"
    r"|>[ \t>])",
    re.MULTILINE,
)
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)
_STOP = re.compile(r"[.!?](?=\s|$)|[。！？]")

MOST_TURNS = 0.3
"""Above this share of lines that open a turn, paragraphs follow speakers, not topics."""
LEAST_STOPS = 1 / 500
"""Below this many sentence ends a code point, and without paragraphs, a text has no boundaries."""
BY_SYNTAX = "document_aware"
LONG_PARAGRAPH = 2000
"""Above this median length in code points a paragraph holds several topics."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which strategy a document gets.

    Attributes:
        strategy: its name.
        reason: the signs, with their figures.
    """

    strategy: str
    reason: str


def auto(source: Source) -> Cutting:
    """The pieces of the strategy that the document's signs choose; choice and reason are recorded."""
    syntax = named_syntax(source) or syntax_of(source.text, source.elements)
    if syntax.name != PLAIN:
        cutting = by_syntax(source, syntax)
        return replace(cutting, strategy=BY_SYNTAX)
    choice = boundaries_of(source.text, source.elements, source.scorer is not None)
    strategies = {"fixed": fixed, "recursive": recursive, "percentile": percentile, "texttiling": texttiling}
    cutting = strategies[choice.strategy](source)
    return replace(cutting, strategy=choice.strategy, reason=choice.reason)


def choice_of(source: Source) -> Choice:
    """What `auto` takes of a text where texts can be compared; nothing is cut."""
    syntax = named_syntax(source) or syntax_of(source.text, source.elements)
    if syntax.name != PLAIN:
        return Choice(BY_SYNTAX, syntax.name)
    return boundaries_of(source.text, source.elements, scorer=True)


def boundaries_of(text: str, elements: Sequence[Element], scorer: bool) -> Choice:
    """The second question, for a text without syntax.

    Args:
        text: the text.
        elements: its elements.
        scorer: whether texts can be compared.
    """
    lengths = [e.end_char - e.start_char for e in elements]
    lines = len(_LINE.findall(text))
    stops = len(_STOP.findall(text))
    turns = len(_TURN.findall(text)) / lines if lines else 0.0
    usual = median(lengths) if lengths else 0
    signs = (
        f"{len(lengths)} paragraphs of {usual:.0f} characters, {stops} sentence ends, "
        f"{turns:.0%} of lines open a turn"
    )
    if len(text) * LEAST_STOPS > max(stops, 1) and len(lengths) < 2 + len(text) // LONG_PARAGRAPH:
        return Choice("fixed", f"no boundaries: {signs}")
    if turns <= MOST_TURNS and usual <= LONG_PARAGRAPH:
        return Choice("recursive", f"topics follow paragraphs: {signs}")
    if scorer:
        return Choice("percentile", f"topics do not follow paragraphs: {signs}")
    if paragraph_gaps(elements):
        return Choice("texttiling", f"topics do not follow paragraphs, no scorer: {signs}")
    return Choice("recursive", f"topics do not follow paragraphs, no scorer, one paragraph: {signs}")
