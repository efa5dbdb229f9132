"""Characters that would not be seen, or would rearrange what is: shown by name, never passed on raw.

Controls (a terminal obeys some), NUL (no HTML may hold it), lone surrogates (no encoding may), marks that turn the
writing direction, and characters without width that can hide words. Joiners stay: scripts and emoji need them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_CONTROLS = (
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI", "DLE",
    "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
)  # fmt: skip
_NAMES = {
    0x007F: "DEL", 0x0085: "NEL",
    0x00AD: "SHY", 0x061C: "ALM", 0x180E: "MVS", 0x200B: "ZWSP", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LSEP",
    0x2029: "PSEP", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO", 0x2060: "WJ",
    0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xFEFF: "BOM",
}  # fmt: skip
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def name_of(character: str) -> str:
    """What such a character is called: its abbreviation in Unicode's charts, else its number."""
    code = ord(character)
    return _CONTROLS[code] if code < len(_CONTROLS) else _NAMES.get(code) or f"U+{code:04X}"


def plain(text: str) -> str:
    """The text with each such character replaced by its name in angle brackets; safe for a terminal."""
    return _ODD.sub(lambda found: f"⟨{name_of(found[0])}⟩", text)


def escaped(text: str) -> str:
    """The same for HTML, in an attribute or where no tag may stand."""
    return html.escape(plain(text))


def marked(text: str) -> str:
    """For HTML text: each such character as an element that names it, with its number in `data-code`."""
    return "".join(
        f'<i class="odd" data-code="{ord(part):X}" title="U+{ord(part):04X}">{html.escape(name_of(part))}</i>'
        if odd
        else html.escape(part)
        for odd, part in _parts(text)
    )


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Runs of ordinary text, and single odd characters."""
    at = 0
    for found in _ODD.finditer(text):
        if found.start() > at:
            yield False, text[at : found.start()]
        yield True, found[0]
        at = found.end()
    if at < len(text):
        yield False, text[at:]
