"""The chapters that are printed as PDF and HTML give back the words of their sources (XT-02 to XT-07)."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path

import pytest

from linkrag_dagster.extraction import Extraction, extract
from linkrag_dagster.markdown import parse
from linkrag_dagster.tokens.sentences import sentences

DATA = Path(__file__).resolve().parents[2] / "data"
CHAPTERS = ("07-index-structures.pdf", "09-embedding-models.html", "13-cost-and-capacity.pdf")


@cache
def source(name: str) -> str:
    return (DATA / "sources" / name).with_suffix(".md").read_text(encoding="utf-8")


@cache
def extracted(name: str) -> Extraction:
    return extract((DATA / "handbook" / name).read_bytes(), name)


def words(markdown: str) -> str:
    """The words of prose: no marks of emphasis and code, no escapes, white space as one blank.

    A chapter has one footnote at most, which print numbers.
    """
    bare = re.sub(r"\\(?=[!-/:-@\[-`{-~])|[*`]|</?sup>", "", markdown)
    return " ".join(re.sub(r"\[\^\w+\]", "[1]", bare).split())


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_sentence_is_found(name: str) -> None:
    """Across lines, columns and pages: the words of each sentence of prose, exactly, in the source's order."""
    text = words(extracted(name).text)
    at = 0
    found = 0
    for element in parse(source(name)):
        if element.kind != "paragraph":
            continue
        prose = source(name)[element.start_char : element.end_char]
        for start, end in sentences(prose):
            sentence = words(prose[start:end])
            place = text.find(sentence, at)
            assert place >= 0, sentence
            at = place + len(sentence)
            found += 1
    assert found > 50


@pytest.mark.parametrize("name", CHAPTERS)
def test_headings_keep_their_levels(name: str) -> None:
    """XT-06: and the title is the chapter's."""
    made = [
        (element.level, element.title) for element in parse(extracted(name).text) if element.kind == "heading"
    ]
    written = [(element.level, element.title) for element in parse(source(name)) if element.kind == "heading"]
    assert made == written
    assert extracted(name).title == written[0][1]
    assert extracted(name).language == "en"


@pytest.mark.parametrize("name", CHAPTERS)
def test_tables_and_code_keep_their_cells_and_lines(name: str) -> None:
    """XT-06: whole cells, rows in order; code with its indentation; formulas as they are written."""
    for kind in ("table", "code", "math"):
        assert blocks_of(extracted(name).text, kind) == blocks_of(source(name), kind)


def blocks_of(text: str, kind: str) -> list[list[str]]:
    """The lines of each block: code without its fences, a table's rows without its delimiters."""
    found: list[list[str]] = []
    for element in parse(text):
        if element.kind != kind:
            continue
        lines = text[element.start_char : element.end_char].split("\n")
        if kind == "math":
            found.append(" ".join(lines).split())
        elif kind == "code":
            found.append([line.rstrip() for line in lines[1:-1]])
        else:
            cells = [[words(cell) for cell in line.strip().strip("|").split("|")] for line in lines]
            found.append([" | ".join(row) for row in cells[:1] + cells[2:]])
    return found


@pytest.mark.parametrize("name", CHAPTERS)
def test_figures_carry_their_description(name: str) -> None:
    """The drawing's description is that of the image element."""
    images = [element for element in parse(source(name)) if element.kind == "image"]
    made = [element.description or "" for element in parse(extracted(name).text) if element.kind == "image"]
    assert images
    assert len(made) == len(images)
    for element, description in zip(images, made, strict=True):
        assert description.endswith(words(element.description or ""))


def test_furniture_is_left_out() -> None:
    """XT-05: running headers, page numbers; navigation, header and footer of a page."""
    assert "Retrieval Handbook" not in extracted("07-index-structures.pdf").text
    for name in CHAPTERS[::2]:
        assert not re.search(r"^\d+$", extracted(name).text, re.MULTILINE)
    page = extracted("09-embedding-models.html").text
    for words_of_the_site in ("Search", "Previous chapter", "corrections go there", "¶", "classList"):
        assert words_of_the_site not in page


def test_pages_cover_the_text() -> None:
    """XT-02: pages follow each other; every locator names a page whose range holds it."""
    for name in CHAPTERS[::2]:
        result = extracted(name)
        assert [page.page for page in result.pages] == list(range(1, len(result.pages) + 1))
        assert len(result.pages) > 2
        assert all(a.end_char <= b.start_char for a, b in zip(result.pages, result.pages[1:], strict=False))
        for locator in result.locators:
            match = re.match(r"#page=(\d+)&bbox=[\d.]+,[\d.]+,[\d.]+,[\d.]+$", locator.locator)
            assert match is not None
            page = result.pages[int(match[1]) - 1]
            assert page.start_char <= locator.start_char < locator.end_char <= page.end_char


def test_printing_again_gives_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is committed is what the script prints from the sources as they are."""
    printer = runpy.run_path(str(DATA / "sources" / "print.py"))
    monkeypatch.setitem(printer["print_pdf"].__globals__, "HANDBOOK", tmp_path)
    printer["main"]()
    for name in CHAPTERS:
        assert extract((tmp_path / name).read_bytes(), name).text == extracted(name).text
