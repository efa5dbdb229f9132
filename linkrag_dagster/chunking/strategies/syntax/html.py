"""Headings of HTML source."""

from __future__ import annotations

import html
import re

from linkrag_dagster.chunking.strategies.syntax.symbols import Heading

_OPEN = re.compile(r"<h([1-6])(?=[\s>/])[^<>]*>", re.IGNORECASE)
_CLOSE = re.compile(r"</h[1-6]\s*>", re.IGNORECASE)
_RAW = re.compile(r"<(script|style|textarea|template|title)(?=[\s>/])", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_RAW_END = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE)
    for name in ("script", "style", "textarea", "template", "title")
}
_SIGN = re.compile(r"<(?:!doctype\s+html|html|body|head)\b", re.IGNORECASE)
_PAIR = re.compile(r"</(?:div|p|section|article|ul|ol|table|h[1-6])\s*>", re.IGNORECASE)
_LEAST_PAIRS = 3
_BLOCK_END = re.compile(
    r"</(?:p|div|section|article|aside|nav|header|footer|main|ul|ol|li|dl|dd|table|tr|thead|tbody|pre|blockquote|"
    r"figure|form|head|title|style|script|h[1-6])\s*>|<(?:br|hr)\s*/?>|-->",
    re.IGNORECASE,
)


def looks_like_html(text: str) -> bool:
    """Whether a text says that it is HTML, or begins with a tag and closes several blocks."""
    head = text.lstrip("\ufeff \t\r\n")
    if _SIGN.match(head) or (head.startswith("<!--") and _SIGN.search(head, 0, 4096)):
        return True
    return head.startswith("<") and len(_PAIR.findall(head[:65536])) >= _LEAST_PAIRS


def html_headings(text: str) -> list[Heading]:
    """`h1` to `h6`, in order; none inside comments, scripts, styles. What is never closed reaches to the end."""
    found: list[Heading] = []
    at = 0
    while (at := text.find("<", at)) >= 0:
        if text.startswith("<!--", at):
            end = text.find("-->", at + 4)
            if end < 0:
                break
            at = end + 3
            continue
        if raw := _RAW.match(text, at):
            closed = _RAW_END[raw[1].lower()].search(text, raw.end())
            if closed is None:
                break
            at = closed.end()
            continue
        if opened := _OPEN.match(text, at):
            closed = _CLOSE.search(text, opened.end())
            if closed is None:
                break
            title = visible_words(text[opened.end() : closed.start()])
            if title:
                found.append(Heading(int(opened[1]), title, at, closed.end()))
            at = closed.end()
            continue
        at += 1
    return found


def visible_words(source: str) -> str:
    """Words of a piece of HTML, without tags, on one line."""
    return " ".join(html.unescape(_TAG.sub(" ", source)).split())


def html_block_ends(text: str, start: int, end: int) -> list[int]:
    """Where blocks end inside `text[start:end]`: behind a closing tag of a block, a line break, a comment."""
    return [m.end() for m in _BLOCK_END.finditer(text, start, end) if m.end() < end]
