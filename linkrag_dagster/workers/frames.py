"""Messages between a build and its workers: a length of eight bytes, then a pickle, or nothing."""

from __future__ import annotations

import io
import pickle
import struct
from typing import Any, BinaryIO

_LENGTH = struct.Struct(">Q")
SCAN_READ = _LENGTH.pack(0)
"""The frame that says that one more scan was read: it has no body."""
_OWN = "linkrag_dagster.extraction."


def packed(message: object) -> bytes:
    """A message as a frame."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame's body from a blocking stream; None at its end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    return body if len(body) == length else None


class Incoming:
    """Bytes of frames as they arrive."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Take what was read."""
        self._bytes += data

    def message(self) -> bytes | None:
        """The body of the next whole frame; None while it is not whole."""
        if len(self._bytes) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._bytes)
        if len(self._bytes) < _LENGTH.size + length:
            return None
        body = bytes(self._bytes[_LENGTH.size : _LENGTH.size + length])
        del self._bytes[: _LENGTH.size + length]
        return body


class _Records(pickle.Unpickler):
    """Reads records of extraction and nothing else: a worker has read a stranger's file."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name.startswith(_OWN) and "." not in global_name:
            found = super().find_class(module_name, global_name)
            if getattr(found, "__module__", None) == module_name:
                return found
        raise pickle.UnpicklingError(f"a worker sent {module_name}.{global_name}")


def unpacked(body: bytes) -> Any:
    """The message of a worker. Raises pickle.UnpicklingError where it holds anything but records of extraction."""
    return _Records(io.BytesIO(body)).load()
