"""What of a page is shown to a reader, and what of that is its content (XT-10)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from justhtml import Document, DocumentFragment, Element, Text

Node = Document | DocumentFragment | Element

_UNSEEN = """
head script style template noscript iframe object embed applet canvas audio video map datalist select
button input textarea progress meter param source track link meta base title area frame frameset
"""
UNSEEN = frozenset(_UNSEEN.split())
"""Elements without words of the page: its machinery, and controls, whose words are the program's."""

_HIDING = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.IGNORECASE)
_FURNITURE_ROLES = frozenset(
    ["navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog", "alertdialog"]
)
_SECTIONING = frozenset(("article", "main", "section"))


def attribute(node: Node, name: str) -> str | None:
    """An attribute's value; an empty text for one without a value."""
    attributes = node.attrs or {}
    return (attributes[name] or "") if name in attributes else None


def is_shown(node: Node) -> bool:
    """Whether an element is shown: by its kind, and by its own attributes. Style sheets aren't read."""
    attributes = node.attrs or {}
    if node.name in UNSEEN or (node.name == "dialog" and "open" not in attributes):
        return False
    if "hidden" in attributes or (attributes.get("aria-hidden") or "").lower() == "true":
        return False
    style = attributes.get("style")
    return not (style and _HIDING.search(style))


def is_furniture(node: Node, *, sectioned: bool) -> bool:
    """Whether an element belongs to the site and not to the document: navigation, page header and footer, sidebar.

    Inside an article, a section or the main part (`sectioned`), header, footer and aside are the document's own.
    """
    if node.name == "nav" or (attribute(node, "role") or "").lower() in _FURNITURE_ROLES:
        return True
    return node.name in ("header", "footer", "aside") and not sectioned


def begins_section(node: Node) -> bool:
    """Whether header, footer and aside below belong to this element and not to the page."""
    return node.name in _SECTIONING or (attribute(node, "role") or "").lower() in ("main", "article")


def main_parts(root: Node) -> list[Node]:
    """The outermost shown elements that are declared the page's main part, in order."""
    found: list[Node] = []
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if node is not root and not is_shown(node):
            continue
        if node.name == "main" or (attribute(node, "role") or "").lower() == "main":
            found.append(node)
        else:
            stack += [child for child in reversed(node.children or ()) if isinstance(child, Element)]
    return found


def texts(root: Node) -> Iterator[Text]:
    """The shown texts below an element, in order."""
    stack: list[object] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Text):
            yield node
        elif isinstance(node, Node) and (node is root or is_shown(node)):
            stack += reversed(node.children or ())


def has_words(root: Node) -> bool:
    """Whether anything but white space is shown below an element."""
    return any((text.data or "").strip() for text in texts(root))
