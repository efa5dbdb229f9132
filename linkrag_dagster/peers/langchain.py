"""langchain-text-splitters: the recursive splitter, and the one by Markdown headings before it."""

from __future__ import annotations

from linkrag_dagster.peers.peer import PeerTools, Size, Split, library

PACKAGE = "langchain-text-splitters"
MODULE = "langchain_text_splitters"
HEADINGS = [("#" * level, f"h{level}") for level in range(1, 7)]


def recursive(size: Size, tools: PeerTools) -> Split:
    """`RecursiveCharacterTextSplitter` with its own separators, without overlap."""
    made = library(MODULE, PACKAGE).RecursiveCharacterTextSplitter(
        chunk_size=size.amount, chunk_overlap=0, length_function=tools.measure(size)
    )
    return made.split_text


def markdown(size: Size, tools: PeerTools) -> Split:
    """`MarkdownHeaderTextSplitter` at all six levels, then the recursive one in each section.

    Headings stay in the text: stripped ones, its default, are text that no chunk holds.
    """
    by_heading = library(MODULE, PACKAGE).MarkdownHeaderTextSplitter(HEADINGS, strip_headers=False)
    inside = recursive(size, tools)

    def split(text: str) -> list[str]:
        sections: list[str] = [section.page_content for section in by_heading.split_text(text)]
        return [piece for section in sections for piece in inside(section)]

    return split
