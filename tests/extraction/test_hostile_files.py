"""Hostile files end by their own kind or with their words, each in its worker's limits (XT-11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pymupdf
import pytest

from linkrag_dagster.extraction import RETRYABLE, Extraction, ExtractionError
from linkrag_dagster.workers import Job, Outcome, WorkerLimits, Workers
from tests.extraction import hostile_html, hostile_pdf

LIMITS = WorkerLimits(seconds=6.0, memory_mb=1024, workers=2)
SEED = 20_261_130

WORDS = "ok"
ENDLESS = frozenset(("timeout", "memory", "crash"))
PDF_KINDS: Mapping[str, frozenset[str]] = {
    # What no reader can repair has its kind; what others show, as MuPDF does, has its words.
    **dict.fromkeys(
        (
            "no-pages", "count-beyond", "count-negative", "count-not-a-number", "pages-twice", "pages-loop",
            "pages-self", "nested-arrays", "nested-dictionaries", "no-xref", "root-missing", "header-alone",
            "header-and-noise",
        ),
        frozenset(("corrupt",)),
    ),
    **dict.fromkeys(("password-user", "password-user-rc4"), frozenset(("encrypted",))),
    **dict.fromkeys(("bomb", "bomb-twice", "filters-many"), ENDLESS | {"no_text", "corrupt"}),
    "bomb-of-marks": ENDLESS | {"corrupt"},
    **dict.fromkeys(("bomb-of-text", "laughs"), ENDLESS),
    # Characters whose meaning is a loop: without end, or unreadable, or recognised from the picture.
    "tounicode": ENDLESS | {"no_text", WORDS},
}  # fmt: skip
SLOW = frozenset(kind for kind, kinds in PDF_KINDS.items() if kinds >= ENDLESS)
PAGE = (
    "<title>Quay</title><nav><a href=x>Home</a></nav><main><h1>Quay</h1><p>Herring &amp; crab <b>come <i>in</b></i>"
    "<ul><li>one<li>two<ol><li>three</ol></ul><table><tr><th>a<th>b<tr><td colspan=2>c</table><pre>x = 1\n</pre>"
    "<figure><img alt=Boat src=y><figcaption>A boat</figcaption></figure></main><footer>2024</footer>"
)


def outcomes(documents: Iterable[tuple[str, bytes]], suffix: str) -> dict[str, Outcome]:
    with Workers(LIMITS) as workers:
        return dict(workers.run((name, Job(data, name + suffix, name + suffix)) for name, data in documents))


def assert_own_kind(found: Mapping[str, Outcome]) -> None:
    """A failure has a known kind and names its document; a text is whole: words, and a place for each."""
    for name, outcome in found.items():
        if isinstance(outcome, ExtractionError):
            assert outcome.kind in RETRYABLE and outcome.message.startswith(name), (name, outcome.message)
            continue
        assert outcome.text.strip(), name
        at = 0
        for run in outcome.locators:
            assert at <= run.start_char < run.end_char <= len(outcome.text), (name, run)
            assert not outcome.text[at : run.start_char].strip(), (name, run)
            at = run.end_char
        assert not outcome.text[at:].strip(), name
        assert all(0 <= p.start_char <= p.end_char <= len(outcome.text) for p in outcome.pages), name
        outcome.text.encode()


def assert_expected(found: Mapping[str, Outcome]) -> None:
    for name, outcome in found.items():
        allowed = PDF_KINDS.get(name, frozenset((WORDS,)))
        if isinstance(outcome, ExtractionError):
            assert outcome.kind in allowed, (name, outcome.kind, outcome.message)
        else:
            assert WORDS in allowed, name
            assert "Herring and crab from the north quay." in outcome.text, name


def drawn() -> list[bytes]:
    """Documents with what PDF files have: columns, pictures, forms of streams old and new, a table of contents."""
    made: list[bytes] = []
    for pages in (1, 4):
        document = pymupdf.open()
        for number in range(pages):
            page = document.new_page()
            page.insert_text((72, 72), f"Chapter {number}", fontsize=20)
            page.insert_textbox((72, 100, 290, 700), "Herring and crab from the north quay. " * 30)
            page.insert_textbox((310, 100, 540, 700), "Nets dry on racks behind the shed. " * 30)
            page.draw_rect((300, 720, 400, 760))
        document.set_toc([[1, f"Chapter {number}", number + 1] for number in range(pages)])
        made += [document.tobytes(), document.tobytes(deflate=True, use_objstms=1)]
    return [*made, hostile_pdf.page(), hostile_pdf.laughs(3)]


def test_built_pdfs_end_by_their_kind() -> None:
    """XT-11: loops, wrong counts, passwords, nonsense where numbers belong."""
    found = outcomes(((n, f()) for n, f in hostile_pdf.BUILT.items() if n not in SLOW), ".pdf")
    assert len(found) > 25
    assert_own_kind(found)
    assert_expected(found)


def test_damaged_pdfs_end_by_their_kind() -> None:
    """XT-11: cut off, flipped, spliced, misled; the same ones in every run."""
    found = outcomes(hostile_pdf.mutants(drawn(), 30, SEED), ".pdf")
    assert len(found) == 30
    assert_own_kind(found)


def test_damaged_pages_end_by_their_kind() -> None:
    """XT-11: HTML is never wrong: most have words left."""
    found = outcomes(hostile_html.mutants([PAGE], 40, SEED), ".html")
    assert len(found) == 40
    assert_own_kind(found)
    assert sum(isinstance(outcome, Extraction) for outcome in found.values()) > 20


@pytest.mark.slow
def test_bombs_end_by_their_kind() -> None:
    """XT-11: what swells or never ends is ended, and the document after it is read."""
    built: Mapping[str, Callable[[], bytes]] = {n: hostile_pdf.BUILT[n] for n in sorted(SLOW)}
    documents = [
        pair
        for name, make in built.items()
        for pair in ((name, make()), (f"after-{name}", hostile_pdf.page()))
    ]
    found = outcomes(documents, ".pdf")
    assert len(found) == 2 * len(SLOW)
    assert_own_kind(found)
    assert_expected(found)


@pytest.mark.slow
def test_built_pages_show_their_words() -> None:
    """XT-11: pages that are deep, long or nonsense throughout."""
    made = ((name, b"<!DOCTYPE html>" + make().encode()) for name, make in hostile_html.BUILT.items())
    with Workers(WorkerLimits(seconds=120.0, memory_mb=2048, workers=2)) as workers:
        found = dict(workers.run((name, Job(data, name, name)) for name, data in made))
    assert set(found) == set(hostile_html.BUILT)
    assert_own_kind(found)
    for name, outcome in found.items():
        if name in hostile_html.SHOWS_NOTHING:
            assert getattr(outcome, "kind", "") == "no_text", name
        elif name == "nul":
            assert getattr(outcome, "kind", "") == "decode"
        else:
            assert isinstance(outcome, Extraction) and "herring" in outcome.text, name
