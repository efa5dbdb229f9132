"""Why a document has no text: one closed set of kinds (XT-11)."""

from __future__ import annotations

from types import MappingProxyType

RETRYABLE = MappingProxyType(
    {
        "encrypted": False,
        "empty": False,
        "corrupt": False,
        "unsupported": False,
        "too_large": False,
        "timeout": True,
        "memory": True,
        "crash": True,
        "no_text": False,
        "decode": False,
        "contract": False,
    }
)
"""Kind → whether trying again may help although neither document nor settings changed.

Time, memory and crashes depend on the machine and its load; all else depends on the bytes alone.
"""


class ExtractionError(Exception):
    """A document that yields no text.

    Attributes:
        kind: a key of `RETRYABLE`.
        message: what happened and what to do next.
        retryable: `RETRYABLE[kind]` unless told otherwise.
    """

    def __init__(self, kind: str, message: str, *, retryable: bool | None = None) -> None:
        if kind not in RETRYABLE:
            raise ValueError(f"unknown failure kind {kind!r}: one of {', '.join(RETRYABLE)}")
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = RETRYABLE[kind] if retryable is None else retryable

    def __reduce__(self) -> tuple[object, ...]:
        # Worker processes send it back by pickle, which would call __init__ with the message alone.
        return (_rebuild, (self.kind, self.message, self.retryable))


def _rebuild(kind: str, message: str, retryable: bool) -> ExtractionError:
    return ExtractionError(kind, message, retryable=retryable)
