"""Where documents come from: which files a folder has, their bytes, and who they are (PI-05)."""

from linkrag_dagster.sources.errors import (
    BadPattern,
    FileTooLarge,
    FileUnreadable,
    FileVanished,
    SourceError,
    SourceUnreachable,
)
from linkrag_dagster.sources.folder import LEFT_OUT_REASONS, Scan, SourceFile, digest, read, scan
from linkrag_dagster.sources.identity import DocumentIdentity, path_id, read_identity

__all__ = [
    "LEFT_OUT_REASONS",
    "BadPattern",
    "DocumentIdentity",
    "FileTooLarge",
    "FileUnreadable",
    "FileVanished",
    "Scan",
    "SourceError",
    "SourceFile",
    "SourceUnreachable",
    "digest",
    "path_id",
    "read",
    "read_identity",
    "scan",
]
