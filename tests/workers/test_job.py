"""What becomes of an extractor's errors (XT-11)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.workers.job import perform


@dataclass(frozen=True)
class Failing:
    """Work that ends in an error, or in a failure that an error caused."""

    error: Exception
    wrapped: bool = False
    data: bytes = b""
    path: str = "a.pdf"
    name: str = "a.pdf"

    def result(self) -> None:
        if self.wrapped:
            raise ExtractionError("corrupt", "a.pdf can't be read") from self.error
        raise self.error


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        "code=2: realloc (841023648 bytes) failed",
        "malloc (9 bytes) failed",
        "std::bad_alloc",
        "out of memory",
        "MemoryError: Unable to allocate 3.2 GiB for an array",
        "Cannot allocate memory",
    ],
)
def test_memory_that_a_library_did_not_get(words: str, wrapped: bool) -> None:
    """Each library says it in its own words; the document failed by `memory`, not as a corrupt one."""
    found = perform(Failing(RuntimeError(words), wrapped))
    assert isinstance(found, ExtractionError) and found.kind == "memory" and "a.pdf" in found.message


@pytest.mark.parametrize(
    "words", ["malloc(): corrupted top size", "realloc(): invalid next size", "allocation table is damaged"]
)
def test_memory_that_was_overwritten(words: str) -> None:
    """What the C library says of a damaged heap is a crash; more memory would not help."""
    assert getattr(perform(Failing(RuntimeError(words))), "kind", "") == "crash"


def test_other_errors() -> None:
    """A failure stays what it is; an error that nobody foresaw is a crash of the extractor."""
    assert getattr(perform(Failing(ValueError("bad xref"), wrapped=True)), "kind", "") == "corrupt"
    assert getattr(perform(Failing(ZeroDivisionError("by zero"))), "kind", "") == "crash"
