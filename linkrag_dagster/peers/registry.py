"""The peers by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from linkrag_dagster.peers import chonkie, langchain, llama_index, semantic_text_splitter
from linkrag_dagster.peers.peer import Peer, PeerTools, Size, Split, UnknownPeer, installed


@dataclass(frozen=True, slots=True)
class _Kind:
    package: str
    build: Callable[[Size, PeerTools], Split]
    embeds: bool = False


_KINDS = {
    "langchain_recursive": _Kind(langchain.PACKAGE, langchain.recursive),
    "langchain_markdown": _Kind(langchain.PACKAGE, langchain.markdown),
    "chonkie_recursive": _Kind(chonkie.PACKAGE, chonkie.recursive),
    "chonkie_sentence": _Kind(chonkie.PACKAGE, chonkie.sentence),
    "chonkie_semantic": _Kind(chonkie.PACKAGE, chonkie.semantic, embeds=True),
    "semantic_text_splitter": _Kind(semantic_text_splitter.PACKAGE, semantic_text_splitter.text),
    "semantic_text_splitter_markdown": _Kind(semantic_text_splitter.PACKAGE, semantic_text_splitter.markdown),
    "llama_index_sentence": _Kind(llama_index.PACKAGE, llama_index.sentence),
}
PEERS = tuple(_KINDS)
"""All peers: the library's name, then its way of cutting."""
REVISION = 1
"""Raised by hand when the settings that are given to a library change."""


def load_peer(name: str, size: Size, tools: PeerTools) -> Peer:
    """A peer, its library loaded.

    Args:
        name: one of `PEERS`.
        size: longest chunk.
        tools: the experiment's tokenizer and encoder.

    Raises:
        UnknownPeer: there is no such peer.
        PeerMissing: its library is not installed.
    """
    if name not in _KINDS:
        near = difflib.get_close_matches(name, PEERS, n=1)
        raise UnknownPeer(
            f"no peer is called {name!r}; "
            + (f"did you mean {near[0]}?" if near else f"there are {', '.join(PEERS)}")
        )
    kind = _KINDS[name]
    return Peer(
        name=name,
        package=kind.package,
        version=installed(kind.package),
        settings={"size": str(size), "overlap": 0, "revision": REVISION},
        cut=kind.build(size, tools),
        embeds=kind.embeds,
    )
