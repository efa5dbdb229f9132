"""semantic-text-splitter: the binding of the Rust crate text-splitter, for text and for Markdown."""

from __future__ import annotations

from typing import Any

from linkrag_dagster.peers.peer import PeerTools, Size, Split, library

PACKAGE = "semantic-text-splitter"
MODULE = "semantic_text_splitter"


def text(size: Size, tools: PeerTools) -> Split:
    """`TextSplitter`: Unicode words and sentences, line breaks."""
    return _made(library(MODULE, PACKAGE).TextSplitter, size, tools)


def markdown(size: Size, tools: PeerTools) -> Split:
    """`MarkdownSplitter`: CommonMark blocks and headings, too."""
    return _made(library(MODULE, PACKAGE).MarkdownSplitter, size, tools)


def _made(splitter: Any, size: Size, tools: PeerTools) -> Split:
    made = splitter.from_callback(tools.count, size.amount) if size.in_tokens else splitter(size.amount)
    return made.chunks
