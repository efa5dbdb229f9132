"""Section commands of LaTeX source."""

from __future__ import annotations

import re

from linkrag_dagster.chunking.strategies.syntax.symbols import Heading

_LEVELS = {
    "part": 1,
    "chapter": 2,
    "section": 3,
    "subsection": 4,
    "subsubsection": 5,
    "paragraph": 6,
    "subparagraph": 7,
}
_VERBATIM = ("verbatim", "Verbatim", "lstlisting", "minted", "comment", "filecontents")
_TOKEN = re.compile(
    r"(?P<escape>\\[\\%{}])"
    r"|(?P<comment>%[^\r\n]*)"
    r"|\\(?:verb\*?|lstinline(?:\[[^\[\]\r\n]*\])?)(?P<mark>[^A-Za-z*\s])[^\r\n]*?(?:(?P=mark)|(?=[\r\n]|\Z))"
    rf"|\\begin\{{(?P<verbatim>{'|'.join(_VERBATIM)})(?P<star>\*?)\}}"
    rf"|\\(?P<command>{'|'.join(_LEVELS)})\*?(?![A-Za-z@])[ \t]*(?:\[[^\[\]]*\])?[ \t]*(?:\r?\n[ \t]*)?(?=\{{)"
)
_SIGN = re.compile(r"^[ \t]*\\(?:documentclass|begin\{document\})", re.MULTILINE)
_SECTION = re.compile(r"^[ \t]*\\(?:part|chapter|section|subsection)\*?[ \t]*[\[{]", re.MULTILINE)
_LEAST_SECTIONS = 2
# A title longer than this is a forgotten brace.
_LONGEST_TITLE = 300


def looks_like_latex(text: str) -> bool:
    """Whether a text declares a document class, or has several section commands at the start of lines."""
    if _SIGN.search(text):
        return True
    return (
        sum(1 for _ in zip(range(_LEAST_SECTIONS), _SECTION.finditer(text), strict=False)) == _LEAST_SECTIONS
    )


def latex_headings(text: str) -> list[Heading]:
    """Section commands, in order; none inside comments or verbatim environments."""
    found: list[Heading] = []
    at = 0
    while (token := _TOKEN.search(text, at)) is not None:
        at = token.end()
        if token["verbatim"]:
            end = text.find(f"\\end{{{token['verbatim']}{token['star']}}}", at)
            at = len(text) if end < 0 else end
        elif token["command"]:
            end = _closing(text, at)
            if end is not None:
                title = _words(text[at + 1 : end])
                if title:
                    found.append(Heading(_LEVELS[token["command"]], title, token.start(), end + 1))
                at = end + 1
    return found


def _closing(text: str, opening: int) -> int | None:
    """The brace that closes the one at `opening`."""
    depth = 0
    at = opening
    while at < min(len(text), opening + _LONGEST_TITLE):
        if text[at] == "\\":
            at += 2
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return at
        at += 1
    return None


def _words(source: str) -> str:
    """Visible words of a title: commands go, their arguments stay."""
    words = re.sub(r"\\label\{[^{}]*\}|\\[A-Za-z]+\*?[ \t]*", "", source)
    words = re.sub(r"\\([%&#_$ ])", r"\1", words)
    return " ".join(words.replace("{", "").replace("}", "").replace("~", " ").split())
