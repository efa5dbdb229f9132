"""One writer a corpus: a lock that the system releases when its holder dies (FA-04)."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from linkrag_dagster.disk.points import reach
from linkrag_dagster.disk.whole import naming

POLL_SECONDS = 0.1
_HELD = threading.local()
"""Locks that this thread holds, with their depth: a build holds the lock of its corpus while each of its stages, run
through Dagster in the same thread, asks for it again."""


class LockHeld(Exception):
    """Another process builds this corpus; the message names it."""


@contextmanager
def exclusive(path: Path, *, wait: float = 0.0, purpose: str = "build") -> Generator[None]:
    """Hold the lock file at `path`, waiting up to `wait` seconds for it.

    The lock belongs to the open file, so a killed holder leaves nothing to clean up; what the file says of the holder
    is for people.

    Raises:
        LockHeld: when another process still holds it after `wait` seconds.
    """
    held: dict[str, int] = _HELD.__dict__
    name = str(path.resolve())
    if held.get(name):
        held[name] += 1
        try:
            yield
        finally:
            held[name] -= 1
        return
    handle = _open(path)
    try:
        deadline = time.monotonic() + wait
        while not _taken(handle):
            if time.monotonic() >= deadline:
                raise LockHeld(f"{path.parent.name}: {_holder(path)}; wait for it, or use --wait SECONDS")
            time.sleep(POLL_SECONDS)
        with naming(path):
            reach("lock.taken", path)
            _sign(handle, purpose)
            reach("lock.signed", path)
        held[name] = 1
        yield
    finally:
        held.pop(name, None)
        try:
            with naming(path):
                reach("lock.release", path)
        finally:
            os.close(handle)
        with naming(path):
            reach("lock.released", path)


def _open(path: Path) -> int:
    with naming(path):
        reach("lock.take", path)
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(handle: int, purpose: str) -> None:
    name = {
        "purpose": purpose,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(name).encode(), 0)


def _holder(path: Path) -> str:
    try:
        name = json.loads(path.read_text())
        return f"a {name['purpose']} by process {name['pid']} on {name['host']} since {name['since']} holds the lock"
    except (OSError, ValueError, KeyError, TypeError):
        # The holder may be writing its name at this instant.
        return "another process holds the lock"


def held_here(path: Path) -> bool:
    """Whether this thread holds the lock."""
    return bool(_HELD.__dict__.get(str(path.resolve())))
