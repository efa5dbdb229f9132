"""Inline Markdown, read only where structure asks for it: titles of headings, paragraphs of images."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, image
from markdown_it.token import Token
from markdown_it.utils import EnvType

_MARKS = re.compile(r"[\\`*_~\[\]<>&!]")
_WHITE = re.compile(r"[ \t\n\r\f\v]+")
# Where there is more white space than single blanks, which is seldom.
_UNEVEN = re.compile(r"[\t\n\r\f\v]|  ")
_BREAK = re.compile(r"<br\b", re.IGNORECASE)
# Inline math keeps its source: `$a*b*c$` is no emphasis.
_MATH = re.compile(r"\$(?![\s$])(?:[^$\\]|\\.)*(?<!\s)\$(?!\d)", re.DOTALL)
MAX_BRACKETS = 50
"""Opening brackets of a title beyond which it is taken as it stands: nested ones cost their square."""
MAX_LENGTH = 20_000
"""Code points of a title beyond which it is taken as it stands."""


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a paragraph: `source[start:end]` is its syntax; `alt` is None where it says nothing."""

    start: int
    end: int
    alt: str | None


def inline_math(state: StateInline, silent: bool) -> bool:
    """markdown-it rule: `$…$` is text as it stands."""
    if state.src[state.pos] != "$":
        return False
    found = _MATH.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.pending += found[0]
    state.pos = found.end()
    return True


def visible_text(source: str, md: MarkdownIt, env: EnvType) -> str:
    """What a reader sees of inline Markdown: text, code, the words of links and images; no marks, no tags."""
    if _MARKS.search(source) and len(source) <= MAX_LENGTH and source.count("[") <= MAX_BRACKETS:
        tokens: list[Token] = []
        md.inline.parse(source, md, env, tokens)
        source = "".join(_visible(tokens))
    return _WHITE.sub(" ", source).strip() if _UNEVEN.search(source) else source.strip()


def without_stand_ins(words: str, source: str) -> str:
    """Visible words without the U+FFFD that CommonMark reads for NUL, `&#0;` and the like: no text made here has one.

    Args:
        words: what a reader sees of `source`.
        source: as it stands in the text; a U+FFFD of its own is kept.
    """
    return words if "\ufffd" in source else " ".join(words.replace("\ufffd", "").split())


def _visible(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("softbreak", "hardbreak") or (
            token.type == "html_inline" and _BREAK.match(token.content)
        ):
            yield " "
        elif token.type == "image":
            yield from _visible(token.children or ())
        elif token.type != "html_inline":
            yield token.content


def images(source: str, md: MarkdownIt, env: EnvType) -> list[Image]:
    """The images of a paragraph that is image syntax and white space only; of any other paragraph, none (EL-02)."""
    found: list[Image] = []
    position = 0
    state = StateInline(source, md, env, [])
    while position < len(source):
        if source[position] in " \t\n":
            position += 1
            continue
        state.pos = position
        if not source.startswith("![", position) or not image(state, False):
            return []
        alt = visible_text(state.tokens[-1].content, md, env)
        found.append(Image(position, state.pos, alt or None))
        position = state.pos
    return found
