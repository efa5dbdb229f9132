"""Peers by name, and the real libraries where they are installed (part of SX-02)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from linkrag_dagster.peers import (
    PEERS,
    Peer,
    PeerFailed,
    PeerMissing,
    PeerTools,
    Size,
    UnknownPeer,
    load_peer,
    locate,
)
from linkrag_dagster.peers.peer import library

MODULES = {
    "langchain": "langchain_text_splitters",
    "chonkie": "chonkie",
    "semantic_text_splitter": "semantic_text_splitter",
    "llama_index": "llama_index.core.node_parser",
}
WHOLE_SENTENCES = ("chonkie_sentence", "chonkie_semantic")
"""Peers that cut no sentence, however long; a sentence ends with a blank after its mark."""
PROSE = (
    "# Ferry\n\nThe ferry to Lundholm leaves the north quay at seven. It takes twelve cars, and nobody has counted "
    "the bicycles. In winter only the Saturday crossing runs.\n\n## Signals\n\nA red pennant tells passengers that "
    "the crossing is off. 灯每九秒转一圈。看守每天擦拭棱镜，并记下每一块破损的玻璃。 The lamp turns once in nine "
    "seconds, and its keeper polishes the prism every day.\n"
)


def tools() -> PeerTools:
    """Words and single marks as tokens; vectors that tell letters apart."""

    def pieces(text: str) -> list[str]:
        made: list[str] = []
        for letter in text:
            if (
                made
                and letter.isascii()
                and letter.isalnum()
                and made[-1].isascii()
                and made[-1][-1].isalnum()
            ):
                made[-1] += letter
            else:
                made.append(letter)
        return made

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [[text.count(letter) + 0.1 for letter in "aeiou"] for text in texts]
        found = np.array(rows, dtype=np.float32).reshape(-1, 5)
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    return PeerTools(lambda text: len(pieces(text)), pieces, embed, 5)


@pytest.mark.parametrize("size", [Size(30), Size(120, in_tokens=False)], ids=str)
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.filterwarnings("ignore")
def test_real_peers(name: str, size: Size) -> None:
    """Each library cuts within the size, says its version, and every word of the source is in its chunks."""
    module = next(module for begin, module in MODULES.items() if name.startswith(begin))
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"{module} is not installed (extra `peers`)")
    lent = tools()
    peer = load_peer(name, size, lent)
    assert peer.version and peer.settings["size"] == str(size)
    chunks = peer.split(PROSE)
    measure = lent.measure(size)
    assert len(chunks) > 1
    if name not in WHOLE_SENTENCES:
        assert max(map(measure, chunks)) <= size.amount
    located = locate(chunks, PROSE)
    held = {place for chunk in located for start, end in chunk.spans for place in range(start, end)}
    assert all(place in held for place, letter in enumerate(PROSE) if not letter.isspace())
    if "markdown" not in name:
        assert all(chunk.exact for chunk in located)


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which library, and how to get it."""
    with pytest.raises(PeerMissing, match=r"no-such-thing .*linkrag-dagster\[peers\]"):
        library("no_such_thing_anywhere", "no-such-thing")
    monkeypatch.setattr("importlib.metadata.Distribution.from_name", _absent)
    with pytest.raises(PeerMissing, match=r"linkrag-dagster\[peers\]"):
        load_peer("langchain_recursive", Size(20), tools())


def _absent(name: str) -> None:
    from importlib.metadata import PackageNotFoundError

    raise PackageNotFoundError(name)


def test_names_and_sizes() -> None:
    """A wrong name gets a suggestion, a wrong size an example."""
    with pytest.raises(UnknownPeer, match="did you mean chonkie_recursive"):
        load_peer("chonkie_recursiv", Size(20), tools())
    assert str(Size.of("512c")) == "512c" and Size.of("128") == Size(128)
    for wrong in ("", "0", "c", "12k", "-3", "1.5"):
        with pytest.raises(UnknownPeer, match="512c"):
            Size.of(wrong)


def test_a_failing_library_is_named_with_the_document() -> None:
    """Whatever a library raises says which one, which document, and what to do."""

    def broken(text: str) -> list[str]:
        raise ZeroDivisionError(text)

    with pytest.raises(PeerFailed, match=r"some 1\.0 .*'d7'.*ZeroDivisionError.*leave"):
        Peer("x", "some", "1.0", {}, broken).split("words", "d7")
    assert Peer("x", "some", "1.0", {}, lambda text: ["a", " \n", text]).split("b") == ["a", "b"]
