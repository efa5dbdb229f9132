"""The language of a text where its script or its commonest words show it."""

from __future__ import annotations

import re
from types import MappingProxyType

_SAMPLE = 20_000
_LEAST_WORDS = 8
"""Function words needed before a language is named: below, a list of names would get one by chance."""

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)

_WORDS = MappingProxyType(
    {
        "en": "the and of to in is that for with are was be this not which from",
        "de": "der die und das ist nicht mit den von ein eine auf wird für dem sich",
        "fr": "le la les des est et une dans pour que du qui pas sur au avec",
        "es": "el los las que y por una para con del se es como más su al",
        "it": "il di che è della per una gli con non sono del nel alla dei le",
        "pt": "o que não uma para os com por dos da do em as é ao são",
        "nl": "de het een van en dat niet met voor zijn op wordt deze aan ook bij",
        "sv": "och att det som är på för med inte den av till ett om har kan",
        "pl": "i w na nie że się do jest z o jak dla oraz przez po od",
        "ru": "и в не на что с по для это как из от или при его но",
        "uk": "і в не на що з для це як та від або при його але є",
    }
)
_BY_WORD: dict[str, list[str]] = {}
for _language, _words in _WORDS.items():
    for _word in _words.split():
        _BY_WORD.setdefault(_word, []).append(_language)
_WORD = re.compile(r"[^\W\d_]+")


def guess_language(text: str) -> str | None:
    """ISO 639-1 code of the text's main language; None when neither script nor function words decide.

    Looks at the first 20,000 code points. A script that only one of these languages uses decides when it
    makes up most letters; kana make a text Japanese even where ideographs prevail.
    """
    sample = text[:_SAMPLE]
    letters = sum(map(str.isalpha, sample))
    if not letters:
        return None
    counts = {language: len(pattern.findall(sample)) for language, pattern in _SCRIPTS}
    if counts["ja"] + counts["zh"] > 0.3 * letters:
        return "ja" if counts["ja"] > 0.1 * (counts["ja"] + counts["zh"]) else "zh"
    for language in ("ko", "el", "he", "th"):
        if counts[language] > 0.3 * letters:
            return language
    hits = dict.fromkeys(_WORDS, 0)
    words = _WORD.findall(sample.lower())
    for word in words:
        for language in _BY_WORD.get(word, ()):
            hits[language] += 1
    first, second = sorted(hits, key=lambda language: -hits[language])[:2]
    enough = hits[first] >= _LEAST_WORDS and hits[first] >= 0.05 * len(words)
    return first if enough and hits[first] > 1.3 * hits[second] else None
