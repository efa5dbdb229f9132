"""Where words, codes, identifiers and runs of Chinese, Japanese and Korean begin and end (BM-02).

Scripts that write no spaces but are not named here (Thai, Lao, Khmer, Burmese) stay one word a run.
"""

from __future__ import annotations

import re
import unicodedata

_CJK = (
    "\u1100-\u11ff\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\U0001b000-\U0001b16f"
    "\U00020000-\U0003fffd"
)


def _marks() -> str:
    """Combining marks, as ranges of a character class: `\\w` leaves them out, and Indic words need them."""
    ranges: list[tuple[int, int]] = []
    for first, last in (
        (0x0300, 0xABFF),
        (0xFB00, 0xFE2F),
        (0x10000, 0x11FFF),
        (0x16A00, 0x16FFF),
        (0x1D000, 0x1EFFF),
    ):
        for code in range(first, last + 1):
            if unicodedata.category(chr(code))[0] == "M" and code not in (0x3099, 0x309A):
                if ranges and ranges[-1][1] == code - 1:
                    ranges[-1] = (ranges[-1][0], code)
                else:
                    ranges.append((code, code))
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


def _pattern(letter: str) -> str:
    """Words over one class of letters, digits and marks.

    Every repetition is bounded by characters that the next one can't take, so that matching is linear.
    """
    return "|".join(
        (
            rf"[0-9]{{1,3}}(?:,[0-9]{{3}})+(?:\.[0-9]+)?(?!,?{letter})",  # 1,024
            rf"[A-Za-z](?:\+\+|\#)(?!{letter})",  # C++, C#
            rf"{letter}+(?:(?:[-.']|_+){letter}+)*",  # words, R-17, max_tokens, os.path, don't
        )
    )


ASCII_WORDS = re.compile(_pattern("[A-Za-z0-9]"))
"""Words of an ASCII text."""

CJK_RUN = re.compile(f"[{_CJK}]+")
"""A run of Han, kana, Hangul or Bopomofo characters."""

# A letter or digit outside those runs, or a mark: a negated class can't take in the marks too.
_LETTER = f"(?:[^\\W_{_CJK}]|[{_marks()}])"

WORDS = re.compile(f"{CJK_RUN.pattern}|{_pattern(_LETTER)}")
"""Runs of Chinese, Japanese and Korean, and words, of any text."""

CONNECTORS = re.compile(r"[-._']+")
"""What joins the parts of an identifier or code."""

_CAMEL = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[^A-Z]+|[A-Z]")
PLURAL_ACRONYM = re.compile(r"[A-Z]{2,}s")
"""`PDFs`, `IDs`."""


def camel_parts(word: str) -> list[str]:
    """Parts of a CamelCase word: `HTTPServer` → `HTTP`, `Server`; `PDFs`, `E0412` and `word` are one part.

    Only ASCII capitals begin a part.
    """
    if PLURAL_ACRONYM.fullmatch(word):
        return [word]
    return _CAMEL.findall(word)
