"""Disks that are really full and really read-only (FA-04)."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from linkrag_dagster.cli.console import REFUSED, clear_errors
from tests.crash.conftest import Prepared
from tests.crash.small_corpus import CONTEXT, SmallCorpus, contents
from tests.crash.test_points import nothing_is_broken


def _mounted(*arguments: str) -> bool:
    mount = shutil.which("mount")
    return (
        mount is not None
        and subprocess.run([mount, *arguments], capture_output=True, check=False).returncode == 0
    )


def _unmount(folder: Path) -> None:
    # Lazily: Polars may still map files of it.
    subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)


@pytest.fixture
def small_disk() -> Generator[Path]:
    """A file system of 16 MiB, in a folder of its own: other sessions of pytest tidy up the shared one."""
    folder = Path(tempfile.mkdtemp(prefix="linkrag-disk-"))
    try:
        if not _mounted("-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)):
            pytest.skip("mounting a small file system takes the rights of root")
        try:
            yield folder
        finally:
            _unmount(folder)
    finally:
        folder.rmdir()


def fill(folder: Path, leave: int) -> Path:
    """Fill a file system but for some bytes."""
    path = folder / "ballast"
    with path.open("wb") as file:
        file.write(b"\0" * max(0, shutil.disk_usage(folder).free - leave))
    return path


@pytest.mark.parametrize("leave", [0, 16 << 10, 96 << 10, 640 << 10])
def test_a_full_disk(
    leave: int, prepared: Prepared, small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """FA-04: exit 3, a file is named, nothing is broken; with space again the build goes on."""
    corpus = prepared.copy(tmp_path / "project")
    shutil.move(corpus.root / "lake", small_disk / "lake")
    (corpus.root / "lake").symlink_to(small_disk / "lake")
    ballast = fill(small_disk, leave)
    with pytest.raises(SystemExit) as end, clear_errors():
        corpus.build()
    said = capsys.readouterr().err
    assert end.value.code == REFUSED
    assert "No space left" in said and str(corpus.root / "lake") in said and "free space" in said
    assert contents(corpus.lake()) in (prepared.old, prepared.new)
    assert not list((small_disk / "lake").rglob(".*.tmp"))
    ballast.unlink()
    nothing_is_broken(corpus, prepared)


def _limited(root: Path, size: int) -> None:
    # What a write beyond the limit raises; without this the process would be killed.
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    with clear_errors():
        SmallCorpus(root).build()


@pytest.mark.parametrize("size", [512, 4 << 10, 64 << 10])
def test_files_that_may_not_grow(size: int, prepared: Prepared, changed: SmallCorpus) -> None:
    """FA-04: a quota, as everyone can have it: what is too large is not written, and nothing else is broken."""
    process = CONTEXT.Process(target=_limited, args=(changed.root, size))
    process.start()
    process.join()
    assert process.exitcode == REFUSED
    nothing_is_broken(changed, prepared)


@pytest.fixture
def read_only(changed: SmallCorpus) -> Generator[SmallCorpus]:
    """A project whose lake can't be written: by a mount where we are root, by permissions where not."""
    lake = changed.root / "lake"
    if os.geteuid() == 0:
        if not _mounted("--bind", str(lake), str(lake)):
            pytest.skip("root writes wherever it likes, and may not mount here")
        if not _mounted("-o", "remount,bind,ro", str(lake)):
            _unmount(lake)
            pytest.skip("no read-only mounts here")
        yield changed
        _unmount(lake)
    else:
        folders = [path for path in lake.rglob("*") if path.is_dir()] + [lake]
        for folder in folders:
            folder.chmod(0o555)
        yield changed
        for folder in folders:
            folder.chmod(0o755)


def test_a_read_only_lake(
    prepared: Prepared, read_only: SmallCorpus, capsys: pytest.CaptureFixture[str]
) -> None:
    """FA-04: exit 3, the lake is named; it can be read all the same."""
    with pytest.raises(SystemExit) as end, clear_errors():
        read_only.build()
    said = capsys.readouterr().err
    assert end.value.code == REFUSED and str(read_only.root / "lake") in said and "writable" in said
    assert contents(read_only.lake()) == prepared.old
