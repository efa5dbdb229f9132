"""What a document is, by its content first; its name is a hint (XT-01)."""

from __future__ import annotations

import re
from types import MappingProxyType

MARKDOWN = "text/markdown"
PLAIN = "text/plain"

HEAD_BYTES = 65_536
"""How much of a document the decision looks at."""

# (offset, bytes, media type). Signatures that are ASCII alone also begin sentences, see `_is_ascii_text`.
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"BM", "image/bmp"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"OggS", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\xca\xfe\xba\xbe", "application/java-vm"),
    (0, b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    (0, b"\0asm", "application/wasm"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"ARROW1\0\0", "application/vnd.apache.arrow.file"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"OTTO", "font/otf"),
)

# Beginnings that are text by themselves, and name their format.
_TEXTUAL: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"{\\rtf", "application/rtf"),
    (b"%!PS", "application/postscript"),
)

_RIFF = {b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo", b"WEBP": "image/webp"}

_OFFICE = "application/vnd.openxmlformats-officedocument."
_ZIP_MEMBERS = (
    (b"word/", _OFFICE + "wordprocessingml.document"),
    (b"ppt/", _OFFICE + "presentationml.presentation"),
    (b"xl/", _OFFICE + "spreadsheetml.sheet"),
)
_ZIP_MIMETYPES = (
    b"application/epub+zip",
    b"application/vnd.oasis.opendocument.text",
    b"application/vnd.oasis.opendocument.spreadsheet",
    b"application/vnd.oasis.opendocument.presentation",
)

_EXTENSIONS = MappingProxyType(
    dict.fromkeys(
        ("md", "markdown", "mdown", "mkd", "mkdn", "mdwn", "mdtxt", "mdtext", "mdx", "qmd", "rmd"), MARKDOWN
    )
    | {
        "html": "text/html",
        "htm": "text/html",
        "xhtml": "application/xhtml+xml",
        "csv": "text/csv",
        "tsv": "text/tab-separated-values",
        "json": "application/json",
        "jsonl": "application/jsonl",
        "ipynb": "application/x-ipynb+json",
        "xml": "application/xml",
        "srt": "application/x-subrip",
        "vtt": "text/vtt",
        "eml": "message/rfc822",
    }
)

_PAGE = re.compile(rb"(?:<\?xml\b[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype html|<html\b)", re.DOTALL)


def detect(head: bytes, name: str = "") -> str:
    """Media type of a document from its first bytes and, where they are text, its name.

    Binary formats are known by their signature, whatever the name says. For text the extension decides
    between the formats that are text; one that is unknown, or that promises a binary format, means plain
    text. Bytes without a signature count as text here: only decoding them shows whether they are.
    """
    head = head[:HEAD_BYTES]
    for beginning, media_type in _TEXTUAL:
        if head.startswith(beginning):
            return media_type
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zip(head)
    if not _is_ascii_text(head):
        if head.startswith(b"RIFF") and head[8:12] in _RIFF:
            return _RIFF[head[8:12]]
        for offset, signature, media_type in _SIGNATURES:
            if head.startswith(signature, offset) and _confirmed(head, media_type):
                return media_type
    extension = _extension(name)
    if extension in _EXTENSIONS:
        return _EXTENSIONS[extension]
    start = _beginning(head)
    if _PAGE.match(start):
        return "text/html"
    if start.startswith(b"<?xml"):
        return "application/xml"
    if start.startswith(b"webvtt"):
        return "text/vtt"
    return PLAIN


def _beginning(head: bytes) -> bytes:
    """The first characters of a text as small ASCII letters, behind its mark."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head[2:].replace(b"\0", b"")
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:4096].lower()


def _extension(name: str) -> str:
    base = name.rsplit("/", 1)[-1]
    return base.rsplit(".", 1)[1].lower() if "." in base else ""


_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\x1b")


def _is_ascii_text(head: bytes) -> bool:
    """Whether all is ASCII text: `BMW`, `MZ` and `ID3` begin sentences too, and are no signatures then."""
    return head.isascii() and len(head[:1024].translate(None, _CONTROL)) == len(head[:1024])


def _confirmed(head: bytes, media_type: str) -> bool:
    """The fixed fields behind short signatures, without which a text in UTF-8 would match."""
    if media_type == "image/bmp":
        return head[6:10] == b"\0\0\0\0"
    if media_type == "application/vnd.microsoft.portable-executable":
        return b"\0" in head[:64]
    if media_type == "audio/mpeg":
        return head[:2] == b"\xff\xfb" or (len(head) > 4 and head[3] < 5)
    if media_type == "application/x-bzip2":
        return head[4:10] == b"1AY&SY"
    if media_type in ("image/gif", "audio/flac", "application/ogg", "font/otf", "font/woff", "font/woff2"):
        return b"\0" in head[:64]
    if media_type == "application/vnd.apache.parquet":
        return b"\x15" in head[4:8]
    return True


def _zip(head: bytes) -> str:
    for media_type in _ZIP_MIMETYPES:
        if head[30:].startswith(b"mimetype" + media_type):
            return media_type.decode("ascii")
    for member, media_type in _ZIP_MEMBERS:
        if member in head:
            return media_type
    return "application/zip"
