"""Where each part of an extracted text stands in its document (XT-02)."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Locator:
    """A run of characters that share a place in the document.

    Attributes:
        start_char: first code point of the run, in the extracted text.
        end_char: one past its last code point.
        locator: the place, as a URL fragment: `#char=a,b` counts code points of the decoded document (RFC
            5147), with its own line breaks (CR LF is two) and without a byte order mark; `#page=n&bbox=l,t,r,b` is
            a box on a page, see `page_locator`.
    """

    start_char: int
    end_char: int
    locator: str


def page_locator(page: int, box: tuple[float, float, float, float]) -> str:
    """A place on a page: its number from 1 (RFC 8118), and left, top, right, bottom in points from the top left corner.

    The page is taken as it is shown, turned if it asks to be.
    """
    return f"#page={page}&bbox=" + ",".join(f"{value:.1f}" for value in box)


def line_break_locators(original: str) -> tuple[Locator, ...]:
    """Locators of a decoded text whose line breaks were made LF; one for the whole when nothing moved.

    Where CR LF became LF offsets shift by one a line: then each line is a run of its own. An empty text has
    none.
    """
    if not original:
        return ()
    if "\r\n" not in original:
        return (Locator(0, len(original), f"#char=0,{len(original)}"),)
    locators: list[Locator] = []
    source = target = 0
    for match in re.finditer("\r\n", original):
        end = target + match.start() - source + 1
        locators.append(Locator(target, end, f"#char={source},{match.end()}"))
        source, target = match.end(), end
    if source < len(original):
        end = target + len(original) - source
        locators.append(Locator(target, end, f"#char={source},{len(original)}"))
    return tuple(locators)
