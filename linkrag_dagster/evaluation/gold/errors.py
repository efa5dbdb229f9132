"""What is wrong with gold: every fault with its file, line, field and question, all of them at once (GO-04)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GoldFault:
    """One thing that is wrong.

    Attributes:
        file: the file, as the reader was told to call it.
        line: 1-based line; None for the file as a whole.
        field: the field, as `evidence[0].text`; None for the line as a whole.
        question_id: the question, where it is known.
        message: what is wrong and what to do, without file, field and question.
    """

    file: str
    line: int | None
    field: str | None
    question_id: str | None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        named = "" if self.field is None else f" {self.field}:"
        asked = "" if self.question_id is None else f" (question {self.question_id})"
        return f"{place}:{named} {self.message}{asked}"


class GoldError(Exception):
    """Gold that can't be used. `str()` has one line a fault, in the order of files and lines."""

    def __init__(self, faults: Iterable[GoldFault]) -> None:
        self.faults: tuple[GoldFault, ...] = tuple(
            sorted(faults, key=lambda f: (f.file, f.line or 0, f.field or "", f.message))
        )
        super().__init__("\n".join(map(str, self.faults)))


class FaultList:
    """Faults as they are met, so that a reader can go on and name all of them."""

    def __init__(self) -> None:
        self._found: list[GoldFault] = []

    def add(
        self,
        file: str,
        line: int | None,
        field: str | None,
        message: str,
        question_id: str | None = None,
    ) -> None:
        """Note a fault."""
        self._found.append(GoldFault(file, line, field, question_id, message))

    def refuse_any(self) -> None:
        """Raises GoldError where a fault was noted."""
        if self._found:
            raise GoldError(self._found)
