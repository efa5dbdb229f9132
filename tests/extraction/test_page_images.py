"""Pictures of pages: as large as fits, whatever a page declares, and one page's fault costs no other (XT-11)."""

from __future__ import annotations

from typing import Any, cast

import pymupdf
import pytest

from linkrag_dagster.extraction import ExtractionError
from linkrag_dagster.extraction.page_images import PIXELS, draw_pages
from tests.extraction import hostile_pdf


def size_of(data: bytes) -> tuple[int, int]:
    picture = cast("Any", pymupdf).Pixmap(data)
    return cast("tuple[int, int]", (picture.width, picture.height))


def test_pages_are_drawn_as_they_are_shown() -> None:
    """A turned page is drawn turned, and its size is the turned one: boxes are measured in it."""
    document = pymupdf.open()
    document.new_page(width=400, height=600).insert_text((72, 100), "Herring")
    document.new_page(width=400, height=600).set_rotation(90)
    data = document.tobytes()
    upright, turned = draw_pages(data, name="a.pdf", pages=[1, 2, 9])
    assert (upright.page, upright.width, upright.height) == (1, 400.0, 600.0)
    assert (turned.page, turned.width, turned.height) == (2, 600.0, 400.0)
    for image in (upright, turned):
        width, height = size_of(image.data)
        assert (
            width <= PIXELS[0] and height <= PIXELS[1] and max(width / PIXELS[0], height / PIXELS[1]) > 0.99
        )
        assert image.media_type in ("image/png", "image/jpeg")


@pytest.mark.parametrize("name", ["box-huge", "box-empty", "box-upside-down", "box-nonsense", "image-huge"])
def test_pages_of_any_size_are_drawn(name: str) -> None:
    """A page of a billion points takes no more pixels than another."""
    (image,) = draw_pages(hostile_pdf.BUILT[name](), name=name, pages=[1])
    assert image.width > 0 and image.height > 0
    if image.data:
        width, height = size_of(image.data)
        assert 0 < width <= PIXELS[0] and 0 < height <= PIXELS[1]


@pytest.mark.parametrize(("name", "kind"), [("header-alone", "corrupt"), ("password-user", "encrypted")])
def test_what_cannot_be_opened_fails_by_kind(name: str, kind: str) -> None:
    with pytest.raises(ExtractionError) as caught:
        draw_pages(hostile_pdf.BUILT[name](), name=name, pages=[1])
    assert caught.value.kind == kind and name in caught.value.message
