"""What goes wrong while texts are scored, and whether it may pass another time (SD-15)."""

from __future__ import annotations

_TRANSPORT = frozenset(
    {"Timeout", "TimeoutException", "ConnectionError", "TransportError", "APIConnectionError"}
)
"""Names of exception classes of HTTP clients that are no subclasses of Python's own."""


class ScoringError(Exception):
    """Texts could not be scored: the document fails, it is never cut by other means instead.

    Attributes:
        retryable: whether the same texts may be scored another time.
    """

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an exception names, as the usual clients do: itself, or its response."""
    for source in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(source, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600:
                return value
    return None


def is_transient(error: BaseException) -> bool | None:
    """Whether another try may succeed; None for an exception that no embedder's service explains.

    | exception | answer |
    | --- | --- |
    | says so itself by an attribute `retryable` | what it says |
    | HTTP status 429, 5xx | yes |
    | other HTTP status from 400 | no |
    | time-out, broken connection | yes |
    """
    told = getattr(error, "retryable", None)
    if isinstance(told, bool):
        return told
    status = status_of(error)
    if status is not None and status >= 400:
        return status == 429 or status >= 500
    # urllib wraps what broke in an error of its own.
    reason = getattr(error, "reason", None)
    if isinstance(reason, (TimeoutError, ConnectionError)) or isinstance(
        error, (TimeoutError, ConnectionError)
    ):
        return True
    return True if _TRANSPORT.intersection(kind.__name__ for kind in type(error).__mro__) else None
