"""Dagster's SQLite files, kept open while a build writes its record into them.

Dagster opens and closes a connection for each of some 500 statements of a run. To SQLite each closing is that of the
last connection: it copies the log into the file, syncs both, and removes the log. A connection that stays open spares
all that, and `synchronous=NORMAL` the sync of each commit: https://www.sqlite.org/wal.html, sections 2.2 and 6. A loss
of power may cost the last lines of the record of runs, never the file, and never the lake.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine import Engine


@contextmanager
def kept_open(folder: Path) -> Generator[None]:
    """Keep every SQLite file under `folder` open that SQLAlchemy opens meanwhile in this process."""
    kept: dict[Path, sqlite3.Connection] = {}
    root = folder.resolve()
    with ExitStack() as stack:

        def opened(connection: object, record: object) -> None:
            del record
            if not isinstance(connection, sqlite3.Connection):
                return
            # Of a file alone: another store, and one in memory, is not Dagster's record of this project.
            name = connection.execute("PRAGMA database_list").fetchone()[2]
            path = Path(name).resolve() if name else None
            if path is None or not path.is_relative_to(root):
                return
            connection.execute("PRAGMA synchronous=NORMAL")
            if path not in kept:
                # Any thread's closing may be the last one.
                kept[path] = stack.enter_context(closing(sqlite3.connect(name, check_same_thread=False)))
            # A connection that has read nothing since the file got its log does not hold that log open. Where another
            # process sets the file up just now, the next connection tries again.
            with suppress(sqlite3.OperationalError):
                kept[path].execute("SELECT count(*) FROM sqlite_master").fetchone()

        event.listen(Engine, "connect", opened)
        # Last in, first out: nothing is opened any more when the connections are closed.
        stack.callback(event.remove, Engine, "connect", opened)
        yield
