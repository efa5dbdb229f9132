"""Markdown to elements: the one source of structural fact. Pure; knows no other package."""

from linkrag_dagster.markdown.elements import Element, ProtectedRange
from linkrag_dagster.markdown.parser import MarkdownError, parse, visible_words

__all__ = ["Element", "MarkdownError", "ProtectedRange", "parse", "visible_words"]
