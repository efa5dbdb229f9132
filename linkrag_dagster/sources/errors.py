"""What can go wrong with a source, each with a name (FA-01, FA-03)."""

from __future__ import annotations


class SourceError(Exception):
    """A source, or one file of it, could not be read.

    Attributes:
        kind: the failure kind under which a document's failure is recorded.
        retryable: whether the same call may succeed later although no file was changed.
    """

    kind = "source"
    retryable = True


class SourceUnreachable(SourceError):
    """The folder, or a folder in it, cannot be listed: nothing may be concluded about its files (FA-03)."""


class BadPattern(SourceError, ValueError):
    """An include or exclude pattern that can match no path of a source."""

    retryable = False


class FileVanished(SourceError):
    """The file was there when the folder was listed and is no longer there."""


class FileUnreadable(SourceError):
    """The file is there and cannot be opened or read."""


class FileTooLarge(SourceError):
    """The file has more bytes than the declared limit."""

    kind = "too_large"
    retryable = False
