"""Fitting an indexed text into the encoder's window: nothing is ever cut silently (EX-05)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linkrag_dagster.chunking.header import header_line
from linkrag_dagster.chunking.records import FinalChunk, Span
from linkrag_dagster.markdown.frozen import record


class WindowOverflow(Exception):
    """A chunk's own words do not fit the encoder's window, and the settings say `overflow: error` (EX-05).

    Attributes:
        final_id: the chunk.
    """

    def __init__(self, chunk: FinalChunk, tokens: int, room: int) -> None:
        super().__init__(
            f"{chunk.final_id} (lines {chunk.start_line} to {chunk.end_line}) has {tokens} tokens of its own, the "
            f"encoder's window leaves {room}; lower hard_max_tokens, or declare overflow: split, vectors or pool"
        )
        self.final_id = chunk.final_id


@record
class IndexedText:
    """The parts of an indexed text, in their order.

    Attributes:
        header: title and headings, outermost first.
        introduction: a derived chunk's reference, with its description or summary.
        before: context before the content.
        prefix: what a later part of a split block repeats, on the lines right before the content.
        content: the chunk's own words.
        after: context after the content.
        context: where `before` and `after` stand in the document.
    """

    header: tuple[str, ...]
    content: str
    introduction: str = ""
    before: str = ""
    prefix: str = ""
    after: str = ""
    context: tuple[Span, ...] = ()

    def __str__(self) -> str:
        if self.content and not (self.introduction or self.before or self.prefix or self.after):
            return f"{header_line(self.header)}\n\n{self.content}" if self.header else self.content
        body = f"{self.prefix}\n{self.content}" if self.prefix else self.content
        parts = (header_line(self.header), self.introduction, self.before, body, self.after)
        return "\n\n".join(part for part in parts if part)


def fitted(text: IndexedText, fits: Callable[[IndexedText], bool]) -> IndexedText | None:
    """The text with as little left out as makes it fit: context first, then the header from its outer end.

    Then a description, then what a part repeats, and last the white space around the content. None if the content
    alone does not fit.
    """
    if fits(text):
        return text
    text = replace(text, before="", after="", context=())
    while not fits(text):
        if text.header:
            text = replace(text, header=text.header[1:])
        elif text.introduction:
            text = replace(text, introduction="")
        elif text.prefix:
            text = replace(text, prefix="")
        elif text.content != text.content.strip():
            text = replace(text, content=text.content.strip())
        else:
            return None
    return text
