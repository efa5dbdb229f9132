"""Which syntax a text is written in, by measurable signs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from linkrag_dagster.chunking.strategies.syntax.grammars import GRAMMARS, installed, understood
from linkrag_dagster.chunking.strategies.syntax.html import html_headings, looks_like_html
from linkrag_dagster.chunking.strategies.syntax.latex import latex_headings, looks_like_latex
from linkrag_dagster.chunking.strategies.syntax.python import python_symbols
from linkrag_dagster.chunking.strategies.syntax.symbols import Heading, Symbol
from linkrag_dagster.markdown.elements import Element

PLAIN, MARKDOWN, PYTHON, HTML, LATEX = "plain", "markdown", "python", "html", "latex"
LANGUAGES = (PLAIN, MARKDOWN, PYTHON, HTML, LATEX, *GRAMMARS)
"""Names that say which syntax a text has."""

# What a grammar is asked about: enough for a judgement, little enough for every text.
_HEAD = 65_536
_CODE_LINE = re.compile(
    r"^.*(?:[{};]|\)[ \t]*:)[ \t]*$|^[ \t]*(?:end|def |func |fn |local |\w+\(\) *\{)", re.MULTILINE
)
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)
_LEAST_CODE = 0.3


@dataclass(frozen=True, slots=True)
class Syntax:
    """A text's syntax.

    Attributes:
        name: one of `LANGUAGES`.
        reason: the sign that says so.
        symbols: of code, its definitions, if they are known already.
        headings: of HTML and LaTeX, likewise.
    """

    name: str
    reason: str
    symbols: Sequence[Symbol] | None = None
    headings: Sequence[Heading] | None = None


def syntax_of(text: str, elements: Sequence[Element]) -> Syntax:
    """The syntax of a text that nobody named.

    In this order: Python that Python's parser reads and that defines something; a LaTeX document with sections; HTML
    with headings; code of another language, if most lines end like code and exactly its grammar, or the one that finds
    most definitions, reads it without an error; Markdown with headings; else plain.
    """
    definitions = python_symbols(text)
    if definitions:
        return Syntax(
            PYTHON, f"parses as Python, {_many(len(definitions), 'definition')}", symbols=definitions
        )
    if looks_like_latex(text) and (sections := latex_headings(text)):
        return Syntax(LATEX, _many(len(sections), "section command"), headings=sections)
    if looks_like_html(text) and (sections := html_headings(text)):
        return Syntax(HTML, _many(len(sections), "heading tag"), headings=sections)
    if code := _code(text):
        return code
    headings = sum(1 for e in elements if e.kind == "heading")
    if headings:
        return Syntax(MARKDOWN, _many(headings, "Markdown heading"))
    return Syntax(PLAIN, "no headings, definitions, tags or section commands")


def _code(text: str) -> Syntax | None:
    head = text[:_HEAD]
    if len(text) > _HEAD:
        head = head[: head.rfind("\n") + 1]
    lines = len(_LINE.findall(head))
    alike = len(_CODE_LINE.findall(head))
    if not lines or alike / lines < _LEAST_CODE:
        return None
    found = {name: understood(head, name) for name in GRAMMARS if installed(name)}
    best = max(found, key=lambda name: found[name], default="")
    if not best or not found[best]:
        return None
    return Syntax(best, f"parses as {best}, {_many(found[best], 'definition')}")


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
