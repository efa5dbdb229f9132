"""Each kind of failure from a file or a situation of its own: in exactly that kind, and alone (FA-01, CO-03, XT-11)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np
import pymupdf
import pytest
from numpy.typing import NDArray

from linkrag_dagster.contracts.tables import FAILURE_KINDS
from linkrag_dagster.embedding.errors import BadVectors
from linkrag_dagster.extraction.failures import RETRYABLE
from linkrag_dagster.lake.status import corpus_status
from linkrag_dagster.stages.plan import plan_road
from linkrag_dagster.stages.road import STAGES
from linkrag_dagster.stages.stage import DocumentFailure
from tests.upgrades.corpus import Corpus, HashEncoder

UNSPEAKABLE = "unspeakable"
LIMIT = 60_000


def _pdf(text: str = "", **saving: Any) -> bytes:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), text)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return bytes(document.tobytes(**saving))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


def _encrypted() -> bytes:
    return _pdf(
        "secret",
        encryption=pymupdf.PDF_ENCRYPT_AES_256,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        owner_pw="owner",
        user_pw="user",
    )


WORD_OF_TOO_MANY_PIECES = "antidisestablishmentarianism" * 60

FILES: dict[str, dict[str, Callable[[], bytes]]] = {
    "encrypted": {"locked.pdf": _encrypted},
    "empty": {"nothing.md": bytes, "nothing.pdf": bytes, "nothing.html": bytes},
    "corrupt": {
        "torn.pdf": lambda: b"%PDF-1.7\n1 0 obj\n<< /Type",
        "noise.pdf": lambda: b"%PDF-1.4\n" + _noise(2000),
    },
    "unsupported": {
        "picture.png": lambda: b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + _noise(500),
        "picture-called.md": lambda: b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + _noise(500),
    },
    "too_large": {
        "long.txt": lambda: b"word " * LIMIT,
        "long.pdf": lambda: _pdf("a word") + b"%" * 5 * LIMIT,
    },
    "no_text": {
        "blank.md": lambda: b" \n\t\n",
        "blank.pdf": _pdf,
        "script.html": lambda: (
            b"<html><head><title></title></head><body><script>let a = 1</script></body></html>"
        ),
    },
    "decode": {
        "cut.md": lambda: "# Über\n\nÄpfel und Öl, für die Überfahrt.\n".encode() * 20 + b"\xff\n",
        "binary.txt": lambda: bytes(range(1, 32)) * 20 + b"\x00",
    },
    # One word longer than the model's window, where that is declared an error: the promise of whole texts breaks.
    "contract": {"word.md": lambda: f"# Word\n\n{WORD_OF_TOO_MANY_PIECES}\n".encode()},
    "embedding": {"bad.md": lambda: f"# Bad\n\nWords that are {UNSPEAKABLE}.\n".encode()},
    "source": {"twin-b.md": lambda: b"---\nid: twin\n---\n\nThe second.\n"},
}
"""Files by the kind in which they must end, among others that are good."""
GOOD = {
    "ferry.md": b"# Ferry\n\nThe ferry leaves at seven.\n",
    "a-twin.md": b"---\nid: twin\n---\n\nThe first.\n",
    "good.pdf": _pdf("A good page."),
}
ISOLATED = frozenset({"timeout", "memory", "crash"})
"""Kinds that a worker process ends in; their documents are those of test_isolation.py."""


class Refusing(HashEncoder):
    """Gives texts with one word no vector."""

    def _embed(
        self, texts: Sequence[str], prompt: str, on_progress: Callable[[int, int], None] | None
    ) -> NDArray[np.float32]:
        vectors = super()._embed(texts, prompt, on_progress)
        bad = {place: "it is not finite" for place, text in enumerate(texts) if UNSPEAKABLE in text}
        if bad:
            raise BadVectors(bad, vectors)
        return vectors


@pytest.fixture(scope="module")
def failed_corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A corpus with a file of every kind of failure, built."""
    corpus = Corpus(tmp_path_factory.mktemp("failures") / "project", documents=GOOD)
    for kind, files in FILES.items():
        for name, make in files.items():
            corpus.write(f"{kind}/{name}", make())
    corpus.set("extraction.max_bytes", 5 * LIMIT - 1)
    corpus.set("limits.failed_documents", 1.0)
    corpus.set("chunking.overflow", "error")
    corpus.set("chunking.oversize", "truncate")
    for name, tokens in {"min_candidate_tokens": 100, "max_tokens": 1000, "hard_max_tokens": 2000}.items():
        corpus.set(f"chunking.{name}", tokens)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LINKRAG_LAKE", raising=False)
        corpus.build(encoder=Refusing)
    return corpus


def test_every_kind_has_its_file() -> None:
    """FA-01: a kind without a file that ends in it has no test; a new one must bring its own."""
    assert set(RETRYABLE) < set(FAILURE_KINDS)
    # Those that depend on the machine; all else depends on the bytes, and has them here.
    assert {kind for kind, again in RETRYABLE.items() if again} == ISOLATED
    assert FILES.keys() | ISOLATED == set(FAILURE_KINDS) and all(FILES.values())
    with pytest.raises(ValueError, match="unknown failure kind 'other'"):
        DocumentFailure("a", "other", "whatever")


def test_each_file_ends_in_its_kind_and_costs_no_other(failed_corpus: Corpus) -> None:
    """FA-01, CO-03: by name, in exactly that kind; the good ones are whole, the failed ones have one row."""
    road = failed_corpus.road()
    wanted = {f"{kind}/{name}": kind for kind, files in FILES.items() for name in files}
    failed = corpus_status(road.lake).failed
    assert {row["doc_name"]: row["kind"] for row in failed} == wanted
    generation = road.lake.current()
    names = {key: row["doc_name"] for key, row in road.documents(generation).items()}
    assert set(names.values()) == wanted.keys() | GOOD.keys()
    for table in (stage.tables[0] for stage in road.document_stages):
        keys = road.lake.read(generation, table, columns=["doc_key"])["doc_key"].to_list()
        assert {names[key] for key in keys} == GOOD.keys(), table
    retryable = {row["kind"] for row in failed if row["retryable"]}
    assert retryable == {"embedding"}


def test_old_failures_cost_nothing(failed_corpus: Corpus) -> None:
    """FA-01: a build with old failures computes nothing and says so; a mended one is tried again."""
    again = failed_corpus.build(encoder=Refusing)
    assert again.plan is not None and again.plan.idle and again.embedded_texts == 0
    assert again.failed == sum(map(len, FILES.values()))
    assert plan_road(failed_corpus.road(), STAGES).idle


def test_status_and_catalogue_say_what_to_do(failed_corpus: Corpus) -> None:
    """FA-01, FA-02: for each document what happened and the next step, the same in both; counts are those stored."""
    road = failed_corpus.road()
    told = {row["doc_name"]: row for row in corpus_status(road.lake).as_dict()["failed_documents"]}
    with duckdb.connect(str(road.lake_root / "warehouse.duckdb"), read_only=True) as connection:
        helped = connection.sql(
            "SELECT doc_name, kind, message, what_to_do FROM harbour.failures_help"
        ).fetchall()
        counted = connection.sql("SELECT kind, count(*) FROM harbour.failures GROUP BY kind").fetchall()
        documents = connection.sql("SELECT doc_name, failure FROM harbour.documents").fetchall()
    assert {name: (kind, words, step) for name, kind, words, step in helped} == {
        name: (row["kind"], row["message"], row["what_to_do"]) for name, row in told.items()
    }
    assert dict(counted) == corpus_status(road.lake).failures
    assert dict(documents) == {name: None for name in GOOD} | {
        name: row["kind"] for name, row in told.items()
    }
    assert all(len(row["message"]) > 20 and len(row["what_to_do"]) > 20 for row in told.values())
    assert "linkrag retry harbour" in told["embedding/bad.md"]["what_to_do"]
