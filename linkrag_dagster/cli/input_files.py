"""Files named on the command line: read without waiting for anyone, extracted as a build would."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linkrag_dagster.cli.console import USAGE, stop

if TYPE_CHECKING:
    from linkrag_dagster.extraction.failures import ExtractionError
    from linkrag_dagster.extraction.page_images import PageImage
    from linkrag_dagster.workers import Job, Outcome

_KINDS = (
    (stat.S_ISDIR, "a folder: name files in it, or declare it as a corpus with linkrag init"),
    (stat.S_ISFIFO, "a pipe: write what it gives to a file, and name that"),
    (stat.S_ISSOCK, "a socket: name a file"),
    (stat.S_ISCHR, "a device: name a file"),
    (stat.S_ISBLK, "a device: name a file"),
)


class Unreadable(Exception):
    """What was named is no file that can be read; the message says why."""


def read_file(path: Path, max_bytes: int) -> bytes | None:
    """The bytes of a regular file; None where it has more than `max_bytes`. Nothing else is waited for or read.

    Raises:
        Unreadable: it does not exist, must not be read, or is a folder, a pipe, a socket or a device.
    """
    try:
        _refuse_special(path, path.stat())
        # It may have been exchanged since: a pipe is opened without waiting for its writer, and looked at again.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            _refuse_special(path, status)
            if status.st_size > max_bytes:
                return None
            data = file.read(max_bytes + 1)
            return data if len(data) <= max_bytes else None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise Unreadable(f"{path}: can't be read ({reason or error})") from error


def _refuse_special(path: Path, status: os.stat_result) -> None:
    for is_kind, what in _KINDS:
        if is_kind(status.st_mode):
            raise Unreadable(f"{path} is {what}")


def outcomes(names: Sequence[str]) -> Iterator[tuple[str, Outcome]]:
    """Text or failure of each file, in the order of their names, several at a time.

    Ends the command at the first name that is no readable file, after all before it.
    """
    from linkrag_dagster.declaration import Extraction as Limits
    from linkrag_dagster.extraction.failures import ExtractionError
    from linkrag_dagster.stages.extraction_limits import extraction_limits
    from linkrag_dagster.workers import Job, Workers
    from linkrag_dagster.workers.limits import usable_cores

    limits = Limits()
    found: dict[int, Outcome | Unreadable] = {}

    def jobs() -> Iterator[tuple[int, Job]]:
        for number, name in enumerate(names):
            path = Path(name)
            try:
                data = read_file(path, limits.max_bytes)
            except Unreadable as error:
                found[number] = error
                return
            if data is None:
                found[number] = ExtractionError(
                    "too_large", f"{path} has more than {limits.max_bytes:,} bytes: split it"
                )
            else:
                yield number, Job(data, path.name, path.name)

    at = 0
    with Workers(extraction_limits(limits, min(usable_cores(), len(names)))) as workers:
        done = workers.run(jobs())
        more = True
        while more or at in found:
            while at in found:
                outcome = found.pop(at)
                if isinstance(outcome, Unreadable):
                    stop(USAGE, str(outcome))
                yield names[at], outcome
                at += 1
            more = (next_one := next(done, None)) is not None
            if next_one is not None:
                found[next_one[0]] = next_one[1]


def drawn_pages(name: str, pages: Sequence[int]) -> tuple[PageImage, ...] | ExtractionError:
    """Pictures of some pages of a PDF file, made by a worker, as its text was read by one."""
    from linkrag_dagster.declaration import Extraction as Limits
    from linkrag_dagster.extraction.failures import ExtractionError
    from linkrag_dagster.stages.extraction_limits import extraction_limits
    from linkrag_dagster.workers import Drawing, Workers

    limits = Limits()
    path = Path(name)
    try:
        data = read_file(path, limits.max_bytes)
    except Unreadable as error:
        stop(USAGE, str(error))
    if data is None:
        return ExtractionError("too_large", f"{path} has more than {limits.max_bytes:,} bytes: split it")
    with Workers(extraction_limits(limits, 1)) as workers:
        ((_, images),) = workers.run([(name, Drawing(data, path.name, path.name, tuple(pages)))])
    return images
