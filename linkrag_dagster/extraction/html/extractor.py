"""The extractor of HTML pages."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from justhtml import Element

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.html.blocks import Walk, arranging
from linkrag_dagster.extraction.html.decoding import decode_page
from linkrag_dagster.extraction.html.source import Source, parse_page
from linkrag_dagster.extraction.html.visibility import Node, attribute, has_words, is_shown, main_parts, texts
from linkrag_dagster.extraction.html.writing import write
from linkrag_dagster.extraction.language import guess_language
from linkrag_dagster.extraction.locators import Locator
from linkrag_dagster.extraction.records import Extraction

VIEWS = ("main", "full")


@dataclass(frozen=True, slots=True)
class HtmlExtractor:
    """Reads a page as a browser would and writes what it shows as Markdown.

    Options: `view` is `main` (default: without navigation, page header and footer, sidebars) or `full`. A page that
    is furniture alone is read in full.
    """

    name: str = "html"
    version: str = "2"
    media_types: tuple[str, ...] = ("text/html", "application/xhtml+xml")

    def libraries(self) -> Mapping[str, str]:
        """Versions on which the text depends."""
        return {
            "chardet": version("chardet"),
            "justhtml": version("justhtml"),
            "python": platform.python_version(),
        }

    def recognition(self) -> Mapping[str, str]:
        """None."""
        return {}

    def extract(self, data: bytes, *, name: str, options: Mapping[str, object]) -> Extraction:
        """The page's text; locators count code points of the decoded page (`#char=a,b`).

        Raises:
            ExtractionError: `empty` (no bytes), `no_text` (nothing is shown), `decode` (no text).
            ValueError: an unknown `view`.
        """
        if not data:
            raise ExtractionError("empty", f"{name} has no bytes: write it, or delete it")
        view = options.get("view", "main")
        if view not in VIEWS:
            raise ValueError(f"view {view!r}: one of {', '.join(VIEWS)}")
        decoded = decode_page(data)
        source = parse_page(decoded.text)
        text, locators = _written(source, whole=view == "full")
        if not text.strip() and view == "main":
            text, locators = _written(source, whole=True)
        if not text.strip():
            raise ExtractionError(
                "no_text",
                f"{name} shows no words without running its scripts: save the page as a browser shows it, "
                "or exclude it",
            )
        return Extraction(
            text=text,
            title=_title(source),
            language=_language(source) or guess_language(text),
            media_type="application/xhtml+xml"
            if decoded.text.lstrip()[:5].lower() == "<?xml"
            else "text/html",
            markup="markdown",
            extractor=self.name,
            extractor_version=self.version,
            encoding=decoded.encoding,
            locators=locators,
        )


def _written(source: Source, *, whole: bool) -> tuple[str, tuple[Locator, ...]]:
    parts = [] if whole else [part for part in main_parts(source.root) if has_words(part)]
    body = _first(source.root, "body") or source.root
    roots = parts or [body]
    walk = Walk(source, whole=whole, arranging=arranging(source.root))
    blocks = [block for root in roots for block in walk.blocks(root)]
    if not whole and not any(block.lines[0].startswith("# ") for block in blocks):
        # The page's own header may hold the document's title.
        head = next(iter(_headings(body)), None)
        if head is not None:
            blocks = [*walk.blocks(head), *blocks]
    return write(blocks)


def _headings(root: Node) -> list[Node]:
    """The shown headings of level 1."""
    found: list[Node] = []
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if not is_shown(node):
            continue
        if node.name == "h1" and has_words(node):
            found.append(node)
        stack += [child for child in reversed(node.children or ()) if isinstance(child, Element)]
    return found


def _title(source: Source) -> str | None:
    """The page's title; the first heading where the title repeats it with the site's name around."""
    element = _first(source.root, "title")
    words = [] if element is None else [text.data or "" for text in texts(element)]
    title = " ".join(source.restored("".join(words)).split())
    for head in _headings(source.root):
        heading = " ".join("".join(source.restored(text.data or "") for text in texts(head)).split())
        if not title or heading in title:
            return heading
        break
    return title or None


def _language(source: Source) -> str | None:
    root = _first(source.root, "html")
    declared = "" if root is None else attribute(root, "lang") or attribute(root, "xml:lang") or ""
    code = declared.replace("_", "-").split("-")[0].strip().lower()
    return code if code.isalpha() and len(code) in (2, 3) else None


def _first(root: Node, name: str) -> Element | None:
    """The first element of that name in the page itself, not in a drawing."""
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Element):
            if node.name == name:
                return node
            if node.name in ("svg", "math"):
                continue
        stack += [child for child in reversed(node.children or ()) if isinstance(child, Element)]
    return None


HTML_EXTRACTOR = HtmlExtractor()
