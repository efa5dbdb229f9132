"""Images that make up a whole paragraph (EL-02)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from linkrag_dagster.markdown.block_rules import inline_parser

_REFERENCE = re.compile(r"\[[^\[\]]*\]")
LONGEST = 10_000
"""Characters of a paragraph that is looked at: longer ones are not images only."""


@dataclass(frozen=True, slots=True)
class ImageSpan:
    """One image of a paragraph: its syntax is `source[start:end]`; `alt` is None where it describes nothing."""

    start: int
    end: int
    alt: str | None


def image_spans(source: str) -> list[ImageSpan]:
    """The images of a paragraph whose source is image syntax and white space only; empty for any other.

    An image inside a link is a link: the paragraph stays one.
    """
    if not source.lstrip().startswith("![") or len(source) > LONGEST:
        return []
    spans: list[ImageSpan] = []
    at = 0
    while at < len(source):
        if source[at].isspace():
            at += 1
            continue
        end = _image_end(source, at)
        if end is None:
            return []
        alt = _alt(source[at:end])
        if alt is None:
            return []
        spans.append(ImageSpan(at, end, alt or None))
        at = end
    return spans


def _alt(syntax: str) -> str | None:
    """The alternative text of one image; None where the syntax is no image after all."""
    tokens = inline_parser().parseInline(syntax)
    children = (tokens[0].children or []) if tokens else []
    if len(children) != 1 or children[0].type != "image":
        # A reference to a definition elsewhere is no image to a parser that sees this line alone.
        inner = syntax[2 : syntax.index("]")] if _REFERENCE.fullmatch(syntax[syntax.rindex("[") :]) else None
        return inner.strip() if inner is not None and syntax.count("[") == 2 else None
    return " ".join(children[0].content.split())


def _image_end(source: str, at: int) -> int | None:
    if not source.startswith("![", at):
        return None
    depth = 0
    for position in range(at + 1, len(source)):
        char = source[position]
        if source[position - 1] == "\\":
            continue
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth == 0:
                return _target_end(source, position + 1)
    return None


def _target_end(source: str, at: int) -> int | None:
    if at < len(source) and source[at] == "[":
        end = source.find("]", at)
        return end + 1 if end >= 0 else None
    if at >= len(source) or source[at] != "(":
        return None
    depth, quote = 0, ""
    for position in range(at, len(source)):
        char = source[position]
        if source[position - 1] == "\\":
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and source[position - 1].isspace():
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return position + 1
    return None
