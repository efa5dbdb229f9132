"""The characters of the font ZapfDingbats, in which forms draw their ticks (XT-09)."""

from __future__ import annotations

_OTHERS = {
    "%": "\u260e",
    "*": "\u261b",
    "+": "\u261e",
    "H": "\u2605",
    "l": "\u25cf",
    "n": "\u25a0",
    "s": "\u25b2",
    "t": "\u25bc",
    "u": "\u25c6",
    "w": "\u25d7",
}
"""Those that Unicode has outside its block of dingbats."""


def dingbat(char: str) -> str:
    """What an ASCII character stands for in ZapfDingbats: `3` is a tick. Others stay."""
    if not "!" <= char <= "~":
        return char
    return _OTHERS.get(char) or chr(0x2701 + ord(char) - 0x21)
