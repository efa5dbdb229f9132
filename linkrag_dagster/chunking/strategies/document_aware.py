"""ST-03, `document_aware`: by the format's own syntax; headings and symbols become the trail (seed 001)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from linkrag_dagster.chunking.strategies.pieces import END, Cutting, Piece, Source, visible
from linkrag_dagster.chunking.strategies.recursive import BLANK_LINE, LINE, recursive, split
from linkrag_dagster.chunking.strategies.syntax.detection import (
    HTML,
    LANGUAGES,
    LATEX,
    MARKDOWN,
    PLAIN,
    PYTHON,
    Syntax,
    syntax_of,
)
from linkrag_dagster.chunking.strategies.syntax.grammars import GRAMMARS, grammar_symbols, installed
from linkrag_dagster.chunking.strategies.syntax.html import html_block_ends, html_headings, visible_words
from linkrag_dagster.chunking.strategies.syntax.latex import latex_headings
from linkrag_dagster.chunking.strategies.syntax.python import python_symbols
from linkrag_dagster.chunking.strategies.syntax.symbols import Heading, Symbol
from linkrag_dagster.chunking.strategies.units import Units
from linkrag_dagster.markdown.elements import PROTECTED_KINDS, Element

SECTION, DEFINITION, BLOCK = "section", "definition", "block"


def document_aware(source: Source) -> Cutting:
    """A piece a section or a definition; longer ones by their blocks or members, then as `recursive` cuts.

    Headings stand in the trail instead of the pieces, save those that nothing follows. A class that fits the size stays
    whole; else it is cut into its own lines and its members, whose trail is the path of symbols. A text without syntax
    is cut as `recursive` cuts, and the reason says so.

    Raises:
        ValueError: a language that is not known, or whose grammar is not installed.
    """
    return by_syntax(source, named_syntax(source) or syntax_of(source.text, source.elements))


def named_syntax(source: Source) -> Syntax | None:
    """The syntax that the settings or the caller name; None for none."""
    name = source.settings.language or source.language
    if not name:
        return None
    if name not in LANGUAGES:
        raise ValueError(f"language: {name!r} is not known; there are {', '.join(LANGUAGES)}")
    if name in GRAMMARS and not installed(name):
        package = GRAMMARS[name].module.replace("_", "-")
        raise ValueError(
            f"language: the grammar of {name} is not installed; install {package}, or the extra `syntax`"
        )
    return Syntax(name, f"declared as {name}")


def by_syntax(source: Source, syntax: Syntax) -> Cutting:
    """The pieces of a text in that syntax."""
    writer = _Writer(source)
    if syntax.name == MARKDOWN:
        pieces = list(writer.markdown())
    elif syntax.name in (HTML, LATEX):
        found = syntax.headings
        if found is None:
            found = html_headings(source.text) if syntax.name == HTML else latex_headings(source.text)
        pieces = list(writer.sections(found, tags=syntax.name == HTML))
    elif syntax.name != PLAIN:
        symbols = syntax.symbols
        if symbols is None and syntax.name == PYTHON:
            symbols = python_symbols(source.text)
        elif symbols is None:
            symbols = grammar_symbols(source.text, syntax.name)
        pieces = list(writer.code(symbols or [], 0, len(source.text), ()))
    else:
        pieces = list(recursive(source).pieces)
    if pieces:
        pieces[-1] = replace(pieces[-1], ends=END)
    return Cutting(pieces, reason=f"{syntax.name}: {syntax.reason}")


class _Writer:
    def __init__(self, source: Source) -> None:
        self._text = source.text
        self._elements = source.elements
        self._limit = source.settings.usual_size
        self._units = Units(source.text, source.tokenizer if source.settings.in_tokens else None)

    def markdown(self) -> Iterator[Piece]:
        """Sections of Markdown: blocks below a heading, packed up to the size; code and tables by whole lines."""
        heading: Element | None = None
        body: list[Element] = []
        for element in [*self._elements, None]:
            if element is not None and element.kind == "front_matter":
                yield from self._blocks([element])
                continue
            if element is not None and element.kind != "heading":
                body.append(element)
                continue
            if body:
                yield from self._ended(self._blocks(body), SECTION)
            elif heading is not None and not _stands_over(heading, element):
                yield from self._ended(self._cut(heading.start_char, heading.end_char), SECTION)
            heading, body = element, []

    def _blocks(self, elements: Sequence[Element]) -> Iterator[Piece]:
        held: tuple[int, int] | None = None
        for element in elements:
            start, end = element.start_char, element.end_char
            if element.kind == "rule":
                continue
            if held is not None and self._units.fits(held[0], end, self._limit):
                held = (held[0], end)
                continue
            if held is not None:
                yield Piece(*held, BLOCK)
            held = (start, end)
            if not self._units.fits(start, end, self._limit):
                held = None
                first = LINE if element.kind in PROTECTED_KINDS else BLANK_LINE
                yield from self._ended(self._cut(start, end, first), BLOCK)
        if held is not None:
            yield Piece(*held, BLOCK)

    def sections(self, headings: Sequence[Heading], tags: bool) -> Iterator[Piece]:
        """Sections of a markup.

        Args:
            headings: in order.
            tags: whether the text is HTML, where what holds tags alone makes no piece.
        """
        above: list[Heading] = []
        starts = [h.start for h in headings]
        if not headings or headings[0].start > 0:
            end = starts[0] if starts else len(self._text)
            yield from self._ended(self._section(0, end, (), tags), SECTION)
        for number, heading in enumerate(headings):
            above = [h for h in above if h.level < heading.level] + [heading]
            trail = tuple(h.title for h in above)
            end = starts[number + 1] if number + 1 < len(starts) else len(self._text)
            made = list(self._section(heading.end, end, trail, tags))
            following = headings[number + 1] if number + 1 < len(headings) else None
            if not made and (following is None or following.level <= heading.level):
                made = [replace(p, trail=trail) for p in self._cut(heading.start, heading.end)]
            yield from self._ended(made, SECTION)

    def _section(self, start: int, end: int, trail: tuple[str, ...], tags: bool) -> Iterator[Piece]:
        if not tags:
            yield from (replace(p, trail=trail) for p in self._cut(start, end))
        elif visible_words(self._text[start:end]):
            yield from (replace(p, trail=trail) for p in self._tagged(start, end))

    def _tagged(self, start: int, end: int) -> Iterator[Piece]:
        """HTML packed up to the size, cut behind blocks; a longer block as `recursive` cuts."""
        begin = at = start
        for block in [*(b for b in html_block_ends(self._text, start, end)), end]:
            if at > begin and not self._units.fits(begin, block, self._limit):
                yield from self._ended(self._cut(begin, at), BLOCK)
                begin = at
            at = block
        yield from self._cut(begin, end)

    def code(
        self, symbols: Sequence[Symbol], start: int, end: int, trail: tuple[str, ...]
    ) -> Iterator[Piece]:
        """Definitions in their order, and the lines between them."""
        at = start
        for symbol in symbols:
            yield from self._lines(at, symbol.start, trail)
            path = (*trail, symbol.name)
            first, last = visible(self._text, symbol.start, symbol.end)
            if self._units.fits(first, last, self._limit) or not symbol.members:
                yield from self._lines(symbol.start, symbol.end, path)
            else:
                yield from self._ended(self.code(symbol.members, symbol.start, symbol.end, path), DEFINITION)
            at = symbol.end
        yield from self._lines(at, end, trail)

    def _lines(self, start: int, end: int, trail: tuple[str, ...]) -> Iterator[Piece]:
        yield from self._ended((replace(p, trail=trail) for p in self._cut(start, end)), DEFINITION)

    def _cut(self, start: int, end: int, first: str = BLANK_LINE) -> list[Piece]:
        return split(self._text, self._units, self._limit, start, end, first=first)

    def _ended(self, pieces: Iterator[Piece] | Sequence[Piece], ends: str) -> Iterator[Piece]:
        """Pieces, the last with that end."""
        held: Piece | None = None
        for piece in pieces:
            if held is not None:
                yield held
            held = piece
        if held is not None:
            yield replace(held, ends=ends)


def _stands_over(heading: Element, following: Element | None) -> bool:
    """Whether another heading stands under this one: its trail holds the title."""
    return following is not None and (following.level or 0) > (heading.level or 0)
