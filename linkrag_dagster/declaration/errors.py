"""What is wrong with a declaration: file, line and field of every problem, all reported together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        file: the declaration, relative to the project's root where it lies under it.
        line: 1-based line, None where the problem has none (a missing file).
        field: dotted name without `attributes.`, as `chunking.max_tokens`; None for the file as a whole.
        message: what is wrong and what to do, without file and field.
    """

    file: str
    line: int | None
    field: str | None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}" if self.field is None else f"{place}: {self.field}: {self.message}"


class DeclarationError(Exception):
    """A declaration cannot be used. `str()` has one line a problem, in the order of the file (exit code 2)."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems, key=lambda p: p.line or 0))
        super().__init__("\n".join(str(problem) for problem in self.problems))
