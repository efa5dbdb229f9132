"""The experiment's input, read strictly: bad gold is refused by name (GO-04)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from linkrag_dagster.evaluation.records import EvidenceSpan


@dataclass(frozen=True, slots=True)
class Parameters:
    """The sizes of the experiment, in code points, and k.

    Attributes:
        fixed_size: length of a window, 1 or more.
        overlap: what two neighbouring windows share, less than `fixed_size`.
        top_k: chunks that the selection `topk` takes, 1 or more.
        char_budget: what the selection `budget` may spend, 1 or more.
    """

    fixed_size: int
    overlap: int
    top_k: int
    char_budget: int


@dataclass(frozen=True, slots=True)
class Document:
    """One version of a document."""

    doc_id: str
    version: str
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that an answer needs: alternative support groups (OR) of required spans (AND), none empty (GO-02)."""

    fact_id: str
    groups: tuple[tuple[EvidenceSpan, ...], ...]


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question with the facts that it needs; without any it has no answer in the documents."""

    question_id: str
    query: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Fixture:
    """The whole input, checked.

    Attributes:
        current: the current version of each document.
    """

    parameters: Parameters
    current: Mapping[str, str]
    documents: tuple[Document, ...]
    questions: tuple[FactQuestion, ...]


def read_fixture(fixture: object) -> Fixture:
    """Check a fixture as JSON gives it.

    Raises:
        ValueError: a field is missing or of the wrong kind, a number cannot be, an id or a document's version stands
            twice, a document has no current version, or evidence lies in an unknown document or version or outside its
            text. The message says where, and what to do.
    """
    whole = _mapping(fixture, "the fixture")
    parameters = _parameters(_field(whole, "params", "the fixture"))
    documents = tuple(
        _document(entry, f"documents[{i}]")
        for i, entry in enumerate(_filled(_field(whole, "documents", "the fixture"), "documents"))
    )
    texts: dict[tuple[str, str], str] = {}
    for document in documents:
        key = (document.doc_id, document.version)
        if key in texts:
            raise ValueError(
                f"document {document.doc_id!r} version {document.version!r} stands twice: keep one of them"
            )
        texts[key] = document.text
    current = _current(_field(whole, "currentVersions", "the fixture"), texts)
    questions = tuple(
        _question(entry, f"questions[{i}]", texts)
        for i, entry in enumerate(_filled(_field(whole, "questions", "the fixture"), "questions"))
    )
    _refuse_twice([q.question_id for q in questions], "question id", "the fixture")
    return Fixture(parameters, current, documents, questions)


def _parameters(value: object) -> Parameters:
    given = _mapping(value, "params")
    size = _whole(given, "fixedSize", "params", 1)
    overlap = _whole(given, "overlap", "params", 0)
    if overlap >= size:
        raise ValueError(
            f"params: overlap is {overlap}, fixedSize {size}: give less overlap, or windows never advance"
        )
    return Parameters(
        size, overlap, _whole(given, "topK", "params", 1), _whole(given, "charBudget", "params", 1)
    )


def _document(value: object, where: str) -> Document:
    given = _mapping(value, where)
    return Document(_name(given, "docId", where), _name(given, "version", where), _text(given, "text", where))


def _current(value: object, texts: Mapping[tuple[str, str], str]) -> dict[str, str]:
    given = _mapping(value, "currentVersions")
    current = {doc_id: _name(given, doc_id, "currentVersions") for doc_id in given}
    for doc_id, version in current.items():
        if (doc_id, version) not in texts:
            raise ValueError(
                f"currentVersions names {doc_id!r} version {version!r}, which is no document: "
                "add it, or name one that is"
            )
    if lacking := sorted({doc_id for doc_id, _ in texts} - set(current)):
        raise ValueError(f"currentVersions lacks {', '.join(map(repr, lacking))}: name its current version")
    return current


def _question(value: object, where: str, texts: Mapping[tuple[str, str], str]) -> FactQuestion:
    given = _mapping(value, where)
    question_id = _name(given, "id", where)
    where = f"question {question_id!r}"
    facts = tuple(
        _fact(entry, f"{where}, facts[{i}]", texts)
        for i, entry in enumerate(_list(_field(given, "facts", where), f"{where}: facts"))
    )
    _refuse_twice([fact.fact_id for fact in facts], "fact id", where)
    return FactQuestion(question_id, _text(given, "query", where), facts)


def _fact(value: object, where: str, texts: Mapping[tuple[str, str], str]) -> Fact:
    given = _mapping(value, where)
    fact_id = _name(given, "id", where)
    where = f"{where} {fact_id!r}"
    groups = _filled(_field(given, "groups", where), f"{where}: groups")
    return Fact(
        fact_id,
        tuple(
            tuple(
                _span(entry, f"{where}, groups[{g}][{s}]", texts)
                for s, entry in enumerate(_filled(group, f"{where}: groups[{g}]"))
            )
            for g, group in enumerate(groups)
        ),
    )


def _span(value: object, where: str, texts: Mapping[tuple[str, str], str]) -> EvidenceSpan:
    given = _mapping(value, where)
    doc_id, version = _name(given, "docId", where), _name(given, "version", where)
    text = texts.get((doc_id, version))
    if text is None:
        raise ValueError(f"{where}: no document {doc_id!r} version {version!r}: name one of the documents")
    start, end = _whole(given, "start", where, 0), _whole(given, "end", where, 0)
    if not start < end <= len(text):
        raise ValueError(
            f"{where}: [{start}, {end}) is no span of {doc_id!r} version {version!r}, "
            f"which has {len(text)} characters: give 0 <= start < end <= {len(text)}"
        )
    return EvidenceSpan(doc_id, start, end, version, text[start:end])


def _refuse_twice(names: list[str], kind: str, where: str) -> None:
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise ValueError(f"{where}: {kind} {', '.join(map(repr, twice))} stands twice: give each its own")


def _mapping(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} is {_kind(value)}: give an object")
    return cast("Mapping[str, object]", value)


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{where} is {_kind(value)}: give a list")
    return list(cast("list[object]", value))


def _filled(value: object, where: str) -> list[object]:
    entries = _list(value, where)
    if not entries:
        raise ValueError(f"{where} is empty: give one or more")
    return entries


def _field(given: Mapping[str, object], name: str, where: str) -> object:
    if name not in given:
        raise ValueError(f"{where} lacks {name!r}: add it")
    return given[name]


def _text(given: Mapping[str, object], name: str, where: str) -> str:
    value = _field(given, name, where)
    if not isinstance(value, str):
        raise ValueError(f"{where}: {name} is {_kind(value)}: give a text")
    return value


def _name(given: Mapping[str, object], name: str, where: str) -> str:
    value = _text(given, name, where)
    if not value:
        raise ValueError(f"{where}: {name} is empty: give it a name")
    return value


def _whole(given: Mapping[str, object], name: str, where: str, least: int) -> int:
    value = _field(given, name, where)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{where}: {name} is {value!r}: give a whole number of {least} or more")
    return value


def _kind(value: object) -> str:
    return "null" if value is None else f"a {type(value).__name__}"
