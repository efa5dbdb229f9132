"""Chunkers of other libraries, asked for their chunk texts and nothing else; each library is loaded when it is asked.

None of them is a dependency: `pip install "linkrag-dagster[peers]"` brings them. What they cut is found again in the
source by `locate`, so that their chunks have spans like any others.
"""

from linkrag_dagster.peers.locating import LocatedChunk, locate
from linkrag_dagster.peers.peer import Peer, PeerFailed, PeerMissing, PeerTools, Size, Split, UnknownPeer
from linkrag_dagster.peers.registry import PEERS, load_peer

__all__ = [
    "PEERS",
    "LocatedChunk",
    "Peer",
    "PeerFailed",
    "PeerMissing",
    "PeerTools",
    "Size",
    "Split",
    "UnknownPeer",
    "load_peer",
    "locate",
]
