"""What a plan says of texts that it has not read yet: never too little, and of scans not absurdly much (VE-05)."""

from __future__ import annotations

import zlib
from pathlib import Path

import pymupdf
import pytest

from linkrag_dagster.stages.pdf_size import MOST, PICTURE, most_text
from linkrag_dagster.stages.plan import plan_road
from linkrag_dagster.stages.road import STAGES

from .conftest import Project


def packed(pages: int, lines: int) -> bytes:
    """Short paragraphs, compressed to a fraction of their text's size."""
    with pymupdf.open() as pdf:
        for _ in range(pages):
            page = pdf.new_page(height=38.0 * lines + 80)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
            for line in range(lines):
                page.insert_text((72, 40 + 38 * line), "tide turns", fontsize=11 if line % 2 else 16)  # pyright: ignore[reportUnknownMemberType]
            page.clean_contents()  # pyright: ignore[reportUnknownMemberType]
        return bytes(pdf.tobytes(deflate=True, garbage=3, use_objstms=1))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def scanned() -> bytes:
    """A page that is one picture, larger than the words on it could ever be."""
    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 400, 400), False)
    picture.set_rect(picture.irect, (200, 210, 220))  # pyright: ignore[reportUnknownMemberType]
    for at in range(400):
        picture.set_pixel(at, (at * at * 7919) % 400, (at % 256, at * 3 % 256, at * 7 % 256))  # pyright: ignore[reportUnknownMemberType]
    with pymupdf.open() as pdf:
        page = pdf.new_page()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        page.insert_image(page.rect, pixmap=picture)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        return bytes(pdf.tobytes(deflate=False))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("short.html", b"<h1>a" + b"<p>b c" * 300),
        ("packed.pdf", packed(10, 100)),
    ],
)
def test_no_stage_does_more_than_was_planned(
    project: Project, small_models: dict[str, Path], name: str, content: bytes
) -> None:
    """VE-05: numbers that say they are upper bounds are, for the shortest blocks of HTML and for compressed text."""
    project.use(small_models["old"])
    project.build()
    project.write(name, content)
    plan = plan_road(project.road(), STAGES)
    built = project.build()
    assert built.stages["elements"].new > 200
    for table, done in built.stages.items():
        planned = plan.stages[table]
        assert done.new + done.stale <= planned.new + planned.stale, table
    assert built.embedded_texts <= plan.texts_to_embed
    assert built.embedded_tokens <= plan.tokens_to_embed


def test_a_picture_is_no_text() -> None:
    """VE-05: what a scan may hold are a page's words, not its file's bytes."""
    data = scanned()
    assert len(data) > 400_000
    assert most_text(data) < PICTURE + 5_000


def test_damaged_and_hostile_files_are_bounded() -> None:
    """VE-05: garbage is bounded by its size, a bomb by the most that is inflated."""
    whole = packed(2, 20)
    for data in (b"", b"%PDF-1.7\n\x00stream", whole[: len(whole) // 2], whole.replace(b"\x78", b"\x00")):
        assert 0 <= most_text(data) <= len(data) + 40_000
    bomb = zlib.compress(bytes(2 * MOST))
    data = b"1 0 obj<</Filter/FlateDecode>>stream\n" + bomb + b"\nendstream endobj\n"
    assert MOST <= most_text(data * 3) <= MOST + 3 * len(data)
