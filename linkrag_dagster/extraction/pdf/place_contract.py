"""The contract of a PDF's locators: each box holds the glyphs of its characters, and ends where they end (XT-02).

The boxes are compared with the words as they were read from the pages, not with the blocks that they were made from:
a box that goes wrong between the two shows here, a word that is lost does not.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.locator_contract import SLACK
from linkrag_dagster.extraction.locators import Locator, box_on_page
from linkrag_dagster.extraction.pdf.words import Box, PageText

_NO_LETTERS = re.compile(r"[\W_]+")
_IMAGE = re.compile(r"!\[(.*)\]\([^()]*\)", re.DOTALL)
"""An image: its caption, and an address that names its place."""
_TICKED = "- [x] "
_CELL_ENDS = re.compile(r"(?<!\\)\|")
_Placed = tuple[tuple[float, float, float, float], str]
"""Top, left, right and bottom of a word on the page as shown, and its characters."""
_EDGES = (("left", 0, 1), ("top", 1, 0), ("right", 2, 2), ("bottom", 3, 3))
"""An edge's name, where a box has it, and where `_Placed` has it."""


def check_places(name: str, text: str, locators: Sequence[Locator], pages: Sequence[PageText]) -> None:
    """Look at each locator's box against the words of its page.

    Letters and digits are compared: signs are written otherwise in Markdown than on a page.

    Args:
        name: what the message calls the document.
        text: its canonical text.
        locators: of the text, in order.
        pages: the words that the text was made from, with their places.

    Raises:
        ExtractionError: `contract`, where a box misses a glyph of its characters (fewer of some letter stand in it
            than in the text), or reaches further than its block (at one of its edges stands no word of the text).
    """
    words = {page.number: _from_top(page) for page in pages}
    for locator in locators:
        characters = text[locator.start_char : locator.end_char]
        problem = _problem(locator, characters, words)
        if problem:
            start = " ".join(characters.split())[:40]
            raise ExtractionError(
                "contract",
                f"{name}: the box of {start!r} ({locator.locator}) {problem}: report it, and exclude the document",
            )


def _from_top(page: PageText) -> list[_Placed]:
    found = [(word.place, word.text) for word in page.words()]
    return sorted(((top, left, right, bottom), text) for (left, top, right, bottom), text in found)


def _problem(locator: Locator, characters: str, words: Mapping[int, Sequence[_Placed]]) -> str:
    """What is wrong with a locator; "" where nothing is."""
    found = box_on_page(locator.locator)
    if found is None or found[0] not in words:
        return "names no page of the document"
    page, box = found
    if not any(map(str.isalnum, characters)):
        return ""
    left, top, right, bottom = box[0] - SLACK, box[1] - SLACK, box[2] + SLACK, box[3] + SLACK
    on_page = words[page]
    first = bisect_left(on_page, ((top,),))
    last = bisect_right(on_page, ((bottom,),), lo=first)
    inside = [
        word
        for word in on_page[first:last]
        if word[0][3] <= bottom and word[0][1] >= left and word[0][2] <= right
    ]
    problems = [_compared(written, inside, box) for written in _readings(characters)]
    return problems[0] if all(problems) else ""


def _compared(written: str, inside: Sequence[_Placed], box: Box) -> str:
    """What of the words written is not inside a box, or which edge of it holds none of them."""
    if not any(map(str.isalnum, written)):
        return ""
    there = Counter("".join([text for _, text in inside]))
    missed = [c for c, times in Counter(written).items() if times > there[c] and c.isalnum()]
    if missed:
        return f"misses {''.join(sorted(missed))!r}"
    letters = _letters(written)
    for side, of_box, of_word in _EDGES:
        edge = box[of_box]
        if not any(
            abs(place[of_word] - edge) <= SLACK and (text in written or _letters(text) in letters)
            for place, text in inside
        ):
            return f"reaches beyond its block ({side})"
    return ""


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text)


def _readings(characters: str) -> Iterator[str]:
    """What of a locator's characters may stand on the page: what looks like Markdown may be the page's own words."""
    image = _IMAGE.fullmatch(characters)
    if image is not None:
        yield image[1]
    elif characters.startswith("|"):
        # A cell that spans columns is written in each of them.
        yield "".join(dict.fromkeys(_CELL_ENDS.split(characters)))
    elif characters.startswith(_TICKED):
        yield characters.removeprefix(_TICKED)
    yield characters
