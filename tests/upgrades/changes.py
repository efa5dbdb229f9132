"""Every kind of change that a corpus meets, and the rows that it recomputes: the table that is tested, and printed.

A change is measured on the corpus of `corpus.py`. Stages that it does not name recompute nothing and lose nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from linkrag_dagster.contracts import tables
from linkrag_dagster.extraction.html import HtmlExtractor
from linkrag_dagster.extraction.pdf import PdfExtractor
from linkrag_dagster.extraction.records import Extraction
from linkrag_dagster.stages import chunks, elements
from linkrag_dagster.stages.chunks import Chunks, FinalChunks
from linkrag_dagster.stages.elements import Elements
from linkrag_dagster.stages.embeddings import Embeddings

from .corpus import CRANE, QUESTIONS, Corpus

Step = Callable[[Corpus, pytest.MonkeyPatch], None]


ALL = -1
"""All rows that there are: an evaluation has as many as there are metrics."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a stage's counted table, by primary key; what is neither is unchanged."""

    new: int = 0
    stale: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A kind of change.

    Attributes:
        name: the test's name.
        group: the heading it is printed under.
        title: what happens, for people.
        act: does it.
        rows: what the build recomputes, by stage.
        texts: texts that the build gives to a model.
        before: what was different before the first build.
        history: what happened between that build and the change.
        failed: documents that have failed afterwards.
        slow: whether it is left to the slow tests: a relative of it is among the others.
    """

    name: str
    group: str
    title: str
    act: Step
    rows: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    texts: int = 0
    before: tuple[Step, ...] = ()
    history: tuple[Step, ...] = ()
    failed: int = 0
    slow: bool = False


BASE: Mapping[str, int] = {
    "raw_documents": 6,
    "extracted_text": 6,
    "elements": 19,
    "coarse_chunks": 8,
    "final_chunks": 9,
    "chunks": 9,
    "embeddings": 9,
    "bm25": 9,
    "evaluation": ALL,
}
"""Rows of each stage's counted table after the first build."""


def _set(**values: object) -> Step:
    """Declares values; `__` stands for the dot of a key."""

    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        del patch
        for key, value in values.items():
            corpus.set(key.replace("__", "."), value)

    return act


def _both(*steps: Step) -> Step:
    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        for step in steps:
            step(corpus, patch)

    return act


def _built(*steps: Step) -> Step:
    """Steps with a build after them."""

    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        _both(*steps)(corpus, patch)
        corpus.build()

    return act


# -- versions ----------------------------------------------------------------------------------------------------------


def _library(extractor: type[Any], name: str) -> Step:
    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        del corpus
        kept = extractor.libraries

        def libraries(self: Any) -> dict[str, str]:
            return {**kept(self), name: "99.0"}

        patch.setattr(extractor, "libraries", libraries)

    return act


def _reads_other_words(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    _library(HtmlExtractor, "justhtml")(corpus, patch)
    kept = HtmlExtractor.extract

    def extract(self: HtmlExtractor, data: bytes, *, name: str, options: Mapping[str, object]) -> Extraction:
        return kept(self, data.replace(b"hemp", b"jute"), name=name, options=options)

    patch.setattr(HtmlExtractor, "extract", extract)


def _version(module: Any, name: str) -> Step:
    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        del corpus
        kept = module.version

        def version(asked: str) -> str:
            return "99.0" if asked == name else str(kept(asked))

        patch.setattr(module, "version", version)

    return act


def _revision(stage: type[Any]) -> Step:
    """The stage's code is another one, which makes the same rows."""

    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        del corpus
        kept = stage.spec

        def spec(self: Any, road: Any, document: Any) -> Any:
            return replace(kept(self, road, document), revision=99)

        patch.setattr(stage, "spec", spec)

    return act


def _contract_checks(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del corpus
    patch.setattr(Chunks, "contract_revision", 2)


def _contract_column(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    """Before: a table without one of its columns."""
    del corpus
    full = tables.CONTRACTS["final_chunks"]
    columns = {str(name): column for name, column in full.schema.columns.items() if name != "scorer"}
    less = tables.table(full.name, full.stage, full.key, full.description, columns)
    patch.setitem(tables.CONTRACTS, "final_chunks", less)


def _undo(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del corpus
    patch.undo()


# -- documents ---------------------------------------------------------------------------------------------------------


def _edit(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    corpus.edit("ferry.md", "Saturday", "Sunday")


def _rewritten(name: str, change: Callable[[bytes], bytes]) -> Step:
    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        del patch
        path = corpus.source / name
        path.write_bytes(change(path.read_bytes()))

    return act


def _moved(old: str, new: str) -> Step:
    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        del patch
        corpus.write(new, (corpus.source / old).read_bytes())
        (corpus.source / old).unlink()

    return act


def _written(name: str, text: str) -> Step:
    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        del patch
        corpus.write(name, text)

    return act


def _copied(old: str, new: str) -> Step:
    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        del patch
        corpus.write(new, (corpus.source / old).read_bytes())

    return act


def _edit_unseen(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    """As many bytes, and the time of before."""
    del patch
    path = corpus.source / "crane.md"
    times = path.stat()
    path.write_bytes(path.read_bytes().replace(b"eleven", b"twelve"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _swap(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    one, other = (corpus.source / name for name in ("ferry.md", "crane.md"))
    data = one.read_bytes(), other.read_bytes()
    one.write_bytes(data[1])
    other.write_bytes(data[0])


def _without_winter(data: bytes) -> bytes:
    return data[: data.index(b"## Winter")]


def _with_spring(data: bytes) -> bytes:
    return (
        data
        + b"\n## Spring\n\nIn spring the crossing runs when the ice is gone, and costs half of what it costs later.\n"
    )


def _many(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    _edit(corpus, patch)
    _moved("crane.md", "derrick.md")(corpus, patch)
    (corpus.source / "notes.txt").unlink()
    corpus.write("seal.md", "# Seals\n\nGrey seals sleep on the skerries.\n")
    (corpus.source / "bell.html").touch()


def _delete(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    (corpus.source / "crane.md").unlink()


def _restore(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    corpus.write("crane.md", CRANE)


def _ask_less(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    corpus.ask(QUESTIONS[:2])


def _ask_otherwise(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    corpus.ask([("when", "At which hour does the ferry leave?", *QUESTIONS[0][2:]), *QUESTIONS[1:]])


# -- models ------------------------------------------------------------------------------------------------------------


def _encoder(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    corpus.set("embedding.model", corpus.another_model())


def _encoder_called_otherwise(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    corpus.set("embedding.model", corpus.another_model(weights=None))


def _scorer(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
    del patch
    corpus.set("chunking.scorer", corpus.another_model())


def _interrupted(stage: type[Any], *steps: Step) -> Step:
    """A build of some steps that is ended in the middle of a stage."""

    def act(corpus: Corpus, patch: pytest.MonkeyPatch) -> None:
        _both(*steps)(corpus, patch)

        def stop(self: Any, *arguments: object) -> None:
            raise KeyboardInterrupt

        with patch.context() as inner:
            inner.setattr(stage, "compute", stop)
            with pytest.raises(KeyboardInterrupt):
                corpus.build()

    return act


BY_MEANING = _set(
    chunking__strategy="semantic_depth_window",
    chunking__min_candidate_tokens=8,
    chunking__max_tokens=20,
    chunking__cohesion_window_tokens=12,
)
HEADER_OFF = _set(chunking__header=False)
LIBRARY, SETTING, DOCUMENT, QUESTION, SEVERAL = (
    "Libraries, code and contracts",
    "Settings and models",
    "Documents",
    "Questions",
    "Several at once, and back",
)

CHANGES: tuple[Change, ...] = (
    Change(
        "html_library",
        LIBRARY,
        "a library that reads HTML, the same words",
        _library(HtmlExtractor, "justhtml"),
        rows={"extracted_text": Rows(stale=1)},
        slow=True,
    ),
    Change(
        "pdf_library",
        LIBRARY,
        "a library that reads PDF, the same words",
        _library(PdfExtractor, "pymupdf"),
        rows={"extracted_text": Rows(stale=1)},
    ),
    Change(
        "html_library_other_words",
        LIBRARY,
        "a library that reads HTML, other words",
        _reads_other_words,
        rows={
            "extracted_text": Rows(stale=1),
            "elements": Rows(stale=4),
            "coarse_chunks": Rows(stale=1),
            "final_chunks": Rows(stale=1),
            "chunks": Rows(new=1, removed=1),
            "embeddings": Rows(new=1, removed=1),
            "bm25": Rows(new=1, removed=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=1,
    ),
    Change(
        "markdown_parser",
        LIBRARY,
        "the parser of Markdown, the same blocks",
        _version(elements, "markdown-it-py"),
        rows={"elements": Rows(stale=16)},
        slow=True,
    ),
    Change(
        "sentence_library",
        LIBRARY,
        "the library that finds sentences, the same cuts",
        _version(chunks, "sentencex"),
        rows={"final_chunks": Rows(stale=9)},
        slow=True,
    ),
    Change(
        "stage_revision",
        LIBRARY,
        "a stage's code, the same rows",
        _revision(Elements),
        slow=True,
        rows={"elements": Rows(stale=19)},
    ),
    Change(
        "final_revision",
        LIBRARY,
        "the code that cuts, the same cuts",
        _revision(FinalChunks),
        slow=True,
        rows={"final_chunks": Rows(stale=9)},
    ),
    Change(
        "contract_checks",
        LIBRARY,
        "what a contract checks; every row holds",
        _contract_checks,
        rows={"chunks": Rows(stale=9)},
    ),
    Change(
        "contract_column",
        LIBRARY,
        "a table gets a column",
        _undo,
        before=(_contract_column,),
        rows={"final_chunks": Rows(stale=9)},
    ),
    Change(
        "contract_severity",
        LIBRARY,
        "a rule warns from now on",
        _set(contracts__warn=["EX-03"]),
        rows={"chunks": Rows(stale=9)},
        slow=True,
    ),
    Change(
        "extractor_option",
        SETTING,
        "an extractor's option: a larger limit lets one document in",
        _set(extraction__max_bytes=20_000),
        before=(
            _set(extraction__max_bytes=2_000),
            _written("log.txt", "Salt was sold by the barrel. " * 100),
        ),
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(new=1),
            "elements": Rows(new=1),
            "coarse_chunks": Rows(new=1),
            "final_chunks": Rows(new=17),
            "chunks": Rows(new=17),
            "embeddings": Rows(new=17),
            "bm25": Rows(new=17),
            "evaluation": Rows(stale=ALL),
        },
        texts=2,
    ),
    Change(
        "extractor_option_unused",
        SETTING,
        "an extractor's option that concerns no document",
        _set(extraction__max_bytes=10_000_000),
        slow=True,
    ),
    Change(
        "max_tokens",
        SETTING,
        "the longest chunk",
        _set(chunking__max_tokens=32),
        rows={
            "coarse_chunks": Rows(stale=8),
            "final_chunks": Rows(new=2, stale=9),
            "chunks": Rows(new=4, stale=7, removed=2),
            "embeddings": Rows(new=4, removed=2),
            "bm25": Rows(new=4, removed=2),
            "evaluation": Rows(stale=ALL),
        },
        texts=4,
    ),
    Change(
        "min_tokens",
        SETTING,
        "the shortest section that a heading ends",
        _set(chunking__min_candidate_tokens=24),
        rows={"coarse_chunks": Rows(stale=8), "final_chunks": Rows(stale=9)},
        slow=True,
    ),
    Change(
        "hard_max",
        SETTING,
        "the hard maximum, which nothing reaches",
        _set(chunking__hard_max_tokens=120),
        slow=True,
        rows={"final_chunks": Rows(stale=9), "chunks": Rows(stale=9), "evaluation": Rows(stale=ALL)},
    ),
    Change(
        "by_meaning",
        SETTING,
        "cut by meaning",
        BY_MEANING,
        rows={
            "coarse_chunks": Rows(new=1, stale=8),
            "final_chunks": Rows(new=8, stale=9),
            "chunks": Rows(new=14, stale=3, removed=6),
            "embeddings": Rows(new=14, removed=6),
            "bm25": Rows(new=14, removed=6),
            "evaluation": Rows(stale=ALL),
        },
        texts=27,
        slow=True,
    ),
    Change(
        "for_comparison",
        SETTING,
        "cut by size, for comparison",
        _set(chunking__strategy="fixed", chunking__size=60),
        slow=True,
        rows={
            "final_chunks": Rows(new=18, removed=9),
            "chunks": Rows(new=18, removed=9),
            "embeddings": Rows(new=18, removed=9),
            "bm25": Rows(new=18, removed=9),
            "evaluation": Rows(stale=ALL),
        },
        texts=18,
    ),
    Change(
        "by_structure",
        SETTING,
        "cut by structure alone",
        _set(chunking__strategy="noop"),
        slow=True,
        rows={
            "final_chunks": Rows(stale=8, removed=1),
            "chunks": Rows(new=1, stale=7, removed=2),
            "embeddings": Rows(new=1, removed=2),
            "bm25": Rows(new=1, removed=2),
            "evaluation": Rows(stale=ALL),
        },
        texts=1,
    ),
    Change(
        "overlap",
        SETTING,
        "overlap with the neighbours",
        _set(chunking__overlap_tokens=8),
        slow=True,
        rows={
            "chunks": Rows(stale=9),
            "embeddings": Rows(stale=2),
            "bm25": Rows(stale=2),
            "evaluation": Rows(stale=ALL),
        },
        texts=2,
    ),
    Change(
        "header_off",
        SETTING,
        "no header before the text",
        HEADER_OFF,
        rows={
            "chunks": Rows(stale=9),
            "embeddings": Rows(stale=7),
            "bm25": Rows(stale=7),
            "evaluation": Rows(stale=ALL),
        },
        texts=7,
    ),
    Change(
        "tokenizer",
        SETTING,
        "the budget's tokenizer",
        _set(chunking__tokenizer="cl100k_base"),
        rows={
            "coarse_chunks": Rows(stale=8),
            "final_chunks": Rows(stale=9),
            "chunks": Rows(stale=9),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "encoder",
        SETTING,
        "the encoder",
        _encoder,
        rows={"embeddings": Rows(stale=9), "evaluation": Rows(stale=ALL)},
        texts=12,
    ),
    Change(
        "encoder_name", SETTING, "another name for the same encoder", _encoder_called_otherwise, slow=True
    ),
    Change(
        "scorer",
        SETTING,
        "the model that compares texts",
        _scorer,
        before=(BY_MEANING,),
        rows={"final_chunks": Rows(stale=17)},
        texts=13,
    ),
    Change("scorer_unused", SETTING, "that model, where nothing is cut by meaning", _scorer, slow=True),
    Change(
        "analyzer",
        SETTING,
        "the analyzer",
        _set(lexical__analyzer="reference"),
        rows={"bm25": Rows(stale=9), "evaluation": Rows(stale=ALL)},
    ),
    Change(
        "lexical_field",
        SETTING,
        "the text that is indexed",
        _set(lexical__field="content"),
        slow=True,
        rows={"bm25": Rows(stale=9), "evaluation": Rows(stale=ALL)},
    ),
    Change(
        "k1",
        SETTING,
        "k1",
        _set(lexical__k1=1.7),
        rows={"bm25": Rows(stale=9), "evaluation": Rows(stale=ALL)},
    ),
    Change(
        "b",
        SETTING,
        "b",
        _set(lexical__b=0.5),
        slow=True,
        rows={"bm25": Rows(stale=9), "evaluation": Rows(stale=ALL)},
    ),
    Change(
        "no_spec",
        SETTING,
        "schedule, limits, what a search returns",
        _set(schedule="0 2 * * *", limits__failed_documents=0.9, retrieval__k=9, retrieval__cut=0.5),
    ),
    Change(
        "include",
        SETTING,
        "patterns that leave documents out",
        _set(source__exclude=["*.txt", "*.pdf"]),
        rows={
            "raw_documents": Rows(removed=2),
            "extracted_text": Rows(removed=2),
            "elements": Rows(removed=5),
            "coarse_chunks": Rows(removed=2),
            "final_chunks": Rows(removed=2),
            "chunks": Rows(removed=2),
            "embeddings": Rows(removed=2),
            "bm25": Rows(removed=2),
            "evaluation": Rows(stale=ALL),
        },
        slow=True,
    ),
    Change(
        "edit",
        DOCUMENT,
        "a word in one of a document's sections",
        _edit,
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(stale=1),
            "elements": Rows(stale=5),
            "coarse_chunks": Rows(stale=2),
            "final_chunks": Rows(stale=2),
            "chunks": Rows(new=1, stale=1, removed=1),
            "embeddings": Rows(new=1, removed=1),
            "bm25": Rows(new=1, removed=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=1,
    ),
    Change(
        "edit_unseen",
        DOCUMENT,
        "a word of the same length, the file's size and time as before",
        _edit_unseen,
        slow=True,
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(stale=1),
            "elements": Rows(stale=3),
            "coarse_chunks": Rows(stale=2),
            "final_chunks": Rows(stale=3),
            "chunks": Rows(new=1, stale=2, removed=1),
            "embeddings": Rows(new=1, stale=1, removed=1),
            "bm25": Rows(new=1, stale=1, removed=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=2,
    ),
    Change(
        "section_lost",
        DOCUMENT,
        "a section less",
        _rewritten("ferry.md", _without_winter),
        slow=True,
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(stale=1),
            "elements": Rows(stale=3, removed=2),
            "coarse_chunks": Rows(stale=1, removed=1),
            "final_chunks": Rows(stale=1, removed=1),
            "chunks": Rows(stale=1, removed=1),
            "embeddings": Rows(removed=1),
            "bm25": Rows(removed=1),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "section_added",
        DOCUMENT,
        "a section more",
        _rewritten("ferry.md", _with_spring),
        slow=True,
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(stale=1),
            "elements": Rows(new=2, stale=5),
            "coarse_chunks": Rows(new=1, stale=2),
            "final_chunks": Rows(new=1, stale=2),
            "chunks": Rows(new=1, stale=2),
            "embeddings": Rows(new=1),
            "bm25": Rows(new=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=1,
    ),
    Change(
        "section_twice",
        DOCUMENT,
        "a section twice in one document",
        _rewritten("ferry.md", lambda data: data + data[data.index(b"## Winter") :]),
        slow=True,
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(stale=1),
            "elements": Rows(new=2, stale=5),
            "coarse_chunks": Rows(new=1, stale=2),
            "final_chunks": Rows(new=1, stale=2),
            "chunks": Rows(new=1, stale=2),
            "embeddings": Rows(new=1),
            "bm25": Rows(new=1),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "swap",
        DOCUMENT,
        "two documents swap their names",
        _swap,
        slow=True,
        rows={
            "raw_documents": Rows(stale=2),
            "extracted_text": Rows(stale=2),
            "elements": Rows(new=2, stale=6, removed=2),
            "coarse_chunks": Rows(stale=4),
            "final_chunks": Rows(new=1, stale=4, removed=1),
            "chunks": Rows(new=5, removed=5),
            "embeddings": Rows(new=5, removed=5),
            "bm25": Rows(new=5, removed=5),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "line_ends",
        DOCUMENT,
        "line ends",
        _rewritten("ferry.md", lambda data: data.replace(b"\n", b"\r\n")),
        rows={"raw_documents": Rows(stale=1), "extracted_text": Rows(stale=1)},
    ),
    Change(
        "byte_order_mark",
        DOCUMENT,
        "a byte order mark",
        _rewritten("灯.md", lambda data: b"\xef\xbb\xbf" + data),
        slow=True,
        rows={"raw_documents": Rows(stale=1), "extracted_text": Rows(stale=1)},
    ),
    Change(
        "encoding",
        DOCUMENT,
        "the encoding",
        _rewritten("灯.md", lambda data: data.decode().encode("utf-16")),
        slow=True,
        rows={"raw_documents": Rows(stale=1), "extracted_text": Rows(stale=1)},
    ),
    Change(
        "retitle",
        DOCUMENT,
        "the title",
        _rewritten("ferry.md", lambda data: data.replace(b"# Ferry\n", b"# Southern ferry\n", 1)),
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(stale=1),
            "elements": Rows(stale=5),
            "coarse_chunks": Rows(stale=2),
            "final_chunks": Rows(stale=2),
            "chunks": Rows(new=1, stale=1, removed=1),
            "embeddings": Rows(new=1, stale=1, removed=1),
            "bm25": Rows(new=1, stale=1, removed=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=2,
        slow=True,
    ),
    Change(
        "access",
        DOCUMENT,
        "front matter with an access label",
        _rewritten("crane.md", lambda data: b"---\naccess: [crew]\n---\n" + data),
        slow=True,
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(stale=1),
            "elements": Rows(new=1, stale=3),
            "coarse_chunks": Rows(new=1, stale=2),
            "final_chunks": Rows(new=2, stale=2, removed=1),
            "chunks": Rows(new=1, stale=3),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "add",
        DOCUMENT,
        "a new document",
        _written("seal.md", "# Seals\n\nGrey seals sleep on the skerries.\n"),
        rows={
            "raw_documents": Rows(new=1),
            "extracted_text": Rows(new=1),
            "elements": Rows(new=2),
            "coarse_chunks": Rows(new=1),
            "final_chunks": Rows(new=1),
            "chunks": Rows(new=1),
            "embeddings": Rows(new=1),
            "bm25": Rows(new=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=1,
        slow=True,
    ),
    Change(
        "rename",
        DOCUMENT,
        "renamed",
        _moved("crane.md", "derrick.md"),
        rows={
            "raw_documents": Rows(new=1, removed=1),
            "extracted_text": Rows(new=1, removed=1),
            "elements": Rows(new=3, removed=3),
            "coarse_chunks": Rows(new=2, removed=2),
            "final_chunks": Rows(new=3, removed=3),
            "chunks": Rows(new=3, removed=3),
            "embeddings": Rows(new=3, removed=3),
            "bm25": Rows(new=3, removed=3),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "move",
        DOCUMENT,
        "moved to another folder",
        _moved("ferry.md", "timetables/2026/ferry.md"),
        slow=True,
        rows={
            "raw_documents": Rows(new=1, removed=1),
            "extracted_text": Rows(new=1, removed=1),
            "elements": Rows(new=5, removed=5),
            "coarse_chunks": Rows(new=2, removed=2),
            "final_chunks": Rows(new=2, removed=2),
            "chunks": Rows(new=2, removed=2),
            "embeddings": Rows(new=2, removed=2),
            "bm25": Rows(new=2, removed=2),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "move_folder",
        DOCUMENT,
        "a folder is moved",
        _both(_moved("a/one.md", "b/c/one.md"), _moved("a/two.md", "b/c/two.md")),
        before=(
            _written("a/one.md", "# One\n\nThe first pier.\n"),
            _written("a/two.md", "# Two\n\nThe second pier.\n"),
        ),
        slow=True,
        rows={
            "raw_documents": Rows(new=2, removed=2),
            "extracted_text": Rows(new=2, removed=2),
            "elements": Rows(new=4, removed=4),
            "coarse_chunks": Rows(new=2, removed=2),
            "final_chunks": Rows(new=2, removed=2),
            "chunks": Rows(new=2, removed=2),
            "embeddings": Rows(new=2, removed=2),
            "bm25": Rows(new=2, removed=2),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "duplicate",
        DOCUMENT,
        "duplicated",
        _copied("ferry.md", "copy/ferry.md"),
        rows={
            "raw_documents": Rows(new=1),
            "extracted_text": Rows(new=1),
            "elements": Rows(new=5),
            "coarse_chunks": Rows(new=2),
            "final_chunks": Rows(new=2),
            "chunks": Rows(new=2),
            "embeddings": Rows(new=2),
            "bm25": Rows(new=2),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "delete",
        DOCUMENT,
        "deleted",
        _delete,
        rows={
            "raw_documents": Rows(removed=1),
            "extracted_text": Rows(removed=1),
            "elements": Rows(removed=3),
            "coarse_chunks": Rows(removed=2),
            "final_chunks": Rows(removed=3),
            "chunks": Rows(removed=3),
            "embeddings": Rows(removed=3),
            "bm25": Rows(removed=3),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "delete_twin",
        DOCUMENT,
        "one of two equal documents is deleted",
        _delete,
        before=(_copied("crane.md", "copy.md"),),
        slow=True,
        rows={
            "raw_documents": Rows(removed=1),
            "extracted_text": Rows(removed=1),
            "elements": Rows(removed=3),
            "coarse_chunks": Rows(removed=2),
            "final_chunks": Rows(removed=3),
            "chunks": Rows(removed=3),
            "embeddings": Rows(removed=3),
            "bm25": Rows(removed=3),
            "evaluation": Rows(stale=ALL),
        },
    ),
    Change(
        "restore",
        DOCUMENT,
        "deleted, and restored a build later",
        _restore,
        history=(_built(_delete),),
        rows={
            "raw_documents": Rows(new=1),
            "extracted_text": Rows(new=1),
            "elements": Rows(new=3),
            "coarse_chunks": Rows(new=2),
            "final_chunks": Rows(new=3),
            "chunks": Rows(new=3),
            "embeddings": Rows(new=3),
            "bm25": Rows(new=3),
            "evaluation": Rows(stale=ALL),
        },
        slow=True,
    ),
    Change(
        "version",
        DOCUMENT,
        "a further version of a document with declared versions",
        _written("v2.md", "---\nid: guide\nversion: 2\n---\n\n# Guide\n\nMoor at the east quay.\n"),
        before=(_written("v1.md", "---\nid: guide\nversion: 1\n---\n\n# Guide\n\nMoor at the west quay.\n"),),
        slow=True,
        rows={
            "raw_documents": Rows(new=1, stale=1),
            "extracted_text": Rows(new=1, stale=1),
            "elements": Rows(new=3),
            "coarse_chunks": Rows(new=2),
            "final_chunks": Rows(new=2),
            "chunks": Rows(new=2),
            "embeddings": Rows(new=1),
            "bm25": Rows(new=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=1,
    ),
    Change(
        "unreadable",
        DOCUMENT,
        "a document becomes empty: its last good rows stay",
        _rewritten("crane.md", lambda data: b""),
        failed=1,
        rows={"raw_documents": Rows(stale=1)},
        slow=True,
    ),
    Change("question_left_out", QUESTION, "a question less", _ask_less, rows={"evaluation": Rows(stale=ALL)}),
    Change(
        "question_worded_otherwise",
        QUESTION,
        "a question in other words",
        _ask_otherwise,
        slow=True,
        rows={"evaluation": Rows(stale=ALL)},
        texts=1,
    ),
    Change(
        "no_questions",
        QUESTION,
        "no questions any more",
        _set(evaluation__questions=[]),
        rows={"evaluation": Rows(removed=ALL)},
        slow=True,
    ),
    Change(
        "two_at_once",
        SEVERAL,
        "a word, and no header",
        _both(_edit, HEADER_OFF),
        rows={
            "raw_documents": Rows(stale=1),
            "extracted_text": Rows(stale=1),
            "elements": Rows(stale=5),
            "coarse_chunks": Rows(stale=2),
            "final_chunks": Rows(stale=2),
            "chunks": Rows(new=1, stale=8, removed=1),
            "embeddings": Rows(new=1, stale=6, removed=1),
            "bm25": Rows(new=1, stale=6, removed=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=7,
    ),
    Change(
        "many_at_once",
        SEVERAL,
        "a word, a new name, a document less, one more, a touched one",
        _many,
        slow=True,
        rows={
            "raw_documents": Rows(new=2, stale=1, removed=2),
            "extracted_text": Rows(new=2, stale=1, removed=2),
            "elements": Rows(new=5, stale=5, removed=6),
            "coarse_chunks": Rows(new=3, stale=2, removed=3),
            "final_chunks": Rows(new=4, stale=2, removed=4),
            "chunks": Rows(new=5, stale=1, removed=5),
            "embeddings": Rows(new=5, removed=5),
            "bm25": Rows(new=5, removed=5),
            "evaluation": Rows(stale=ALL),
        },
        texts=2,
    ),
    Change(
        "library_and_setting",
        SEVERAL,
        "a library with other words, other constants, a document less",
        _both(_reads_other_words, _set(lexical__k1=1.7), _delete),
        slow=True,
        rows={
            "raw_documents": Rows(removed=1),
            "extracted_text": Rows(stale=1, removed=1),
            "elements": Rows(stale=4, removed=3),
            "coarse_chunks": Rows(stale=1, removed=2),
            "final_chunks": Rows(stale=1, removed=3),
            "chunks": Rows(new=1, removed=4),
            "embeddings": Rows(new=1, removed=4),
            "bm25": Rows(new=1, stale=5, removed=4),
            "evaluation": Rows(stale=ALL),
        },
        texts=1,
    ),
    Change(
        "reverted_unbuilt",
        SEVERAL,
        "a setting, and back before a build",
        _both(HEADER_OFF, _set(chunking__header=True)),
        slow=True,
    ),
    Change(
        "reverted",
        SEVERAL,
        "a setting, and back after a build",
        _set(chunking__header=True),
        history=(_built(HEADER_OFF),),
        rows={
            "chunks": Rows(stale=9),
            "embeddings": Rows(stale=7),
            "bm25": Rows(stale=7),
            "evaluation": Rows(stale=ALL),
        },
        slow=True,
    ),
    Change(
        "encoder_reverted",
        SEVERAL,
        "another encoder, and back after a build",
        _set(embedding__model="all-MiniLM-L6-v2"),
        history=(_built(_encoder),),
        slow=True,
        rows={"embeddings": Rows(stale=9), "evaluation": Rows(stale=ALL)},
    ),
    Change(
        "interrupted",
        SEVERAL,
        "an upgrade while a build was interrupted",
        _set(chunking__header=True, lexical__k1=1.7),
        history=(_interrupted(Embeddings, _edit, HEADER_OFF),),
        rows={
            "chunks": Rows(stale=9),
            "embeddings": Rows(new=1, removed=1),
            "bm25": Rows(new=1, stale=8, removed=1),
            "evaluation": Rows(stale=ALL),
        },
        texts=1,
    ),
)
