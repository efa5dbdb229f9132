"""llama-index-core: the sentence splitter."""

from __future__ import annotations

from linkrag_dagster.peers.peer import PeerTools, Size, Split, library

PACKAGE = "llama-index-core"


def sentence(size: Size, tools: PeerTools) -> Split:
    """`SentenceSplitter` with its own separators and its packaged sentence model, without overlap."""

    def tokens(words: str) -> range:
        return range(tools.measure(size)(words))

    # Of what its tokenizer gives it takes the length alone.
    made = library("llama_index.core.node_parser", PACKAGE).SentenceSplitter(
        chunk_size=size.amount, chunk_overlap=0, tokenizer=tokens
    )
    return made.split_text
