"""A folder as a source of documents: its files, what is left out and why, their bytes (PI-05, FA-03)."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from re import Pattern
from types import MappingProxyType

from linkrag_dagster.sources.errors import FileTooLarge, FileUnreadable, FileVanished, SourceUnreachable
from linkrag_dagster.sources.patterns import compile_patterns

LEFT_OUT_REASONS = MappingProxyType(
    {
        "hidden": "a file or folder whose name begins with a dot, or a link to something under one",
        "excluded": "covered by an exclude pattern",
        "not_included": "matched by no include pattern",
        "link_out": "a link that leads out of the source",
        "dir_link": "a link to a folder: never followed",
        "broken_link": "a link whose target does not exist, or that leads to itself",
        "special": "neither file nor folder: a pipe, a device, a socket",
    }
)
"""Why an entry is no document of the source. A folder that is left out whole counts once."""

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source.

    Attributes:
        path: relative to the source, `/` between segments, exact: bytes of a name that are not UTF-8 stand as
            lone surrogates (`os.fsdecode`), so that `os.fsencode(path)` gives the name back and two names
            never fall together.
        absolute: where to read it; for a link within the source, its target.
        size_bytes: size when the folder was listed.
    """

    path: str
    absolute: Path
    size_bytes: int

    @property
    def label(self) -> str:
        r"""`path` as valid Unicode for tables and messages: bytes that are not UTF-8 stand as `\udcXX`."""
        return self.path.encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class Scan:
    """What a folder held when it was listed.

    Attributes:
        files: its documents, in the order of their paths' bytes.
        left_out: reason → number of entries; reasons with none are absent.
    """

    files: tuple[SourceFile, ...]
    left_out: Mapping[str, int]


def scan(
    path: str | os.PathLike[str], include: Iterable[str] = ("**/*",), exclude: Iterable[str] = ()
) -> Scan:
    """List the documents of a folder without reading them.

    A file belongs to the source when an include pattern matches its path, and no exclude pattern matches its
    path or a folder above it. Hidden entries and links that lead out never belong, whatever the patterns say;
    links to folders are not followed. A scan without files is no error here: whether an empty source may
    delete is the caller's matter.

    Raises:
        SourceUnreachable: the folder is missing, is no folder, or it or a folder in it cannot be listed.
            Leaving such a folder out would look as if its documents had been deleted.
        BadPattern: a pattern that can match nothing.
    """
    included, excluded = compile_patterns(include), compile_patterns(exclude)
    declared = Path(path)
    try:
        root = declared.resolve(strict=True)
        if not root.is_dir():
            raise SourceUnreachable(
                f"the source {declared} is not a folder: name the folder that holds the documents"
            )
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
        raise SourceUnreachable(
            f"the source {declared} cannot be reached ({_reason(error)}): "
            "correct source.path, or mount the folder"
        ) from error

    files: list[SourceFile] = []
    left_out: dict[str, int] = {}
    for found in _walk(root, included, excluded):
        if isinstance(found, SourceFile):
            files.append(found)
        else:
            left_out[found] = left_out.get(found, 0) + 1
    files.sort(key=lambda file: os.fsencode(file.path))
    return Scan(tuple(files), MappingProxyType(dict(sorted(left_out.items()))))


def read(file: SourceFile, max_bytes: int) -> bytes:
    """The file's bytes, at most `max_bytes`; the size is checked before and while reading, as files grow.

    Raises:
        FileTooLarge, FileVanished, FileUnreadable.
    """
    blocks: list[bytes] = []
    total = 0
    for block in _blocks(file, max_bytes):
        total += len(block)
        if total > max_bytes:
            raise _too_large(file, total, max_bytes)
        blocks.append(block)
    return b"".join(blocks)


def digest(file: SourceFile) -> str:
    """sha256 of the file's bytes as 64 hexadecimal digits, read block by block whatever its size.

    Raises:
        FileVanished, FileUnreadable.
    """
    state = hashlib.sha256()
    for block in _blocks(file, None):
        state.update(block)
    return state.hexdigest()


def _walk(root: Path, included: Pattern[str], excluded: Pattern[str]) -> Iterator[SourceFile | str]:
    """Files of the source, and a reason for each entry that is left out."""
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(root / folder) as listing:
                entries = list(listing)
        except FileNotFoundError:
            if not folder:
                raise _unlistable(root, "it vanished") from None
            continue  # deleted after its parent was listed: as if it had never been there
        except OSError as error:
            raise _unlistable(root / folder, _reason(error)) from error
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                yield "hidden"
            elif excluded.fullmatch(path):
                yield "excluded"
            elif entry.is_symlink():
                yield _link(root, path, included)
            elif entry.is_dir(follow_symlinks=False):
                pending.append(path)
            elif not entry.is_file(follow_symlinks=False):
                yield "special"
            elif not included.fullmatch(path):
                yield "not_included"
            else:
                try:
                    size = entry.stat(follow_symlinks=False).st_size
                except FileNotFoundError:
                    continue
                yield SourceFile(path, root / path, size)


def _link(root: Path, path: str, included: Pattern[str]) -> SourceFile | str:
    try:
        target = (root / path).resolve(strict=True)
        status = target.stat()
    except PermissionError:
        return "link_out"  # within the source every folder could be listed
    except (OSError, RuntimeError):
        return "broken_link"
    if stat.S_ISDIR(status.st_mode):
        return "dir_link"
    if not target.is_relative_to(root):
        return "link_out"
    if any(part.startswith(".") for part in target.relative_to(root).parts):
        return "hidden"
    if not stat.S_ISREG(status.st_mode):
        return "special"
    return SourceFile(path, target, status.st_size) if included.fullmatch(path) else "not_included"


def _blocks(file: SourceFile, max_bytes: int | None) -> Iterator[bytes]:
    # Never through a link nor into a pipe that took the file's place after the scan: both could lead or hang
    # anywhere.
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        handle = os.open(file.absolute, flags)
        with open(handle, "rb", buffering=0) as stream:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise FileUnreadable(f"{file.label} is no longer a file: build again to list the source anew")
            if max_bytes is not None and status.st_size > max_bytes:
                raise _too_large(file, status.st_size, max_bytes)
            while block := stream.read(_BLOCK):
                yield block
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileVanished(f"{file.label} vanished after the source was listed: build again") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileUnreadable(
                f"{file.label} became a link after the source was listed: build again"
            ) from error
        raise FileUnreadable(
            f"{file.label} cannot be read ({_reason(error)}): check its permissions"
        ) from error


def _too_large(file: SourceFile, size: int, max_bytes: int) -> FileTooLarge:
    return FileTooLarge(
        f"{file.label} has {size:,} bytes or more, above the limit of {max_bytes:,}: "
        "split it, exclude it, or raise extraction.max_bytes"
    )


def _unlistable(folder: Path, reason: str) -> SourceUnreachable:
    return SourceUnreachable(
        f"the folder {folder} cannot be listed ({reason}): make it readable, or exclude it"
    )


def _reason(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
