"""Linear time on texts made to be slow (TK-04, EL-04)."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from linkrag_dagster.markdown import parse

SLOWEST: dict[str, tuple[Callable[[int], str], int]] = {
    "paragraphs": (lambda n: ("word " * 14 + "\n\n") * n, 4_000),
    "blank lines": (lambda n: "a" + "\n" * n + "b", 60_000),
    "headings": (lambda n: "# a\n" * n, 8_000),
    "underlined": (lambda n: "a\n-\n" * n, 8_000),
    "open fence": (lambda n: "```\n" + "x\n" * n, 60_000),
    "open comment": (lambda n: "<!--\n" + "x\n" * n, 40_000),
    "comments that reopen": (lambda n: "<!--\n\n" * n, 20_000),
    "items": (lambda n: "- a\n" * n, 6_000),
    "items far apart": (lambda n: "- a\n" + "\n" * n + "- b", 60_000),
    "markers": (lambda n: "- " * n + "x", 20_000),
    "quoted lists": (lambda n: "> - a\n" * n, 3_000),
    "formulas that never close": (lambda n: "\\[ a\n" * n, 10_000),
    "in items": (lambda n: "- \\[ a\n\n  \\[ b\n" * n, 3_000),
    "in one item": (lambda n: "- x\n" + "  - \\[ a\n\n  \\[ b\n" * n, 3_000),
    "definitions": (lambda n: "[a]: /x\n" * n, 5_000),
    "definitions without end": (lambda n: "[a]: /x 'y\n" * n, 10_000),
    "footnotes": (lambda n: "[^a]: b\n" * n, 5_000),
    "tables": (lambda n: "a|b\n-|-\n" * n, 10_000),
    "images": (lambda n: "![a](b) " * n, 4_000),
    "image openings": (lambda n: "![" * n, 100_000),
    "brackets of a title": (lambda n: "# " + "[" * n, 100_000),
    "stars of a title": (lambda n: "# " + "*a " * n, 100_000),
    "html openings": (lambda n: "<div>\n" + "<pre <table\n" * n, 15_000),
    "attributes": (lambda n: "<a" + " a" * n, 200_000),
}


def seconds(text: str) -> float:
    """Processor time of the quickest of three parses."""
    times: list[float] = []
    for _ in range(3):
        begun = time.process_time()
        parse(text)
        times.append(time.process_time() - begun)
    return min(times)


@pytest.mark.parametrize("name", SLOWEST)
def test_twice_the_text_takes_twice_the_time(name: str) -> None:
    """TK-04: a square would take four times as long; three leaves room for a busy machine."""
    make, size = SLOWEST[name]
    once, twice = seconds(make(size)), seconds(make(2 * size))
    assert twice <= 3 * once + 0.02


def test_five_megabytes_on_one_line() -> None:
    """TK-04, EL-04: the length of a line costs nothing of its own."""
    text = "lorem ipsum " * 420_000
    (element,) = parse(text)
    assert (element.kind, element.start_char, element.end_char) == ("paragraph", 0, len(text))


@pytest.mark.slow
def test_a_million_headings() -> None:
    """TK-04: each with its own trail."""
    elements = parse("# a\n\n## b\n\n" * 500_000)
    assert len(elements) == 1_000_000
    assert elements[-1].heading_trail == ("a", "b")
    assert elements[-1].trail_indexes == (999_998, 999_999)


@pytest.mark.slow
def test_ten_thousand_items_each_deeper_than_the_last() -> None:
    """EL-04: a hundred megabytes of indent are one list; what follows stays outside."""
    text = "".join("  " * depth + "- x\n" for depth in range(10_000)) + "\n# After\n"
    assert [element.kind for element in parse(text)] == ["list", "heading"]
