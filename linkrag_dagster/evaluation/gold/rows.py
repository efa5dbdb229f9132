"""Rows of JSON Lines, read strictly where a field is needed and leniently about further ones (GO-04)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from linkrag_dagster.evaluation.gold.errors import FaultList
from linkrag_dagster.evaluation.gold.files import GoldFile

UNANSWERABLE_KINDS = ("out_of_domain", "near_miss", "squad2_adversarial", "document_absent_from_corpus")
"""Why a corpus does not hold the answer (ME-07)."""

DOCUMENT_ABSENT = "document_absent_from_corpus"


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file, or one inside it.

    Attributes:
        file, line: where it stands.
        values: its fields.
        faults: where its faults are noted.
        question_id: the question, for faults.
        prefix: its place in the line's object, as `evidence[0].`.
    """

    file: str
    line: int
    values: Mapping[str, object]
    faults: FaultList
    question_id: str | None = None
    prefix: str = ""

    def fault(self, field: str | None, message: str) -> None:
        """Note a fault at a field, or at the row."""
        place = f"{self.prefix}{field or ''}".rstrip(".")
        self.faults.add(self.file, self.line, place or None, message, self.question_id)

    def has(self, *fields: str) -> bool:
        """Whether one of the fields holds a value other than null."""
        return any(self.values.get(field) is not None for field in fields)

    def first(self, *fields: str) -> str:
        """The first of several names that the row uses; the first name where it uses none."""
        return next((field for field in fields if self.values.get(field) is not None), fields[0])

    def text(self, field: str) -> str | None:
        """A needed text that is not blank; None after a fault."""
        value = self.values.get(field)
        if value is None:
            self.fault(field, "missing; it must be given")
            return None
        if isinstance(value, str) and not value.strip():
            self.fault(field, "must not be empty")
            return None
        return self._well_formed(field, value)

    def identifier(self, field: str) -> str | None:
        """A needed id: a text, or a whole number, which is taken as its digits; None after a fault."""
        value = self.values.get(field)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(field)

    def optional_text(self, field: str, default: str = "") -> str:
        """A text that may be missing, null or empty."""
        value = self.values.get(field)
        if value is None:
            return default
        return self._well_formed(field, value) or default

    def _well_formed(self, field: str, value: object) -> str | None:
        if not isinstance(value, str):
            self.fault(field, f"expected a text, got {shown(value)}")
            return None
        if any("\ud800" <= character <= "\udfff" for character in value):
            self.fault(field, "holds half of a surrogate pair; write the character itself")
            return None
        return value

    def offset(self, field: str) -> int | None:
        """A needed offset, 0 or more, in code points; None after a fault."""
        value = self.values.get(field)
        if value is None:
            self.fault(field, "missing; it must be given")
        elif isinstance(value, bool) or not isinstance(value, int):
            self.fault(field, f"expected a whole number, got {shown(value)}")
        elif value < 0:
            self.fault(field, f"expected an offset of 0 or more, got {value}")
        else:
            return value
        return None

    def flag(self, field: str, *, default: bool) -> bool:
        """True or false; `default` where it is missing or null."""
        value = self.values.get(field)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.fault(field, f"expected true or false, got {shown(value)}")
            return default
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of texts; empty where it is missing or null."""
        items = self.items(field)
        for item in items:
            if not isinstance(item, str) or not item.strip():
                self.fault(field, f"expected a list of texts, got {shown(item)} in it")
        return tuple(item for item in items if isinstance(item, str) and item.strip())

    def items(self, field: str) -> Sequence[object]:
        """A list; empty where it is missing or null, and after a fault."""
        value = self.values.get(field)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fault(field, f"expected a list, got {shown(value)}")
            return ()
        return cast("list[object]", value)

    def rows(self, field: str) -> list[Row]:
        """A list of objects, each as a row of its own; those that are none are faults."""
        return self.inner_rows(field, self.items(field))

    def inner_rows(self, place: str, items: Sequence[object]) -> list[Row]:
        """Objects inside this row; `place` names their list."""
        found: list[Row] = []
        for index, item in enumerate(items):
            if isinstance(item, dict):
                values = cast("dict[str, object]", item)
                prefix = f"{self.prefix}{place}[{index}]."
                found.append(Row(self.file, self.line, values, self.faults, self.question_id, prefix))
            else:
                self.fault(f"{place}[{index}]", f"expected an object, got {shown(item)}")
        return found


def shown(value: object) -> str:
    """A value as JSON says it, short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= 40 else f"{text[:40]}…"


def json_rows(file: GoldFile, faults: FaultList, *, question_field: str | None = None) -> Iterator[Row]:
    """The objects of a file of JSON Lines; blank lines are passed over, other lines that hold none are faults.

    Args:
        file: the file.
        faults: where its faults are noted.
        question_field: the field that names the question, for faults.
    """
    # Not splitlines(): inside a JSON string U+2028 and its like are plain characters.
    for number, line in enumerate(file.text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.add(file.name, number, None, f"not JSON: {error}; write one object a line")
            continue
        if not isinstance(value, dict):
            faults.add(file.name, number, None, f"expected an object, got {shown(value)}")
            continue
        values = cast("dict[str, object]", value)
        asked = values.get(question_field) if question_field else None
        yield Row(file.name, number, values, faults, asked if isinstance(asked, str) else None)


class Ids:
    """Ids met so far: a second use is a fault."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._first: dict[str, str] = {}

    def take(self, row: Row, field: str, value: str | None) -> bool:
        """Whether the id is there and new; one that is not new is noted as a fault of the row."""
        if value is None:
            return False
        if value in self._first:
            row.fault(field, f"{self._what} {value!r} stands already at {self._first[value]}; ids are unique")
            return False
        self._first[value] = f"{row.file}:{row.line}"
        return True


def unanswerable_kind(row: Row, *, answerable: bool) -> str | None:
    """The kind of an unanswerable question, None for an answerable one; what does not agree is a fault."""
    kind = row.values.get("unanswerable_kind")
    if answerable:
        if kind is not None:
            row.fault("unanswerable_kind", f"{shown(kind)} for an answerable question; write null")
        return None
    if kind is None:
        row.fault("unanswerable_kind", f"missing; write one of {', '.join(UNANSWERABLE_KINDS)}")
    elif kind not in UNANSWERABLE_KINDS:
        row.fault("unanswerable_kind", f"expected {' | '.join(UNANSWERABLE_KINDS)}, got {shown(kind)}")
    else:
        return str(kind)
    return None
