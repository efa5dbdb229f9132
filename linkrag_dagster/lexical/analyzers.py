"""Analyzers: text in, terms out (BM-02).

| name | what it gives |
| --- | --- |
| `reference` | `[a-z0-9]+` of the lower-cased text: the seed's, for comparison with reference figures |
| `default` | words of every script, codes and identifiers; Latin script is stemmed as English |
| `default-german`, … | the same, Latin script stemmed as that language |

What `default` does, in order: NFKC, accents folded (`normal_form`); runs of Chinese, Japanese and Korean as
overlapping pairs of characters, a lone character as itself; every other word case-folded, without stop words,
stemmed by Snowball. A compound is a term as a whole, unstemmed, and in its parts: `max_tokens`, `os.path`,
`RecordBatch`, `R-17`. A part of one character is no term, nor is one of digits unless an underscore sets it
apart: `R-17`, `3.14` and `2024-01-15` are found as a whole alone, `chapter_12` by its number too. Languages
go by script, never by a guess at the document, so that a query is always analysed as the documents were:
Latin script by the analyzer's language, Cyrillic as Russian, Greek as Greek, others unstemmed.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from typing import Protocol

# By class: `snowballstemmer.stemmer()` takes another library's stemmers where that happens to be installed.
from snowballstemmer.dutch_stemmer import DutchStemmer
from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.french_stemmer import FrenchStemmer
from snowballstemmer.german_stemmer import GermanStemmer
from snowballstemmer.greek_stemmer import GreekStemmer
from snowballstemmer.italian_stemmer import ItalianStemmer
from snowballstemmer.portuguese_stemmer import PortugueseStemmer
from snowballstemmer.russian_stemmer import RussianStemmer
from snowballstemmer.spanish_stemmer import SpanishStemmer

from linkrag_dagster.lexical.normal_form import normal_form
from linkrag_dagster.lexical.stop_words import STOP_WORDS, STOP_WORDS_VERSION
from linkrag_dagster.lexical.words import ASCII_WORDS, CJK_RUN, CONNECTORS, PLURAL_ACRONYM, WORDS, camel_parts

MAX_TERM = 80
"""Longest term, in code points: longer runs are encoded data, and only parts of them that fit are terms."""

_CACHED_WORDS = 1 << 18


class Analyzer(Protocol):
    """What turns a text, or a query, into terms."""

    @property
    def name(self) -> str:
        """Name that `load_analyzer` knows it by."""
        ...

    @property
    def version(self) -> str:
        """Raised by hand whenever the same text gives other terms."""
        ...

    @property
    def components(self) -> Mapping[str, str]:
        """What decides its terms, for the fingerprint: versions of itself, of libraries and of lists."""
        ...

    def tokens(self, text: str) -> list[str]:
        """Terms of one text, in order, repeats included."""
        ...

    def token_lists(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Terms of each text, in order: as `tokens`, but a distinct word is analysed once in the whole call."""
        ...


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # Snowball's own spelling


class UnknownAnalyzer(ValueError):
    """There is no analyzer of that name."""


@dataclass(frozen=True, slots=True)
class ReferenceAnalyzer:
    """The seed's: `[a-z0-9]+` of the lower-cased text. Source: `seeds/000`, `toks`."""

    name: str = "reference"
    version: str = "1"

    @property
    def components(self) -> Mapping[str, str]:
        """Its name and version."""
        return {"analyzer": f"{self.name} {self.version}"}

    def tokens(self, text: str) -> list[str]:
        """Terms of one text, in order, repeats included."""
        return _REFERENCE.findall(text.lower())

    def token_lists(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Terms of each text, in order."""
        return map(self.tokens, texts)


_REFERENCE = re.compile("[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class DefaultAnalyzer:
    """Words of every script, codes and identifiers: see the module's table.

    Attributes:
        language: what Latin script is stemmed as, by Snowball's name; its stop words are left out.
        version: raised by hand whenever the same text gives other terms.
    """

    language: str = "english"
    version: str = "1"

    @property
    def name(self) -> str:
        """`default`, or `default-` and the language where that is not English."""
        return "default" if self.language == "english" else f"default-{self.language}"

    @property
    def components(self) -> Mapping[str, str]:
        """Versions of the analyzer, the stemmers, the stop words and the Unicode tables."""
        return {
            "analyzer": f"{self.name} {self.version}",
            "snowballstemmer": installed_version("snowballstemmer"),
            "stop_words": STOP_WORDS_VERSION,
            "unicode": unicodedata.unidata_version,
        }

    def tokens(self, text: str) -> list[str]:
        """Terms of one text, in order, repeats included."""
        return next(self.token_lists((text,)))

    def token_lists(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Terms of each text, in order; each distinct word is analysed once in the whole call."""
        lexicon = _Lexicon(self.language)
        for text in texts:
            plain = normal_form(text)
            yield lexicon.terms_ascii(plain) if plain.isascii() else lexicon.terms(plain)


class _Lexicon:
    """Terms of words met in one call, kept while it lasts: stemmers hold state, threads may not share them."""

    __slots__ = ("_known", "_language", "_stemmers")

    def __init__(self, language: str) -> None:
        self._language = language
        self._known: dict[str, tuple[str, ...]] = {}
        self._stemmers: dict[str, _Stemmer] = {}

    def terms_ascii(self, text: str) -> list[str]:
        found: list[str] = []
        known = self._known
        for surface in ASCII_WORDS.findall(text):
            terms = known.get(surface)
            found += self._learn(surface) if terms is None else terms
        return found

    def terms(self, text: str) -> list[str]:
        found: list[str] = []
        known = self._known
        for surface in WORDS.findall(text):
            terms = known.get(surface)
            if terms is not None:
                found += terms
            elif CJK_RUN.match(surface):
                # Runs are as many as sentences: not worth keeping.
                found += [surface[i : i + 2] for i in range(len(surface) - 1)] or [surface]
            else:
                found += self._learn(surface)
        return found

    def _learn(self, surface: str) -> tuple[str, ...]:
        if len(self._known) >= _CACHED_WORDS:
            self._known.clear()
        terms = self._known[surface] = tuple(self._analyse(surface))
        return terms

    def _analyse(self, surface: str) -> Iterator[str]:
        if "," in surface:
            yield surface.replace(",", "")
        elif surface[-1] in "+#":
            yield surface.casefold()
        elif "'" in surface:
            for part in _without_contraction(surface).split("'"):
                yield from self._parts(part, digits=False)
        elif len(surface) == 1 or surface.isdecimal():
            yield from self._word(surface)
        else:
            yield from self._parts(surface, digits=False)

    def _parts(self, piece: str, *, digits: bool) -> Iterator[str]:
        """The piece as a whole, where it is a compound, and its parts; digits alone only where `digits`."""
        joint = next((j for j in JOINTS if j in piece), None)
        if joint is not None:
            yield from _fitting(piece.casefold())
            if not CONNECTORS.sub("", piece).isdecimal():
                for part in filter(None, piece.split(joint)):
                    yield from self._parts(part, digits=joint == "_")
        elif len(piece) > 1 and (digits or not piece.isdecimal()):
            yield from self._word(piece)
            humps = camel_parts(piece)
            if len(humps) > 1:
                for hump in humps:
                    if len(hump) > 1:
                        yield from self._word(hump)

    def _word(self, word: str) -> Iterator[str]:
        # PDFs → PDF: without a vowel before it, Snowball takes the s for a part of the word.
        folded = (word[:-1] if PLURAL_ACRONYM.fullmatch(word) else word).casefold()
        language = _language_of(folded, self._language)
        if language is None or not folded.isalpha():
            yield from _fitting(folded)
        elif folded not in STOP_WORDS[language]:
            yield from _fitting(self._stem(folded, language))

    def _stem(self, word: str, language: str) -> str:
        if len(word) > MAX_TERM:
            return word
        stemmer = self._stemmers.get(language)
        if stemmer is None:
            stemmer = self._stemmers[language] = _STEMMERS[language]()
        # A stemmer may leave nothing of a short word.
        return stemmer.stemWord(word) or word


JOINTS = (".", "-", "_")
"""What joins a compound, the loosest first: `report-2024.pdf` is `report-2024` and `pdf`."""

_CONTRACTION = re.compile("'(?:s|re|ll|ve|d|m)$", re.IGNORECASE)
_NEGATION = re.compile("[A-Za-z]+n't", re.IGNORECASE)


def _without_contraction(surface: str) -> str:
    """`user's` → `user`; `don't` → nothing: what is denied so is an auxiliary."""
    return "" if _NEGATION.fullmatch(surface) else _CONTRACTION.sub("", surface)


def _fitting(term: str) -> tuple[str, ...]:
    return (term,) if len(term) <= MAX_TERM else ()


def _language_of(word: str, latin: str) -> str | None:
    """Language that a word is stemmed as, by the script of its first letter; None where it is not stemmed."""
    first = word[0]
    if first < "\u0250" or "\u1e00" <= first <= "\u1eff":
        return latin
    if "\u0370" <= first <= "\u03ff":
        return "greek"
    if "\u0400" <= first <= "\u04ff":
        return "russian"
    return None


_STEMMERS: dict[str, Callable[[], _Stemmer]] = {
    "dutch": DutchStemmer,
    "english": EnglishStemmer,
    "french": FrenchStemmer,
    "german": GermanStemmer,
    "greek": GreekStemmer,
    "italian": ItalianStemmer,
    "portuguese": PortugueseStemmer,
    "russian": RussianStemmer,
    "spanish": SpanishStemmer,
}

_ANALYZERS: dict[str, Analyzer] = {
    analyzer.name: analyzer
    for analyzer in (
        ReferenceAnalyzer(),
        DefaultAnalyzer(),
        *(
            DefaultAnalyzer(language)
            for language in ("dutch", "french", "german", "italian", "portuguese", "spanish")
        ),
    )
}

ANALYZERS: tuple[str, ...] = tuple(_ANALYZERS)
"""Names that `load_analyzer` knows."""


def load_analyzer(name: str) -> Analyzer:
    """The analyzer of a name.

    Raises:
        UnknownAnalyzer: no analyzer has that name; the message names the nearest, and all.
    """
    if name in _ANALYZERS:
        return _ANALYZERS[name]
    near = difflib.get_close_matches(name, ANALYZERS, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise UnknownAnalyzer(f"unknown analyzer {name!r}: {hint}known are {', '.join(ANALYZERS)}")
