"""What of an atom is compared with its neighbours (SD-03)."""

from __future__ import annotations

import html
import re

from linkrag_dagster.chunking.atoms import Atom
from linkrag_dagster.chunking.derived import DERIVED_KINDS
from linkrag_dagster.markdown.elements import PROTECTED_KINDS, Element

_NEVER = frozenset({"heading", "definition", "front_matter"})
# What is no visible text of an HTML block; each alternative ends at the latest at the end, so that it reads linearly.
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE
)


def scored_text(atom: Atom, content: str, element: Element) -> str | None:
    """The text whose vector stands for the atom; None for an atom that is not scored.

    Paragraphs, lists, quotes and footnotes stand for themselves, HTML by its visible text, images and tables by their
    description or summary alone; headings, code, math and definitions are never scored.

    Args:
        atom: an atom.
        content: the coarse content it stands in.
        element: its element.
    """
    if atom.blank or atom.heading or atom.kind in _NEVER:
        return None
    if atom.kind in DERIVED_KINDS:
        # A table nested in a list is no element and has no summary.
        described = element.description if element.kind == atom.kind else None
        return (described or "").strip() or None
    if atom.kind in PROTECTED_KINDS:
        return None
    words = content[atom.start : atom.end]
    if atom.kind == "html":
        words = html.unescape(_MARKUP.sub(" ", words))
    return words.strip() or None
