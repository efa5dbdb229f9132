"""Elements of a text by its markup: which parser reads what (EL-01)."""

from __future__ import annotations

from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.markdown.parser import parse
from linkrag_dagster.markdown.plain import parse_plain

_PARSERS = {"markdown": parse, "plain": parse_plain}


def parse_markup(text: str, markup: str) -> list[Element]:
    """The elements of a text whose markup is `markdown` or `plain`.

    Raises:
        MarkdownError: the text can't be parsed.
    """
    return _PARSERS[markup](text)
