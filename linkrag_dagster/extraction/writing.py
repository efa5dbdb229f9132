"""Whether decoded characters look like writing: the check that keeps mojibake out.

Bytes that are no text, or text in another encoding, decode under many single-byte encodings. What comes out
differs from writing in ways that need no knowledge of the language:

- it holds characters that no text holds: C1 controls, private use, unassigned, U+FFFD;
- its words mix scripts (`caf` and a Greek iota), change from small to capital letters inside (`fraNÃais`),
  and have signs between letters (`Ã¶`, `a¤b`);
- East Asian text is made of some thousand common characters; by chance one hits rare ones far more often.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SAMPLE = 16_384
_BAD_SHARE = 0.15
_COMMON_SHARE = 0.6

# Signs that stand inside or next to words in good text: quotes, dashes, ellipsis, soft hyphen, middle dot,
# ordinals.
_WORD_SIGNS = frozenset("‘’“”‚„‹›«»–—…·•\u00ad\u00a0ªº°²³¹′″‐‑´€£¥§©®™†‡½¼¾×±")
_QUOTES = frozenset("‘’“”‚„‹›«»–—…·•\u00ad\u00a0")
_OTHER_CATEGORIES = frozenset({"Cc", "Cn", "Co", "Cs"})
_HIGH = re.compile(r"[^\x00-\x7f]+")


def is_writing(text: str, encoding: str = "") -> bool:
    """Whether the characters above ASCII stand as they do in writing; a text without any is.

    `encoding` names the codec that the text was read with: it says which ideographs are common in it.
    """
    sample = _evidence(text)
    high = [char for char in sample if char > "\x7f"]
    if not high:
        return True
    kinds = [_kind(char) for char in high]
    if "never" in kinds:
        return False
    east = [char for char, kind in zip(high, kinds, strict=True) if kind == "east"]
    if len(east) * 2 > len(high):
        return _common_share(east, encoding) >= _COMMON_SHARE and len(high) - len(east) <= 0.35 * len(high)
    return _bad(sample) <= _BAD_SHARE * len(high)


def is_east_asian(text: str, encoding: str) -> bool:
    """Whether nearly all characters above ASCII, eight at least, are everyday East Asian ones."""
    high = [char for char in _evidence(text) if char > "\x7f"]
    east = [char for char in high if _kind(char) == "east"]
    return len(east) >= 8 and len(east) == len(high) and _common_share(east, encoding) >= 0.95


def _evidence(text: str) -> str:
    """The runs that leave ASCII, up to a limit, each with one neighbour on either side."""
    runs: list[str] = []
    total = 0
    for match in _HIGH.finditer(text):
        runs.append(text[max(0, match.start() - 1) : match.end() + 1][:_SAMPLE])
        total += len(runs[-1])
        if total >= _SAMPLE:
            break
    return " ".join(runs)


def _bad(sample: str) -> int:
    """Characters above ASCII that do not fit their neighbours."""
    bad = 0
    padded = f" {sample} "
    for at in range(1, len(padded) - 1):
        char = padded[at]
        if char <= "\x7f":
            continue
        before, after = padded[at - 1], padded[at + 1]
        kind = _kind(char)
        if kind == "sign":
            misplaced = char not in _WORD_SIGNS and before.isalpha()
            # Quotes and dashes meet, other signs above ASCII do not.
            paired = before > "\x7f" and before != char and _kind(before) == "sign"
            if misplaced or (paired and not {before, char} & _QUOTES):
                bad += 1
        elif (
            (before.isalpha() and _script(before) != _script(char))
            or (after <= "\x7f" and after.isalpha() and _script(after) != _script(char))
            or (char.isupper() and before.islower())
            or (char.isupper() and after.islower() and before.isupper())
            or (char.islower() and after <= "\x7f" and after.isupper())
        ):
            bad += 1
    return bad


@lru_cache(maxsize=65_536)
def _kind(char: str) -> str:
    """`never` in text, `east` (Asian), `letter`, or `sign`."""
    if char == "\ufffd" or unicodedata.category(char) in _OTHER_CATEGORIES:
        return "never"
    if unicodedata.east_asian_width(char) in "WF" or "\uff61" <= char <= "\uff9f":
        return "east"
    return "letter" if char.isalpha() or unicodedata.category(char) in ("Mn", "Mc") else "sign"


@lru_cache(maxsize=8_192)
def _script(char: str) -> str:
    """The first word of a character's Unicode name: its script; combining marks belong to any."""
    if char in "ªºµ" or unicodedata.category(char) in ("Mn", "Mc"):
        return "LATIN"
    return unicodedata.name(char, "?").split(" ", 1)[0]


def _common_share(chars: list[str], encoding: str) -> float:
    """Share of everyday characters: kana, Hangul, punctuation, ideographs of a first national level."""
    levels = _LEVELS.get(encoding, _ALL_LEVELS)
    return sum(_is_common(char, levels) for char in chars) / len(chars)


# Level 1 of GB 2312, Big5 and JIS X 0208: the 3,755, 5,401 and 2,965 most used ideographs; Hangul of KS X
# 1001: 2,350.
_CHINESE = (("gb2312", b"\xb0\xa1", b"\xd7\xf9"), ("big5", b"\xa4\x40", b"\xc6\x7e"))
_JAPANESE = (("euc_jp", b"\xb0\xa1", b"\xcf\xd3"),)
_KOREAN = (("euc_kr", b"\xb0\xa1", b"\xc8\xfe"),)
_ALL_LEVELS = _CHINESE + _JAPANESE + _KOREAN
_LEVELS = {
    "gb18030": _CHINESE,
    "cp950": _CHINESE,
    "big5hkscs": _CHINESE,
    "cp932": _JAPANESE,
    "shift_jis_2004": _JAPANESE,
    "euc_jp": _JAPANESE,
    "euc_jis_2004": _JAPANESE,
    "cp949": _KOREAN,
}


@lru_cache(maxsize=65_536)
def _is_common(char: str, levels: tuple[tuple[str, bytes, bytes], ...]) -> bool:
    point = ord(char)
    if 0x3000 <= point <= 0x30FF or 0xFF01 <= point <= 0xFF5E:
        return True
    return any(_between(char, *level) for level in levels)


def _between(char: str, encoding: str, first: bytes, last: bytes) -> bool:
    try:
        encoded = char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return len(encoded) == 2 and first <= encoded <= last
