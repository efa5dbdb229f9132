"""Dagster's SQLite files are kept open while a build writes: no log is removed and made anew (PI-04)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy.pool import NullPool

from linkrag_dagster.dag.sqlite import kept_open


def engine(path: Path) -> sqlalchemy.Engine:
    """An engine as Dagster makes them: each connection is opened and closed."""
    return sqlalchemy.create_engine(f"sqlite:///{path}", poolclass=NullPool)


def log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A database with a write-ahead log, as Dagster's are."""
    path = tmp_path / "home" / "runs.db"
    path.parent.mkdir()
    with engine(path).begin() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        connection.exec_driver_sql("CREATE TABLE events (id INTEGER)")
    return path


def insert(path: Path) -> int:
    """Insert a row through SQLAlchemy; how the connection syncs: 1 is NORMAL, 2 is FULL."""
    with engine(path).begin() as connection:
        connection.exec_driver_sql("INSERT INTO events VALUES (1)")
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())


def test_the_log_outlives_each_connection(record: Path) -> None:
    """The file's log stays from the first statement until the build ends; then all is in the file itself."""
    assert insert(record) == 2 and not log(record).exists()
    with kept_open(record.parent):
        assert insert(record) == 1
        written = log(record).stat().st_ino
        assert insert(record) == 1
        assert log(record).stat().st_ino == written
    assert not log(record).exists()
    assert insert(record) == 2
    with sqlite3.connect(record) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (4,)
    connection.close()


def test_a_file_that_gets_its_log_later(tmp_path: Path) -> None:
    """Dagster makes a file a run: it is kept open from the first statement after its log is there."""
    path = tmp_path / "run.db"
    with kept_open(tmp_path):
        with engine(path).begin() as connection:
            connection.exec_driver_sql("CREATE TABLE events (id INTEGER)")
        with engine(path).connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        insert(path)
        assert log(path).exists()
    assert not log(path).exists()


def test_other_files_are_let_be(record: Path, tmp_path: Path) -> None:
    """A database elsewhere, or in memory, is none of Dagster's of this project."""
    (tmp_path / "other").mkdir()
    with kept_open(tmp_path / "other"):
        assert insert(record) == 2 and not log(record).exists()
        with sqlalchemy.create_engine("sqlite://").connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2
