"""Files that are whole or absent: written beside, synced, renamed into place."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from linkrag_dagster.disk.points import reach


def write_whole(path: Path, kind: str, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, sync it, and rename it into place.

    Args:
        path: where the file shall be; its folder is made where it does not exist.
        kind: one of `points.FILES`.
        write: fills the file that it is given; readers pass over its name, which begins with a dot.

    Raises:
        OSError: when the disk is full or read-only; it names `path`. What was at `path` before is still there, unless
            the renaming was done and only the folder could not be synced.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp")
    with naming(path):
        try:
            reach(f"{kind}.begin", path)
            path.parent.mkdir(parents=True, exist_ok=True)
            write(beside)
            reach(f"{kind}.written", path)
            _sync(beside)
            reach(f"{kind}.synced", path)
            os.replace(beside, path)
        except BaseException:
            _discard(beside)
            raise
        reach(f"{kind}.renamed", path)
        _sync(path.parent)
        reach(f"{kind}.durable", path)


def remove(path: Path, kind: str) -> None:
    """Remove a file, if it is there.

    Raises:
        OSError: when the disk is read-only; it names `path`.
    """
    with naming(path):
        reach(f"{kind}.drop", path)
        path.unlink(missing_ok=True)
        reach(f"{kind}.dropped", path)


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Errors of the system name the file that people know, and say in the system's words what happened to it."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        # Libraries put sentences of their own where the system's word belongs.
        words = os.strerror(number) if error.errno else str(error)
        raise OSError(number, words, str(path)) from error


def _discard(beside: Path) -> None:
    """Remove a temporary file; one that stays is no one's, and must not hide why the write failed."""
    try:
        beside.unlink(missing_ok=True)
    except OSError:
        return


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
