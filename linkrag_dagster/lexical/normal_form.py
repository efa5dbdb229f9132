"""One form for texts that read alike: NFKC, accents folded, typographic signs plain (BM-02).

Case is kept: the bounds of `CamelCase` parts need it. Who indexes a word folds its case at the end.
"""

from __future__ import annotations

import re
import unicodedata

# Lengths don't matter here: nobody points from a term back into the text.
_SIGNS: dict[int, str] = {
    **dict.fromkeys((0x00AD, 0x200C, 0x200D, 0x2060, 0xFEFF), ""),  # invisible inside a word
    **dict.fromkeys((0x2010, 0x2011, 0x2212), "-"),  # hyphens and minus: R-17 however it is typed
    **dict.fromkeys((0x2018, 0x2019, 0x02BC), "'"),
    **{ord(a): b for a, b in zip("øØłŁđĐħŧıþÞðÐ", "oOlLdDhtitTdD", strict=True)},
    **{ord(a): b for a, b in zip("æÆœŒß", ("ae", "AE", "oe", "OE", "ss"), strict=True)},
}

# Marks are accents only on Latin and Greek letters, on Russian io, and as stress on Russian vowels; elsewhere they
# make other letters: Cyrillic short i, Macedonian gje, voiced kana, Indic vowels.
_RUSSIAN_VOWELS = "аеиоуыэюяАЕИОУЫЭЮЯ"
_ACCENTS = re.compile(
    "(?<=[A-Za-z\u00aa-\u024f\u0250-\u02af\u1e00-\u1eff\u0370-\u03ff\u1f00-\u1fff])[\u0300-\u036f]+"
    f"|(?<=[\u0435\u0415])\u0308|(?<=[{_RUSSIAN_VOWELS}])\u0301"
)


def normal_form(text: str) -> str:
    """The text under NFKC, accents of Latin and Greek letters folded, typographic signs made plain.

    ASCII text is returned as it is. Case is kept.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
