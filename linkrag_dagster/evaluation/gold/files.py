"""Files of gold as texts: the one place of this package that reads from disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from linkrag_dagster.evaluation.gold.errors import FaultList


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A text with the name that faults call it by.

    Attributes:
        name: a path, or any other name.
        text: its text; line ends may be LF or CRLF.
    """

    name: str
    text: str


def gold_file(name: str, data: bytes) -> GoldFile:
    """Bytes as text: UTF-8, with or without a byte order mark.

    Raises:
        GoldError: the bytes are not UTF-8.
    """
    faults = FaultList()
    text = _decoded(name, data, faults)
    faults.refuse_any()
    return GoldFile(name, text)


def read_gold_files(paths: Iterable[Path]) -> list[GoldFile]:
    """Read files, in the order given; a file that is named twice is read once.

    Raises:
        GoldError: files that are missing, can't be read, or are not UTF-8.
    """
    faults = FaultList()
    read: list[GoldFile] = []
    for path in dict.fromkeys(path.resolve() for path in paths):
        name = _label(path)
        try:
            read.append(GoldFile(name, _decoded(name, path.read_bytes(), faults)))
        except OSError as error:
            faults.add(name, None, None, f"can't be read: {error.strerror or error}; check the path")
    faults.refuse_any()
    return read


def _decoded(name: str, data: bytes, faults: FaultList) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        faults.add(name, line, None, f"byte {error.start} is not UTF-8; save the file as UTF-8")
        return ""


def _label(path: Path) -> str:
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)
