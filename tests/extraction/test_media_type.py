"""Media types: content first, the name is a hint (XT-01)."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from linkrag_dagster.extraction import ExtractionError, choose, detect, extractor_for

OFFICE = "application/vnd.openxmlformats-officedocument."

BINARY = [
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
    (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
    (b"GIF89a\x01\0\x01\0\0\0\0", "image/gif"),
    (b"BM\x46\0\0\0\0\0\0\0\x36\0", "image/bmp"),
    (b"II*\0\x08\0\0\0", "image/tiff"),
    (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
    (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    (b"\x1f\x8b\x08\0\0\0\0\0", "application/gzip"),
    (b"\x7fELF\x02\x01\x01\0", "application/x-elf"),
    (b"MZ\x90\0\x03\0\0\0", "application/vnd.microsoft.portable-executable"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"PAR1\x15\x04\x15", "application/vnd.apache.parquet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "application/x-ole-storage"),
    (b"{\\rtf1\\ansi", "application/rtf"),
    (b"a" * 257 + b"ustar\0", "application/x-tar"),
]


@pytest.mark.parametrize(("head", "media_type"), BINARY, ids=[m for _, m in BINARY])
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a", "a.csv"])
def test_signatures_decide_whatever_the_name_says(head: bytes, media_type: str, name: str) -> None:
    """XT-11: a picture named .md is `unsupported`, never text."""
    assert detect(head, name) == media_type
    with pytest.raises(ExtractionError, match=media_type) as caught:
        choose(head, name)
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize("name", ["a.pdf", "a.md", "a"])
def test_a_pdf_is_read_whatever_its_name_says(name: str) -> None:
    """XT-01: a wrong extension is no failure."""
    head = b"%PDF-1.7\n%\xe2\xe3"
    assert detect(head, name) == "application/pdf"
    assert choose(head, name) is extractor_for("application/pdf")


def archive(*members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for member in members:
            content = member.partition("=")[2]
            file.writestr(member.partition("=")[0], content or "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("members", "media_type"),
    [
        (["[Content_Types].xml", "word/document.xml"], OFFICE + "wordprocessingml.document"),
        (["[Content_Types].xml", "ppt/presentation.xml"], OFFICE + "presentationml.presentation"),
        (["[Content_Types].xml", "xl/workbook.xml"], OFFICE + "spreadsheetml.sheet"),
        (["mimetype=application/epub+zip", "x"], "application/epub+zip"),
        (
            ["mimetype=application/vnd.oasis.opendocument.text", "x"],
            "application/vnd.oasis.opendocument.text",
        ),
        (["readme.md"], "application/zip"),
    ],
)
def test_archives_are_told_apart_by_their_members(members: list[str], media_type: str) -> None:
    """Office formats are ZIP files."""
    assert detect(archive(*members), "x.md") == media_type


@pytest.mark.parametrize(
    "text",
    [
        "BMW is a maker of cars.",
        "MZ also made motorcycles.",
        "ID3 tags hold titles.",
        "GIF89a is a format.",
        "RIFF",
    ],
)
def test_sentences_that_begin_like_a_signature_are_text(text: str) -> None:
    """Letters alone are no signature."""
    assert detect(text.encode(), "a.md") == "text/markdown"
    assert detect((text + " Größe").encode(), "a.md") == "text/markdown"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("A.MARKDOWN", "text/markdown"),
        ("a.txt", "text/plain"),
        ("README", "text/plain"),
        ("a.pdf", "text/plain"),
        ("a.py", "text/plain"),
        ("dir.md/file", "text/plain"),
        ("a.csv", "text/csv"),
        ("a.html", "text/html"),
        ("a.srt", "application/x-subrip"),
    ],
)
def test_the_extension_decides_between_formats_that_are_text(name: str, media_type: str) -> None:
    """XT-01: a wrong extension is no failure: text named .pdf is plain text."""
    assert detect(b"plain words\n", name) == media_type


def test_html_shows_without_an_extension_but_not_in_markdown() -> None:
    """Markdown may begin with HTML."""
    assert detect(b"\xef\xbb\xbf\n<!DOCTYPE html><p>", "page") == "text/html"
    assert detect(b"<!DOCTYPE html><p>", "page.md") == "text/markdown"


def test_the_shared_files_are_known_by_content(shared: Path) -> None:
    """XT-13's files, each without its name."""
    expected = {
        ".pdf": "application/pdf",
        ".docx": OFFICE + "wordprocessingml.document",
        ".pptx": OFFICE + "presentationml.presentation",
        ".xlsx": OFFICE + "spreadsheetml.sheet",
        ".odt": "application/vnd.oasis.opendocument.text",
        ".epub": "application/epub+zip",
        ".rtf": "application/rtf",
    }
    seen = 0
    for path in sorted((shared / "extract/files").iterdir()):
        if path.suffix in expected:
            assert detect(path.read_bytes(), "") == expected[path.suffix], path.name
            seen += 1
    assert seen >= 15
